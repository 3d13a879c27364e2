"""The app is small enough to be left open beside a run whose speed is measured."""

import subprocess
import sys
from collections.abc import Callable

import requests

from tests_unit.web.conftest import AppProcess

HEAVY = (
    "numpy",
    "scipy",
    "mlx",
    "mlx_vlm",
    "xllamacpp",
    "datasets",
    "torch",
    "transformers",
    "pyarrow",
    "huggingface_hub",
    "matplotlib",
    "pytest",
)


def test_serving_loads_no_model_code_and_no_statistics() -> None:
    code = f"import sys, bakeoff.cli, bakeoff.commands.ui; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_after_every_page_and_with_twenty_readers_it_stays_below_80_mb(app_process: Callable[..., AppProcess]) -> None:
    app = app_process()
    streams = [requests.get(f"{app.base}/api/live/events", stream=True, timeout=60) for _ in range(20)]
    for path in ("/", "/live", "/runs", "/compare", "/cases", "/new.json", "/runs.json", "/cases.json", "/live.json"):
        assert requests.get(app.base + path, timeout=60).status_code == 200
    assert app.process.memory_info().rss < 80_000_000
    for stream in streams:
        stream.close()


def test_a_taken_port_says_what_to_type(app_process: Callable[..., AppProcess]) -> None:
    app = app_process()
    port = app.base.rpartition(":")[2]
    done = subprocess.run(
        [sys.executable, "-m", "bakeoff", "ui", "--no-open", "--port", port],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert f"bakeoff ui --port {int(port) + 1}" in done.stderr
