"""A report whose viewer has everything in it, and a page opened on it in headless Chromium."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.records import Record, Sample
from bakeoff.report import build
from bakeoff.report.viewer import files
from tests_unit.report.synthetic import TRACK, RunMaker, add_toy_track, failed, record
from tests_unit.report.viewer.data import asked, with_protocol

HOSTILE = (
    "</pre><script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">",
    "`code` | pipe | </script> \u2028 end",
    "a\x00b\u202egnp.exe \ud800",
    "needle " + "y" * 100_000 + " last",
)
"""Outputs of arm `one` on the first samples that ask for words, in order."""

Opened = Callable[..., Any]


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of a run: three arms, a track in pages of 20, a track of text that is not prepared here."""
    root = tmp_path_factory.mktemp("viewer")
    with pytest.MonkeyPatch.context() as patch:
        drawn = add_toy_track(root / "data" / TRACK, patch)
        with_protocol(patch)
        patch.setattr(files, "MOST_ITEMS", 20)
        maker = RunMaker(root / "reports" / "20261130T090000Z-abcd", drawn)
        selected = {TRACK: [s.id for s in drawn], "text/only": ["plain 1%?&#", "plain-2"]}
        maker.arm("one", [*_answers(drawn, lambda i: i % 6 == 0, HOSTILE), *_plain(drawn)], selected=selected)
        maker.arm("two", _answers(drawn, lambda i: i % 6 == 0 or i in {7, 8}), backend="gguf", selected=selected)
        coreai = _answers(drawn, lambda i: i % 4 == 0)
        coreai[3] = msgspec.structs.replace(coreai[3], status="truncated")
        coreai[9] = asked(failed(drawn[9], "<b>the runtime</b> died"), drawn[9])
        maker.arm("three", coreai[:100], backend="coreai", selected=selected)
        run = maker.write(margin=2.0)
        build(run)
    return run.path / "report.html"


def _answers(drawn: tuple[Sample, ...], wrong: Callable[[int], bool], texts: tuple[str, ...] = ()) -> list[Record]:
    found = [asked(record(sample, right=not wrong(i), at=i * 0.5), sample) for i, sample in enumerate(drawn)]
    words = [i for i, sample in enumerate(drawn) if "words" in sample.id]
    for i, text in zip(words, texts, strict=False):
        found[i] = msgspec.structs.replace(found[i], output=text, answer=None, score=0.0, correct=False)
    return found


def _plain(drawn: tuple[Sample, ...]) -> list[Record]:
    changes = {"track": "text/only", "image_sha256": (), "groups": {"kind": "<i>plain</i>"}}
    return [msgspec.structs.replace(record(drawn[2]), sample_id=i, **changes) for i in ("plain 1%?&#", "plain-2")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a browser that is closed before another module opens one: Playwright runs once at a time."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium found; install one with: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def opened(browser: Any, report: Path) -> Iterator[Opened]:
    """Open the page at a link and wait for a sample; a console message or an error of the page fails the test."""
    pages: list[Any] = []
    messages: list[str] = []

    def open_page(link: str = "#samples", *, path: Path = report, quiet: bool = True, **options: Any) -> Any:
        page = browser.new_page(**{"viewport": {"width": 1400, "height": 900}, **options})
        pages.append(page)
        if quiet:
            page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.goto(path.as_uri() + link)
        page.wait_for_selector("#v-title, #v-card .missing, .v-broken", state="attached")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert messages == []


def wait_for(page: Any, expression: str, argument: Any = None) -> None:
    """Wait until `expression` holds; Playwright's own way needs `eval`, which the page's policy forbids."""
    for _ in range(200):
        if page.evaluate(expression, argument):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true: {expression}")
