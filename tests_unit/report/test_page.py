"""The page in a browser: fits, can be read in both themes, asks nothing of a network. Skipped without Chromium."""

import html
import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.records import Record, Session
from bakeoff.report import build
from bakeoff.report.page import breakable
from bakeoff.tracks import TRACKS, Published
from bakeoff.tracks.calibration import scorer_of
from bakeoff.tracks.track import Protocol, images_then_text
from bakeoff.validity.audit import Audit, write_audit
from bakeoff.validity.controls import CONTROLS, Controls, TrackControl, write_controls
from bakeoff.validity.probes import ClassAgreement, Probe, write_probe
from tests_unit.report.synthetic import TRACK, RunMaker, add_toy_track, answers_to, failed

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
Axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe

HOSTILE = "`|<b><i>x</i></b><img src=x onerror=stolen=1><script>stolen=1</script>\x00\u202e"

Answered = Callable[..., list[Record]]
WIDTHS = (320, 390, 700, 861, 1024, 1400)

CONTRAST = """() => {
  const parse = text => {
    const found = text.match(/[\\d.]+/g).map(Number);
    return found.length === 3 ? [...found, 1] : found;
  };
  const over = (top, under) => [0, 1, 2].map(i => top[i] * top[3] + under[i] * (1 - top[3]));
  const light = rgb => rgb.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = node => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const bad = [];
  let count = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const at = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
    const box = at.getBoundingClientRect(), style = getComputedStyle(at);
    if (!text || !box.width || !box.height || at.closest(".unseen, .skip, script, style, defs")) continue;
    const under = ground(at);
    const ink = over(parse(at.closest("svg") ? style.fill : style.color), under);
    const [a, b] = [light(ink), light(under)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05), size = parseFloat(style.fontSize);
    count += 1;
    if (ratio < 4.5 || size < 12) bad.push([text.slice(0, 40), ratio.toFixed(2), size]);
  }
  return [count, bad];
}"""

TARGETS = """() => [...document.querySelectorAll("button, .contents a, summary")]
  .map(e => [e.textContent, e.getBoundingClientRect()]).filter(([, r]) => r.width && (r.height < 24 || r.width < 24))
  .map(([text]) => text)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium found; install one with: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Six arms with every awkward state: partial, cut off, errors, no journal, a name without a break.

    With a ladder of bits, a published value, a constant answer, controls, an audit and agreements.
    """
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        samples = add_toy_track(folder / "data", patch)
        yield _build(RunMaker(folder / "reports" / "run", samples), answers_to(samples), patch)


def _build(maker: RunMaker, answered: Answered, patch: pytest.MonkeyPatch) -> Path:
    protocol = Protocol(name="default", render=images_then_text, max_tokens=64, scorer=scorer_of)
    value = Published(
        metric="accuracy", value=0.8, model="Toy-3B", protocol="not published", source="s", date="2026-08-17"
    )
    track = msgspec.structs.replace(TRACKS[TRACK], protocols=(protocol,), constants=(HOSTILE,), published=(value,))
    patch.setitem(TRACKS, TRACK, track)
    start = Session(event="start", at="2026-11-30T08:59:00+00:00", loaded_s=2.5)
    cut = [msgspec.structs.replace(r, status="truncated") if i < 6 else r for i, r in enumerate(answered())]
    maker.arm("tiny-bf16", [start, *answered(lambda i: i % 6 == 0)])
    maker.arm("tiny-4bit", answered(lambda i: i % 3 == 0))
    maker.arm("tiny-gguf-bf16", answered(lambda i: i % 6 == 0 or i == 7), backend="gguf")
    maker.arm("AnArmNameWithoutAnyPlaceToBreakTheLine" * 2, cut, backend="gguf")
    maker.arm("coreai", [*answered()[:50], *(failed(s, "x" * 300) for s in maker.samples[50:60])], backend="coreai")
    maker.arm("server", None, backend="openai")
    for arm, bits in (("tiny-bf16", 16.0), ("tiny-4bit", 4.5)):
        maker.describe(arm, bits_per_weight=bits, parameters=3_000_000_000)
    run = maker.write(margin=2.0, temperature=-1)
    control = TrackControl(
        n=24,
        score=0.8,
        controls=dict.fromkeys(CONTROLS, 0.2),
        unmoved=dict.fromkeys(CONTROLS, 0.1),
        lift=0.6,
        error=0.1,
    )
    write_controls(run, Controls(arm="tiny-bf16", tracks={TRACK: control}))
    write_audit(run, Audit(arm="tiny-bf16", n=24, concurrency=4, flips=1, flipped=(HOSTILE,)))
    seen = ClassAgreement(
        size="tiled, odd ratio", continuations=4, tokens=40, same_top=39, tops=40, delta=0.2, worst=0.3, kl=0.01
    )
    write_probe(
        run, Probe(arm="tiny-bf16", model="m", backend="mlx", agreements={"reference": (seen,), HOSTILE: (seen,)})
    )
    (run.path / "gates.json").write_text(
        '[{"gate": "--max-errors 0", "outcome": "fail", "detail": "10 errors"}, '
        '{"gate": "--max-truncated 1", "outcome": "pass", "detail": "none"}]'
    )
    build(run)
    return run.path / "report.html"


