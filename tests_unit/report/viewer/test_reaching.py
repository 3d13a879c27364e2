"""The viewer for everybody: axe, contrast, sizes of targets, widths, both themes."""

from typing import Any

import pytest

from tests_unit.report.test_page import CONTRAST
from tests_unit.report.viewer.conftest import Opened

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
pytestmark = pytest.mark.browser

SCENES = ("#samples/toy/toy-boxes-000", "#samples/toy/toy-words-003?a=one&b=three", "#samples/text%2Fonly/plain-2")
TARGETS = """() => [...document.querySelectorAll("#viewer button, #viewer select, #viewer input, #viewer summary")]
  .map(e => [e, (e.closest("label") || e).getBoundingClientRect()])
  .filter(([, r]) => r.width && (r.height < 24 || r.width < 24)).map(([e]) => e.outerHTML.slice(0, 80))"""


def _unfold(page: Any) -> None:
    page.evaluate("document.querySelectorAll('#viewer details').forEach(fold => fold.open = true)")


def _faults(page: Any) -> list[str]:
    found = axe.Axe().run(page, context="#samples").response["violations"]
    return [f"{fault['id']}: {node['html'][:120]}" for fault in found for node in fault["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("link", SCENES)
def test_axe_finds_no_fault(opened: Opened, link: str, scheme: str) -> None:
    page = opened(link, color_scheme=scheme)
    _unfold(page)
    assert _faults(page) == []


def test_axe_finds_no_fault_with_the_help_open_and_the_image_enlarged(opened: Opened) -> None:
    page = opened(SCENES[0])
    page.keyboard.press("z")
    page.keyboard.press("z")
    page.wait_for_selector(".v-frame.zoomed")
    assert _faults(page) == []
    page.keyboard.press("?")
    assert _faults(page) == []


@pytest.mark.parametrize("width", [320, 390, 700, 861, 1024, 1400, 2000])
def test_nothing_scrolls_sideways_and_targets_are_large_enough(opened: Opened, width: int) -> None:
    page = opened(SCENES[1], viewport={"width": width, "height": 900})
    _unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(TARGETS) == []


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(opened: Opened, width: int, scheme: str) -> None:
    page = opened(SCENES[0], viewport={"width": width, "height": 900}, color_scheme=scheme)
    _unfold(page)
    count, bad = page.evaluate(CONTRAST)
    assert count > 200
    assert bad == []
