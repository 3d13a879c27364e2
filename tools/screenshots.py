"""Takes the pictures of a report that README and docs show: `docs/images/report*.png`.

    uv run python tools/screenshots.py            # runs the bake-off on the embedded checkpoint first
    uv run python tools/screenshots.py reports/x  # of a run that is there; its report is built again

Needs a Chromium: one on PATH, or Playwright's own (`uv run playwright install chromium`).
"""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from bakeoff.report import build
from bakeoff.runs import RunDirectory

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
MODELS = "tiny-bf16,tiny-4bit,tiny-gguf-bf16,tiny-gguf-q4"
LARGEST = 300_000
"""Bytes of a picture, above which a clone gets slow for nothing."""

SECTIONS = {"scores": "#scores .grid", "differences": "#differences .forest"}
"""Pictures of one part of the page, by name."""


def main(arguments: list[str]) -> int:
    """Take all pictures and say where they are."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(arguments[0]) if arguments else _bake(Path(folder) / "bakeoff")
        build(RunDirectory(run))
        IMAGES.mkdir(parents=True, exist_ok=True)
        with sync_playwright() as driver:
            path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
            browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
            for scheme in ("light", "dark"):
                _keep(f"report-{scheme}", _page(browser, run, scheme).screenshot())
            page = _page(browser, run, "light")
            for name, place in SECTIONS.items():
                _keep(f"report-{name}", page.locator(place).first.screenshot())
            browser.close()
    return 0


def _bake(run: Path) -> Path:
    """Run the embedded checkpoint on a part of the calibration track; wrong answers are no failure."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "tests_bench",
        "--limit",
        "100",
        "--model",
        MODELS,
        "--run-dir",
        str(run),
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    return run


def _page(browser: Browser, run: Path, scheme: str) -> Page:
    page = browser.new_page(
        viewport={"width": 1200, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
        device_scale_factor=1.5,
    )
    page.goto((run / "report.html").resolve().as_uri())
    return page


def _keep(name: str, taken: bytes) -> None:
    """Write a picture with as few colours as it needs.

    Raises:
        SystemExit: when it is larger than a picture in a repository should be.
    """
    path = IMAGES / f"{name}.png"
    Image.open(io.BytesIO(taken)).convert("RGB").quantize(128).save(path, optimize=True)
    size = path.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{path} has {size} bytes, more than {LARGEST}")
    print(f"{path.relative_to(ROOT)}: {size} bytes")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
