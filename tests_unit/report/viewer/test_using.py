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
    wait_for(page, "place => document.querySelector('.v-nav .fine').textContent.startsWith(place)", place)


def _rows(page: Any) -> list[str]:
    labels: list[str] = page.eval_on_selector_all("#v-rows [role=option]", "rows => rows.map(r => r.ariaLabel)")
    return labels


def test_it_opens_on_a_flip_of_the_first_two_arms(opened: Opened) -> None:
    page = opened()
    assert (page.input_value("#v-a"), page.input_value("#v-b")) == ("0", "1")
    assert _count(page, "flip") == 4
    assert page.inner_text(".v-cause").startswith("Flip: ")
    assert _rows(page)[0] == f"{_title(page)}: one wrong, two right"
    assert page.url.endswith("#samples")


def test_chips_choose_samples_and_count_them(opened: Opened) -> None:
    page = opened()
    assert _count(page, "lost") + _count(page, "gained") == _count(page, "flip")
    _choose(page, "gained")
    assert [row.partition(": ")[2] for row in _rows(page)] == ["one right, two wrong"]
    assert page.inner_text("#v-status").startswith("1 sample: ")
    assert page.get_attribute('[data-is="gained"]', "aria-pressed") == "true"
    assert page.evaluate("document.activeElement.dataset.is") == "gained"


def test_swapping_arms_turns_lost_into_gained(opened: Opened) -> None:
    page = opened()
    lost, gained = _count(page, "lost"), _count(page, "gained")
    page.click("#v-swap")
    assert (_count(page, "lost"), _count(page, "gained")) == (gained, lost)
    assert lost != gained


def test_another_pair_has_its_own_flips_errors_and_cuts(opened: Opened) -> None:
    page = opened()
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
    ("link", "said"),
    [
        ("#samples/toy/nobody", "No sample “nobody” on Toy"),
        ("#samples/nothing/x", "No track “nothing” in this run"),
        ("#samples/toy/%E0%A4%A?a=%&b&=&is=nonsense&group=x&cause=y&__proto__=z", "No sample “%E0%A4%A” on Toy"),
    ],
)
def test_a_link_that_leads_nowhere_says_so_and_shows_the_list(opened: Opened, link: str, said: str) -> None:
    page = opened(link)
    assert page.inner_text("#v-status").startswith(said)
    assert _count(page, "all") == 120


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
    page = opened(f"#samples/toy/toy-words-{number:03}")
    assert page.locator("#v-card pre").filter(has_text=re.compile(r"\S")).nth(1).text_content() == shown
    assert page.locator("#v-card script, #v-card pre img").count() == 0
    assert "taken" not in page.title()


def test_a_long_output_is_cut_and_shown_whole_on_demand(opened: Opened) -> None:
    page = opened("#samples/toy/toy-words-003")
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
    page = opened("#samples/toy/toy-boxes-000")
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
