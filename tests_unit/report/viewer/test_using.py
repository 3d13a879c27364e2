"""The viewer in a browser: filters, search, keys, links, and outputs that try to be more than text."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests_unit.report.viewer.conftest import HOSTILE, Opened, wait_for

pytestmark = pytest.mark.browser


def _count(page: Any, kind: str) -> int:
    return int(page.inner_text(f'#v-chips [data-is="{kind}"] b'))


def _choose(page: Any, kind: str) -> None:
    page.click(f'#v-chips [data-is="{kind}"]')


def _title(page: Any) -> str:
    text: str = page.inner_text("#v-title")
    return text


def _place(page: Any, place: str) -> None:
    wait_for(page, "place => document.querySelector('.v-nav .fine')?.textContent.startsWith(place)", place)


def _rows(page: Any) -> list[str]:
    labels: list[str] = page.eval_on_selector_all("#v-rows [role=option]", "rows => rows.map(r => r.ariaLabel)")
    return labels


def test_it_opens_on_the_first_row_of_the_differences_and_reads_it_the_same_way_round(opened: Opened) -> None:
    page = opened()
    names = page.inner_text("#difference-toy ~ .forest tbody tr:nth-child(2) .names")
    lost, gained = page.inner_text("#difference-toy ~ .forest tbody tr:nth-child(2) .lost").split(" / ")
    first, second = (page.inner_text(f"#v-{side} option:checked") for side in ("a", "b"))
    assert f"{first} vs {second}" == names == "two vs one"
    assert (_count(page, "lost"), _count(page, "gained")) == (int(lost), int(gained)) == (1, 3)


def test_it_opens_on_a_flip(opened: Opened) -> None:
    page = opened()
    assert _count(page, "flip") == 4
    assert page.inner_text(".v-cause").startswith("Flip: ")
    assert _rows(page)[0] == f"{_title(page)}: two wrong, one right"
    assert page.url.endswith("#samples")


def test_a_track_without_its_pair_opens_with_an_arm_that_tried_it(opened: Opened) -> None:
    page = opened("#samples/text%2Fonly")
    assert (page.input_value("#v-a"), page.input_value("#v-b")) == ("0", "-1")


def test_chosen_arms_stay_when_the_track_changes_if_they_tried_it(opened: Opened) -> None:
    page = opened("#samples/toy?a=one&b=")
    page.select_option("#v-track", "text/only")
    wait_for(page, "document.querySelector('#v-title').textContent.startsWith('plain')")
    assert (page.input_value("#v-a"), page.input_value("#v-b")) == ("0", "-1")
    page.select_option("#v-track", "toy")
    wait_for(page, "document.querySelector('#v-title').textContent.startsWith('toy')")
    assert (page.input_value("#v-a"), page.input_value("#v-b")) == ("0", "-1")


def test_chips_choose_samples_and_count_them(opened: Opened) -> None:
    page = opened()
    assert _count(page, "lost") + _count(page, "gained") == _count(page, "flip")
    _choose(page, "gained")
    assert [row.partition(": ")[2] for row in _rows(page)] == ["two right, one wrong"] * 3
    assert page.inner_text("#v-status").startswith("3 samples: ")
    assert page.get_attribute('[data-is="gained"]', "aria-pressed") == "true"
    assert page.evaluate("document.activeElement.dataset.is") == "gained"


def test_swapping_arms_turns_lost_into_gained(opened: Opened) -> None:
    page = opened()
    lost, gained = _count(page, "lost"), _count(page, "gained")
    page.click("#v-swap")
    assert (_count(page, "lost"), _count(page, "gained")) == (gained, lost)
    assert lost != gained


def test_another_pair_has_its_own_flips_errors_and_cuts(opened: Opened) -> None:
    page = opened("#samples/toy?a=one&b=two")
    page.select_option("#v-b", "2")
    assert (_count(page, "error"), _count(page, "truncated"), _count(page, "none")) == (1, 1, 20)
    _choose(page, "error")
    card = page.inner_text("#v-card")
    assert "BackendDied: <b>the runtime</b> died" in card
    assert "Flip: error" in card
    page.select_option("#v-b", "-1")
    assert page.locator('#v-chips [data-is="flip"]').count() == 0


def test_group_and_cause_narrow_what_is_shown(opened: Opened) -> None:
    page = opened()
    page.select_option("#v-group", "family:words")
    assert all("words" in row for row in _rows(page))
    assert _count(page, "all") == 40
    page.select_option("#v-cause", "text differs")
    assert page.get_attribute('[data-is="flip"]', "aria-pressed") == "true"
    assert 0 < _count(page, "all") < 6


def test_search_reads_outputs_of_all_pages(opened: Opened) -> None:
    page = opened()
    page.fill("#v-q", "NEEDLE YY")
    wait_for(page, "document.querySelector('#v-status').textContent.includes('found')")
    assert [row.partition(":")[0] for row in _rows(page)] == ["toy-words-003"]
    page.fill("#v-q", "toy-boxes-01")
    wait_for(page, "document.querySelectorAll('#v-rows [role=option]').length === 10")
    page.press("#v-q", "Escape")
    wait_for(page, "document.querySelector('#v-q').value === ''")
    assert _count(page, "all") == 120
    page.fill("#v-q", "stands nowhere")
    page.wait_for_selector("#v-card .missing")
    assert "No samples" in page.inner_text("#v-status")


def test_keys_move_and_help_and_leave_fields_alone(opened: Opened) -> None:
    page = opened("#samples/toy")
    first = _title(page)
    page.keyboard.press("j")
    _place(page, "2 of 120")
    assert _title(page) != first
    page.keyboard.press("k")
    _place(page, "1 of 120")
    assert _title(page) == first
    page.keyboard.press("End")
    _place(page, "120 of 120")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "v-card"
    page.keyboard.press("k")
    _place(page, "119 of 120")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "v-list"
    page.keyboard.press("/")
    page.keyboard.type("jf?")
    assert page.input_value("#v-q") == "jf?"
    assert not page.is_visible("#v-dialog")


def test_help_opens_closes_and_switches_keys_off(opened: Opened) -> None:
    page = opened("#samples/toy")
    page.keyboard.press("?")
    assert page.is_visible("#v-dialog")
    page.uncheck("#v-keys-on")
    page.keyboard.press("Escape")
    assert not page.is_visible("#v-dialog")
    page.focus("#v-list")
    page.keyboard.press("f")
    assert page.get_attribute('[data-is="all"]', "aria-pressed") == "true"
    page.keyboard.press("ArrowDown")
    _place(page, "2 of 120")


def test_the_next_button_keeps_the_focus(opened: Opened) -> None:
    page = opened()
    page.click("text=Next →")
    _place(page, "2 of 120")
    assert page.evaluate("document.activeElement.textContent") == "Next →"
    assert page.inner_text("#v-said").startswith("2 of 120: ")


def test_a_link_opens_its_sample_with_its_filters(opened: Opened) -> None:
    page = opened("#samples/toy/toy-boxes-012?a=two&b=three&is=wrong&group=family%3Aboxes")
    assert _title(page) == "toy-boxes-012"
    assert (page.input_value("#v-a"), page.input_value("#v-b")) == ("1", "2")
    assert page.input_value("#v-group") == "family:boxes"
    assert page.get_attribute('[data-is="wrong"]', "aria-pressed") == "true"
    link = page.get_attribute(".v-link", "href")
    assert link == "#samples/toy/toy-boxes-012?a=two&b=three&is=wrong&group=family%3Aboxes"
    again = opened(link)
    assert _title(again) == "toy-boxes-012"


def test_a_link_may_hold_any_character(opened: Opened) -> None:
    page = opened("#samples/text%2Fonly/plain%201%25%3F%26%23")
    assert _title(page) == "plain 1%?&#"
    assert page.locator("#v-card img").count() == 0
    assert "kind <i>plain</i>" in page.inner_text("#v-card")
    assert page.get_attribute(".v-link", "href").startswith("#samples/text%2Fonly/plain%201%25%3F%26%23?")


@pytest.mark.parametrize(
    ("link", "said", "there"),
    [
        ("#samples/toy/nobody", "No sample “nobody” on Toy.", "Its 120 samples, from toy-boxes-000 to toy-words-039"),
        ("#samples/toy/Boxes-012", "No sample “Boxes-012” on Toy.", "Most like it:\n\ntoy-boxes-012"),
        (
            "#samples/toy/toy-boxes-9",
            "No sample “toy-boxes-9” on Toy.",
            "Most like it:\n\ntoy-boxes-000\ntoy-boxes-001",
        ),
        ("#samples/toy/nobody?q=hello", "No sample “nobody” on Toy.", "Its 120 samples"),
        ("#samples/nothing/toy-boxes-000", "No track “nothing” in this run.", "This run has 2 tracks:\n\nToy (120)"),
        (
            "#samples/toy/%E0%A4%A?a=%&b&=&is=nonsense&group=x&cause=y&__proto__=z",
            "No sample “%E0%A4%A” on Toy.",
            "Its 120 samples",
        ),
    ],
)
def test_a_link_that_leads_nowhere_says_so_and_what_there_is(opened: Opened, link: str, said: str, there: str) -> None:
    page = opened(link)
    assert page.inner_text("#v-status").startswith(said)
    assert _title(page) == said
    assert there in page.inner_text("#v-card")
    if "q=" in link:
        wait_for(page, "document.querySelector('#v-status').textContent.includes('found')")
    assert page.locator("#v-rows [aria-selected=true]").count() == 0
    assert _title(page) == said
    page.focus("#v-list")
    page.keyboard.press("j")
    _place(page, "1 of ")


def test_what_is_offered_in_its_place_opens(opened: Opened) -> None:
    page = opened("#samples/toy/boxes-012")
    page.click("text=toy-boxes-012 >> visible=true")
    wait_for(page, "document.querySelector('#v-title').textContent === 'toy-boxes-012'")
    assert "#samples/toy/toy-boxes-012" in page.url
    page = opened("#samples/nothing/x")
    page.click("#v-card >> text=text/only (2)")
    wait_for(page, "document.querySelector('#v-title').textContent.startsWith('plain')")
    assert _count(page, "all") == 2


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("a=nobody", "No arm “nobody” in this run."),
        ("b=nobody", "No arm “nobody” in this run."),
        ("group=family%3Anone", "No group “family:none” in this run."),
        ("cause=magic", "No cause “magic” in this run."),
        ("is=nonsense", "No kind of sample “nonsense” in this run."),
    ],
)
def test_a_filter_that_is_not_there_is_told_and_the_sample_still_opens(opened: Opened, part: str, said: str) -> None:
    page = opened(f"#samples/toy/toy-boxes-012?{part}")
    assert page.inner_text("#v-status").startswith(said)
    assert _title(page) == "toy-boxes-012"
    assert _count(page, "all") == 120


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("link", ["#samples", "#samples/toy", "#samples/toy/toy-boxes-012"])
def test_a_link_leads_to_its_place_at_once_and_stays_there(opened: Opened, link: str, width: int) -> None:
    page = opened(link, viewport={"width": width, "height": 900})
    is_card = width == 390 and "boxes" in link
    name = "#v-card" if is_card else "#viewer" if "/" in link else "#samples"
    top = f"Math.round(document.querySelector('{name}').getBoundingClientRect().top)"
    found = page.evaluate(top)
    assert 0 <= found <= 60
    page.wait_for_selector("#v-card .v-text")
    page.wait_for_timeout(400)  # for what would still move: pictures, a smooth scroll
    assert page.evaluate(top) == found


def test_links_followed_in_the_page_go_back_and_forward(opened: Opened) -> None:
    page = opened("#samples/toy/toy-boxes-012")
    page.evaluate("location.hash = '#samples/toy/toy-boxes-013'")
    wait_for(page, "document.querySelector('#v-title').textContent === 'toy-boxes-013'")
    page.go_back()
    wait_for(page, "document.querySelector('#v-title').textContent === 'toy-boxes-012'")
    page.evaluate("location.hash = '#verdicts'")
    assert _title(page) == "toy-boxes-012"


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, HOSTILE[0]),
        (1, "`code` | pipe | </script> ⟨U+2028⟩ end"),
        (2, "a␀b⟨U+202E⟩gnp.exe ⟨U+D800⟩"),
    ],
)
def test_hostile_output_is_shown_as_text(opened: Opened, number: int, shown: str) -> None:
    page = opened(f"#samples/toy/toy-words-{number:03}?a=one&b=two")
    assert page.locator("#v-card pre").filter(has_text=re.compile(r"\S")).nth(1).text_content() == shown
    assert page.locator("#v-card script, #v-card pre img").count() == 0
    assert "taken" not in page.title()


def test_a_long_output_is_cut_and_shown_whole_on_demand(opened: Opened) -> None:
    page = opened("#samples/toy/toy-words-003?a=one&b=two")
    output = page.locator("#v-card .answer pre").first
    assert len(output.text_content()) < 5000
    page.click("text=Show all 100\u202f012 characters")
    assert len(output.text_content()) == len(HOSTILE[3])
    assert output.text_content().endswith("last")


def test_the_prompt_is_the_one_that_was_sent(opened: Opened) -> None:
    page = opened("#samples/toy/toy-words-010")
    page.keyboard.press("p")
    assert page.inner_text('[data-fold="prompt"] h4') == "user"
    assert page.inner_text('[data-fold="prompt"] pre').split("\n") == ["image 1", "What does it say?"]


def test_the_answer_is_marked_in_the_output(opened: Opened) -> None:
    page = opened("#samples/toy/toy-words-010")
    assert page.locator("#v-card .answer mark").all_text_contents()[0] == "hello"


def test_where_two_outputs_part_is_marked(opened: Opened) -> None:
    page = opened("#samples/toy/toy-choices-002?a=one&b=two")
    page.keyboard.press("d")
    page.wait_for_selector(".v-parts")
    assert page.locator(".v-parts").all_text_contents() == ["B", "A"]


def test_target_and_answers_are_drawn_and_can_be_hidden(opened: Opened) -> None:
    page = opened("#samples/toy/toy-boxes-000?a=one&b=two")
    kinds = "[...document.querySelectorAll('.overlay .edge')].map(e => e.getAttribute('class').split(' ')[1])"
    marks = "[...document.querySelectorAll('.overlay .edge')].map(e => e.getAttribute('class'))"
    page.wait_for_selector(".overlay .edge", state="attached")
    assert page.evaluate(kinds) == ["target", "said", "said", "said"]
    assert page.evaluate(marks)[1:] == ["edge said mlx dash0", "edge said gguf dash1", "edge said coreai dash2"]
    page.keyboard.press("2")
    wait_for(page, "document.querySelectorAll('.overlay .edge').length === 3")
    page.uncheck('[data-spot="target"]')
    wait_for(page, "document.querySelectorAll('.overlay .edge').length === 2")
    box, image = page.locator(".overlay").bounding_box(), page.locator("#v-card img").bounding_box()
    assert box == pytest.approx(image)
    page.keyboard.press("z")
    wait_for(page, "document.querySelector('.v-stage').clientWidth === 96")


def test_only_rows_in_sight_stand_in_the_document(opened: Opened) -> None:
    page = opened("#samples/toy")
    assert 10 < page.locator("#v-rows [role=option]").count() < 60
    assert page.get_attribute("#v-rows [role=option]", "aria-setsize") == "120"
    page.keyboard.press("End")
    _place(page, "120 of 120")
    active = page.get_attribute("#v-list", "aria-activedescendant")
    assert page.get_attribute(f"#{active}", "aria-posinset") == "120"


def test_a_run_that_was_moved_without_its_data_keeps_pictures(opened: Opened, report: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / "run"
    shutil.copytree(report.parent, moved)
    page = opened("#samples/toy/toy-boxes-000", path=moved / "report.html", quiet=False)
    wait_for(page, "document.querySelector('#v-card img').naturalWidth === 96")
    page.click("text=Load the original")
    wait_for(page, "document.querySelector('#v-card figcaption').textContent.includes('image not found at')")
    assert page.evaluate("document.querySelector('#v-card img').naturalWidth") == 96


def test_without_copies_the_files_are_shown_and_without_both_it_is_said(
    opened: Opened, report: Path, tmp_path: Path
) -> None:
    shutil.copytree(report.parents[2], tmp_path / "root")
    path = tmp_path / "root" / report.relative_to(report.parents[2])
    shutil.rmtree(path.parent / "samples" / "thumbnails")
    page = opened("#samples/toy/toy-boxes-000", path=path, quiet=False)
    wait_for(page, "document.querySelector('#v-card img').dataset.is === 'file'")
    wait_for(page, "document.querySelector('#v-card img').naturalWidth === 96")
    shutil.rmtree(tmp_path / "root" / "data")
    page = opened("#samples/toy/toy-boxes-003", path=path, quiet=False)
    page.wait_for_selector("#v-card .missing")
    assert page.inner_text("#v-card .missing") == "image not found at ../../data/toy/images/003.png"
    assert "Where is the rectangle?" in page.inner_text("#v-card")


def test_a_missing_page_file_is_named_and_the_rest_works(opened: Opened, report: Path, tmp_path: Path) -> None:
    moved = tmp_path / "run"
    shutil.copytree(report.parent, moved)
    (moved / "samples" / "toy" / "page-000.js").unlink()
    page = opened("#samples/toy/toy-boxes-000", path=moved / "report.html", quiet=False)
    assert "samples/toy/page-000.js is missing next to this file" in page.inner_text("#v-card .missing")
    page.evaluate("location.hash = '#samples/toy/toy-words-030'")
    page.wait_for_selector("#v-card .answer")


def test_the_page_alone_shows_a_few_samples_and_says_what_is_missing(
    opened: Opened, report: Path, tmp_path: Path
) -> None:
    shutil.copy(report, tmp_path / "report.html")
    page = opened(path=tmp_path / "report.html", quiet=False)
    assert "samples/index.js is missing next to this file" in page.inner_text("#v-status")
    assert page.is_visible("#samples-static article")
    assert not page.is_visible("#v-list")


def test_without_scripts_a_few_samples_are_shown(browser: Any, report: Path) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(report.as_uri())
    assert page.is_visible("#samples-static article")
    assert not page.is_visible("#viewer")
    page.close()


def test_nothing_leaves_the_folder(browser: Any, report: Path) -> None:
    page = browser.new_page()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report.as_uri() + "#samples/toy/toy-boxes-000")
    page.wait_for_selector("#v-title")
    wait_for(page, "document.querySelector('#v-card img').naturalWidth > 0")
    page.close()
    outside = [url for url in requests if not url.startswith((report.parent.as_uri() + "/", "data:"))]
    assert outside == []
    assert any("/samples/toy/page-" in url for url in requests)


def test_boxes_in_one_place_are_told_in_one_line(opened: Opened) -> None:
    page = opened("#samples/toy/toy-boxes-000?a=one&b=two")
    lines = page.inner_text(".v-pictures ul").split("\n")
    assert lines == ["target: x 4 to 28, y 4 to 20 px", "one, two, three: x 18 to 42, y 14 to 30 px"]


def test_a_mark_that_is_only_a_line_is_seen_on_the_card(opened: Opened) -> None:
    page = opened()
    stroke = """kind => { const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
      const g = document.createElementNS('http://www.w3.org/2000/svg', 'g');
      g.setAttribute('class', 'shape ' + kind); svg.append(g); document.querySelector('#v-card').append(svg);
      return [getComputedStyle(g).stroke, getComputedStyle(document.querySelector('#v-card')).color]; }"""
    for kind in ("ring", "cross"):
        seen, ink = page.evaluate(stroke, kind)
        assert seen == ink


OVERLAPS = """() => {
  const box = e => e.getBoundingClientRect(), tags = [...document.querySelectorAll(".v-tag")];
  const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const boxes = [...document.querySelectorAll(".overlay .edge")];
  return [tags.length, tags.flatMap((tag, i) => [...boxes, ...tags.slice(i + 1)]
    .filter(other => meets(box(tag), box(other))).map(() => tag.textContent))];
}"""


@pytest.mark.parametrize("width", [390, 1400])
def test_no_label_covers_a_box_or_another_label(opened: Opened, width: int) -> None:
    for number in (0, 6, 12, 18):
        page = opened(f"#samples/toy/toy-boxes-{number:03}", viewport={"width": width, "height": 900})
        page.wait_for_selector(".overlay .edge", state="attached")
        assert page.evaluate(OVERLAPS) == [3, []]


def _labels(page: Any, hidden: list[list[float]], area: list[int]) -> Any:
    ask = """([hidden, area]) => bakeoffViewer.labels(
      hidden.map(box => ({ wide: 60, high: 18, box, isBelowFirst: false })), hidden, area)"""
    return page.evaluate(ask, [hidden, area])


def test_a_label_stands_by_its_box_or_below_the_picture_when_the_box_fills_it(opened: Opened) -> None:
    page = opened()
    near = _labels(page, [[100, 100, 50, 50]], [320, 240])
    assert near == {"places": [[100, 77, None]], "below": 0}
    full = _labels(page, [[0, 0, 320, 240]], [320, 240])
    ((x, y, _),) = full["places"]
    assert (x, y, full["below"]) == (0, 245, 23)


def test_labels_of_boxes_in_one_place_do_not_meet_and_no_line_runs_through_one(opened: Opened) -> None:
    page = opened()
    found = _labels(page, [[150, 110, 20, 20]] * 6, [320, 240])["places"]
    for i, (x, y, _) in enumerate(found):
        for other_x, other_y, _ in found[i + 1 :]:
            assert abs(x - other_x) >= 60 or abs(y - other_y) >= 18
    for _, _, line in found:
        for x, y, _ in found if line else ():
            middle = (line[0] + line[2]) / 2, (line[1] + line[3]) / 2
            assert not (x < middle[0] < x + 60 and y < middle[1] < y + 18)
