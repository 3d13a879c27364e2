"""A run that is broken off at any moment and resumed ends as an unbroken one does, and leaves no process behind."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from bakeoff.runs import RunDirectory
from tests_unit.bare import BARE
from tests_unit.doubles import held
from tests_unit.plugin.conftest import BENCH

pytestmark = [pytest.mark.real_runtime, pytest.mark.slow]

PATIENCE_S = 300
LIMIT = "16"


def hear_interrupts() -> None:
    """Undo the ignoring of SIGINT that a process started in the background inherits from its shell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Bakeoff:
    """A pytest process on the embedded checkpoint, and what it left in its run directory."""

    def __init__(self, folder: Path, *arguments: str, hold_at: int = 0) -> None:
        command = [sys.executable, "-m", "pytest", *BARE, "-q", "--parity", "off", *arguments]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=held.holding_at(hold_at),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=hear_interrupts,  # noqa: PLW1509 - one thread, and nothing else can undo an inherited ignore
        )
        self.output = ""

    def family(self) -> list[psutil.Process]:
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(self.process.pid).children(recursive=True)
        return []

    def server(self) -> psutil.Process:
        """The process that holds the llama.cpp server."""
        (found,) = (p for p in self.family() if "bakeoff.backends.llama.child" in p.cmdline())
        return found

    def finish(self) -> int:
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        self.output = out.decode("utf-8", errors="replace")
        return self.process.returncode


def scores(path: Path) -> dict[tuple[str, str], float | None]:
    journals = RunDirectory(path).journals()
    return {(arm, name): record.score for arm, content in journals.items() for name, record in content.records.items()}


def wait_for_records(path: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        written = sum(journal.read_bytes().count(b'"type":"record"') for journal in path.glob("records/*.jsonl"))
        if written >= count:
            return
        time.sleep(0.01)
    pytest.fail(f"no {count} records; pytest ended with {process.poll()}")


def gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=30)
    return not [p for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("bench")
    (place / "test_calibration.py").write_text(BENCH, "utf-8")
    (place / "pytest.ini").write_text("[pytest]\n", "utf-8")
    held.write_conftest(place)
    return place


def unbroken(folder: Path, models: str) -> dict[tuple[str, str], float | None]:
    """The scores of a run that nothing interrupted; made once per set of models."""
    path = folder / "reports" / f"whole-{models}"
    if not path.exists():
        run = Bakeoff(folder, "--model", models, "--limit", LIMIT, "--run-dir", str(path))
        assert run.finish() == 0, run.output
    return scores(path)


@pytest.fixture
def path(folder: Path, request: pytest.FixtureRequest) -> Path:
    return folder / "reports" / f"broken-{abs(hash(request.node.name))}"


@pytest.fixture
def go_on(folder: Path) -> Iterator[Path]:
    """What a run that waits is let go with."""
    file = folder / "go-on"
    yield file
    file.unlink(missing_ok=True)


SERVER, PAIR = "tiny-gguf-q8", "tiny-bf16,tiny-gguf-q8"


@pytest.mark.parametrize(
    ("models", "how", "after", "more"),
    [
        (SERVER, signal.SIGINT, 3, ()),
        (SERVER, signal.SIGTERM, 9, ()),
        (SERVER, signal.SIGKILL, 5, ()),
        (SERVER, signal.SIGKILL, 5, ("-n2",)),
        (SERVER, signal.SIGTERM, 5, ("-n2",)),
        (PAIR, signal.SIGKILL, 4, ()),
        (PAIR, signal.SIGINT, 19, ()),
    ],
)
def test_a_broken_run_resumes_to_the_scores_of_a_whole_one(
    folder: Path, path: Path, *, models: str, how: signal.Signals, after: int, more: tuple[str, ...]
) -> None:
    whole = unbroken(folder, models)
    last = 7 if more else after + 5  # it is broken off before that, and waits there if this process is slow to do so
    run = Bakeoff(folder, "--model", models, "--limit", LIMIT, "--run-dir", str(path), *more, hold_at=last)
    wait_for_records(path, after, run.process)
    family = run.family()
    os.kill(run.process.pid, how)
    code = run.finish()
    assert code == (-9 if how is signal.SIGKILL else 2), run.output
    assert gone(family)
    before = scores(path)
    assert 0 < len(before) < len(whole)
    again = Bakeoff(folder, f"--resume={path}", *more)
    assert again.finish() == 0, again.output
    assert scores(path) == whole
    assert before.items() <= whole.items()


@pytest.mark.parametrize("more", [(), ("-n2",)], ids=["alone", "n2"])
def test_a_server_that_is_killed_is_brought_back_and_nothing_is_lost(
    folder: Path, path: Path, go_on: Path, more: tuple[str, ...]
) -> None:
    whole = unbroken(folder, SERVER)
    run = Bakeoff(folder, "--model", SERVER, "--limit", LIMIT, "--run-dir", str(path), *more, hold_at=5 if more else 9)
    wait_for_records(path, 4, run.process)
    run.server().kill()
    family = run.family()
    go_on.touch()
    assert run.finish() == 0, run.output
    assert scores(path) == whole
    assert gone(family)


STUCK = """
import pathlib, threading
from bakeoff.backends.mlx import work

def stuck(*_):
    pathlib.Path("in-step").touch()
    threading.Event().wait()

work.Worker._step = stuck
"""


def test_a_second_ctrl_c_does_not_wait_for_the_step_that_mlx_works_on(tmp_path: Path) -> None:
    (tmp_path / "test_calibration.py").write_text(BENCH, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (tmp_path / "conftest.py").write_text(STUCK, "utf-8")
    run = Bakeoff(tmp_path, "--model", "tiny-bf16", "--limit", "4", "--run-dir", "run")
    assert run.process.stdout is not None
    deadline = time.monotonic() + PATIENCE_S
    while not (tmp_path / "in-step").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(run.process.pid, signal.SIGINT)
    before = ""
    while "stopping after the step in work" not in before:
        line = run.process.stdout.readline().decode()
        assert line, before
        before += line
    os.kill(run.process.pid, signal.SIGINT)
    assert run.finish() == 2, before + run.output
    assert "not waiting for the step in work" in run.output
    assert "Traceback" not in before + run.output
    assert (tmp_path / "run" / "report.html").exists()
