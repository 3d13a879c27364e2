"""The app is small enough to be left open beside a run whose speed is measured."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
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


@pytest.mark.slow
def test_idle_with_twenty_readers_it_takes_less_than_a_hundredth_of_a_core(
    app_process: Callable[..., AppProcess],
) -> None:
    """A share of time at work in time gone by; the beginning is no idling, and is long on a busy machine."""
    app = app_process()
    streams = [requests.get(f"{app.base}/api/live/events", stream=True, timeout=60) for _ in range(20)]
    shares: list[float] = []
    while len(shares) < 6 and not (shares and shares[-1] < 0.01):
        before, began = app.process.cpu_times(), time.monotonic()
        time.sleep(5)
        after, ended = app.process.cpu_times(), time.monotonic()
        shares.append((after.user + after.system - before.user - before.system) / (ended - began))
    assert shares[-1] < 0.01, shares
    for stream in streams:
        stream.close()


def test_it_serves_https_with_a_certificate_of_ones_own(app_process: Callable[..., AppProcess], tmp_path: Path) -> None:
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("there is no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    out = ["-keyout", str(key), "-out", str(certificate)]
    made = [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, *out]
    subprocess.run(made, check=True, capture_output=True)
    app = app_process("--token", "--certificate", str(certificate), "--key", str(key))
    assert app.base.startswith("https://127.0.0.1:")
    assert requests.get(app.base, verify=str(certificate), timeout=60).status_code == 401
    entered = requests.get(app.link, verify=str(certificate), timeout=60, allow_redirects=False)
    assert "secure" in entered.headers["Set-Cookie"].lower()
    session = requests.Session()
    session.trust_env = False  # a bundle of the environment would go before the certificate
    session.verify = str(certificate)
    assert "New run" in session.get(app.link, timeout=60).text
    order = {"tracks": ["calibration"], "models": ["fake:echo"]}
    token = session.get(f"{app.base}/api/token", timeout=60).json()["token"]
    headers = {"X-Bakeoff-Token": token, "Origin": app.base}
    assert session.post(f"{app.base}/api/order", json=order, headers=headers, timeout=60).status_code == 200


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