def _serious(page: Any) -> list[tuple[str, str]]:
    """What axe-core calls serious or critical: the rule and the first element that breaks it.

    Contrast is left to `CONTRAST`, which looks at every text and takes a hundredth of the time.
    """
    options = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": False}}}
    found = Axe().run(page, options=options).response["violations"]
    return [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in {"serious", "critical"}]


def _open(browser: Any, path: Path, *, width: int = 1400, scheme: str = "light", scripts: bool = True) -> Any:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts)
    page.goto(path.as_uri())
    return page


@pytest.mark.browser
def test_page_opens_without_a_request_or_a_console_message(browser: Any, page_path: Path) -> None:
    page = browser.new_page()
    requests: list[str] = []
    messages: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(page_path.as_uri())
    assert [url for url in requests if not url.startswith("data:")] == [page_path.as_uri()]
    assert messages == []
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_page_does_not_scroll_sideways(browser: Any, page_path: Path, width: int) -> None:
    page = _open(browser, page_path, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TARGETS) == []
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(browser: Any, page_path: Path, width: int, scheme: str) -> None:
    page = _open(browser, page_path, width=width, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    count, bad = page.evaluate(CONTRAST)
    assert count > 200
    assert bad == []
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1400, "light")])
def test_axe_finds_no_serious_fault(browser: Any, page_path: Path, width: int, scheme: str) -> None:
    page = _open(browser, page_path, width=width, scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert _serious(page) == []
    page.evaluate("document.querySelector('h1').insertAdjacentHTML('afterend', '<img src=\"data:,\">')")
    assert [rule for rule, _ in _serious(page)] == ["image-alt"]  # the check can fail
    page.close()


@pytest.mark.browser
def test_page_shows_one_drawing_of_each_kind_for_the_width_and_all_of_it_in_print(
    browser: Any, page_path: Path
) -> None:
    for width, kind in ((1400, "broad"), (390, "slim")):
        page = _open(browser, page_path, width=width)
        shown = [kind for kind in ("broad", "slim") if page.locator(f"svg.plot.{kind}").first.is_visible()]
        assert shown == [kind]
        assert page.locator(f"svg.plot.{kind}").count() == 2
        page.emulate_media(media="print")
        assert page.locator("svg.plot.broad").first.is_visible()  # paper is wide in any window
        assert not page.locator("svg.plot.slim").first.is_visible()
        displays = "[...document.querySelectorAll('table.plain')].map(table => getComputedStyle(table).display)"
        assert set(page.evaluate(displays)) == {"table"}
        page.close()
    page = _open(browser, page_path)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("svg.plot.broad").first.is_visible()
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("scripts", [True, False])
def test_details_are_folded_in_a_narrow_window_alone_and_stand_in_print(
    browser: Any, page_path: Path, *, scripts: bool
) -> None:
    shown = """() => [...document.querySelectorAll(".on-phone:not([open])")]
      .map(fold => [fold.querySelector("summary"), fold.lastElementChild].map(e => e.checkVisibility({
        contentVisibilityAuto: true })))"""
    for width, expected in ((390, [True, False]), (1400, [False, True])):
        page = _open(browser, page_path, width=width, scripts=scripts)
        found = page.evaluate(shown)
        assert len(found) > 8
        assert found == [expected] * len(found)
        page.close()
    page = _open(browser, page_path, width=390, scripts=scripts)
    page.emulate_media(media="print")
    assert all(is_shown for _, is_shown in page.evaluate(shown))
    page.close()


@pytest.mark.browser
def test_a_narrow_page_keeps_the_order_of_its_sections_and_is_shorter_for_its_folds(
    browser: Any, page_path: Path
) -> None:
    order = "[...document.querySelectorAll('main > section')].map(e => e.id)"
    length = """[...document.querySelectorAll("main > section:not(#samples)")]
      .reduce((sum, section) => sum + section.offsetHeight, 0)"""
    page, wide = _open(browser, page_path, width=390), _open(browser, page_path)
    assert page.evaluate(order) == wide.evaluate(order)
    folded = page.evaluate(length)
    page.evaluate("document.querySelectorAll('.on-phone').forEach(fold => fold.open = true)")
    assert folded < 0.8 * page.evaluate(length)
    page.close()
    wide.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", [900, 1024, 1400])
def test_differences_fill_their_table_whatever_columns_are_left_out(browser: Any, page_path: Path, width: int) -> None:
    right = "name => document.querySelector(`#differences .forest ${name}`).getBoundingClientRect().right"
    page = _open(browser, page_path, width=width)
    assert page.evaluate(right, "td.word") == pytest.approx(page.evaluate(right, "thead"), abs=1)
    assert page.evaluate(right, "td.word") == pytest.approx(min(width - 40, (width + 1200) / 2), abs=1)
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 900, 1400])
def test_the_numbers_of_an_axis_stand_over_its_lines(browser: Any, page_path: Path, width: int) -> None:
    middles = """name => [...document.querySelectorAll(name)].map(e => e.getBoundingClientRect())
      .map(box => Math.round(box.left + box.width / 2))"""
    page = _open(browser, page_path, width=width)
    labels = page.evaluate(middles, "#differences .forest:first-of-type .ticks text")
    lines = page.evaluate(middles, "#differences .forest:first-of-type .gridline")[: len(labels)]
    assert len(labels) > 3
    assert all(abs(label - line) <= 2 for label, line in zip(labels, lines, strict=True))
    page.close()


