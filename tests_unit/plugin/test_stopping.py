"""A session that is asked to end after the sample being answered: the answer is recorded, the report written."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bakeoff.runs import RunDirectory
from tests_unit.bare import BARE
from tests_unit.doubles import held
from tests_unit.plugin.conftest import BENCH

pytestmark = pytest.mark.slow
PATIENCE_S = 120


def recorded(run: Path) -> int:
    return sum(journal.read_bytes().count(b'"type":"record"') for journal in run.glob("records/*.jsonl"))


def begin(folder: Path, *more: str) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a run of forty samples and wait until it is in the third."""
    (folder / "test_calibration.py").write_text(BENCH, "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (folder / "same.json").write_text('{"default": "x"}', "utf-8")
    held.write_conftest(folder)
    run = folder / "run"
    words = ["--model", f"fake:{folder / 'same.json'}", "--limit", "40", "--parity", "off", "--run-dir", str(run)]
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *BARE, *words, *more],
        cwd=folder,
        env=held.holding_at(3),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    deadline = time.monotonic() + PATIENCE_S
    while not ((folder / "held").exists() and recorded(run) == 2) and process.poll() is None:
        assert time.monotonic() < deadline, "the run does not come to its third sample"
        time.sleep(0.01)
    return process, run


def test_sigusr2_ends_after_the_sample_with_its_answer_and_a_report(tmp_path: Path) -> None:
    process, run = begin(tmp_path)
    process.send_signal(signal.SIGUSR2)
    (tmp_path / "go-on").touch()
    out = process.communicate(timeout=PATIENCE_S)[0].decode()
    assert process.returncode == pytest.ExitCode.INTERRUPTED, out
    assert "stopped after a sample, as asked by SIGUSR2" in out
    assert recorded(run) == 3
    assert (run / "report.html").is_file()
    (journal,) = RunDirectory(run).journals().values()
    assert not [record for record in journal.records.values() if record.error]


def test_sigusr2_with_workers_ends_the_session_as_ctrl_c_does(tmp_path: Path) -> None:
    process, run = begin(tmp_path, "-n1")
    process.send_signal(signal.SIGUSR2)
    out = process.communicate(timeout=PATIENCE_S)[0].decode()
    assert process.returncode == pytest.ExitCode.INTERRUPTED, out
    assert "terminated" in out
    assert recorded(run) == 2
    assert (run / "report.html").is_file()
