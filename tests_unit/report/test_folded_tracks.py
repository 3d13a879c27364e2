"""Differences on many tracks are folded but for the first, and a link to one opens it."""

import shutil
from pathlib import Path

import pytest

from bakeoff.report import build
from tools.bench.six_arms import write_six


@pytest.mark.browser
@pytest.mark.slow
def test_a_link_to_a_folded_track_opens_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium")
    run = write_six(tmp_path, 64)
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path / "data"))
    build(run)
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto((run.path / "report.html").as_uri())
        folds = page.locator("#differences details.of-track")
        opened = folds.evaluate_all("folds => folds.map(fold => fold.open)")
        assert len(opened) > 3
        assert opened == [True] + [False] * (len(opened) - 1)
        assert folds.nth(1).locator("summary").inner_text() == "15 comparisons"
        last = page.locator("#differences h3[id^=difference-]").last.get_attribute("id")
        page.evaluate("hash => { location.hash = hash }", last)
        page.locator(f"#{last} + details[open]").wait_for(state="attached")
        page.goto((run.path / "report.html").as_uri() + f"#{last}")
        page.reload()
        assert folds.last.evaluate("fold => fold.open")
        browser.close()