@pytest.mark.browser
def test_text_of_models_and_names_stays_text(browser: Any, page_path: Path) -> None:
    page = _open(browser, page_path)
    assert page.evaluate("window.stolen") is None
    assert page.locator("section img, section b i").count() == 0
    assert HOSTILE[:24] in page.inner_text("#scores")
    assert HOSTILE[:24] in page.inner_text("#evidence")
    page.close()


@pytest.mark.browser
def test_theme_can_be_switched_and_is_drawn(browser: Any, page_path: Path) -> None:
    page = _open(browser, page_path, scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    for name in ("light", "dark"):
        page.click("#theme")
        assert page.inner_text("#theme") == f"Theme: {name}"
    assert page.evaluate(ground) != light
    assert page.evaluate(CONTRAST)[1] == []
    page.close()


@pytest.mark.browser
def test_images_of_wrong_samples_are_drawn_without_scripts(browser: Any, page_path: Path) -> None:
    page = _open(browser, page_path, scripts=False)
    box = page.locator("svg.picture").first.bounding_box()
    assert box["width"] > 150
    assert page.locator("svg.picture use").count() > 5
    assert page.locator("svg.picture rect.edge.target").count() > 3
    page.close()


@pytest.mark.browser
def test_everything_but_the_theme_works_without_scripts(browser: Any, page_path: Path) -> None:
    page = _open(browser, page_path, scripts=False)
    assert page.is_visible("#scores")
    assert not page.is_visible("#theme")
    page.close()


def test_page_has_its_policy_landmarks_and_headings_in_order(page_path: Path) -> None:
    page = page_path.read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    rules = html.unescape(policy.group(1))
    assert rules.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in rules
    assert "img-src data:" in rules
    assert '<html lang="en">' in page
    assert 'class="skip" href="#verdicts"' in page
    levels = [int(level) for level in re.findall(r"<h([1-6])", page)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert not re.search(r"<th(?![^>]*scope=)[\s>]", page)
    assert not re.search(r'\sstyle="|\son[a-z]+="', page)
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_gates_that_do_not_hold_are_in_sight_and_the_others_folded(page_path: Path) -> None:
    page = page_path.read_text("utf-8")
    gates = page[page.index("<h3>Gates</h3>") : page.index('<section id="scores"')]
    in_sight, _, folded = gates.partition("<summary>1 of 2 hold; a gate looks at one arm by itself")
    assert "--max-errors 0" in in_sight
    assert "--max-truncated 1" in folded
    assert "--max-truncated 1" not in in_sight


@pytest.mark.parametrize(
    ("name", "html"),
    [
        ("InfographicVQA", "Infographic<wbr>VQA"),
        ("RefCOCO/+/g", "Ref<wbr>COCO/<wbr>+/<wbr>g"),
        ("GSM8K", "GSM8K"),
        ("a</b>", "a&lt;/<wbr>b&gt;"),
    ],
)
def test_a_column_head_breaks_between_the_words_of_a_name(name: str, html: str) -> None:
    assert breakable(name) == html


def test_page_prints_no_raw_number(page_path: Path) -> None:
    page = re.sub(r"<(style|script|pre|svg)\b.*?</\1>", "", page_path.read_text("utf-8"), flags=re.DOTALL)
    text = html.unescape(re.sub(r"<[^>]+>", " ", page))
    assert not re.search(r"(?<![\w-])-\d", text)
    assert not re.search(r"\b(?:NaN|undefined|None|nan|inf)\b", text)
    assert not re.search(r"(?<![.\d])\d+\.\d{4,}", text.replace("3.11.7", "").replace("0.32.4", ""))
