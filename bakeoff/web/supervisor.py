"""Runs the steps of one job: `python -m bakeoff.web.supervisor JOB_FOLDER LOCK_FD`.

It outlives the server that started it. The lock of the reports folder, an open file that was handed down, is held as
long as this process or a step lives. Each step leads a process group of its own; this process is its parent and has not
collected its end, so the group's number cannot belong to anyone else when it is signalled.

SIGTERM stops gently: the step's leader gets SIGTERM, which ends pytest as Ctrl-C does, with a report; what still lives
after the patience is killed. SIGUSR1 kills at once.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

import psutil

from bakeoff.runs import utc_now
from bakeoff.web.state import JobPlan, JobState, ProcessId, Step, StepState, read_plan, write_state

_LOOK_EVERY_S = 0.1


class Supervisor:
    """Runs the steps one after the other; the first that fails ends the job."""

    def __init__(self, folder: Path, lock: int) -> None:
        self._folder = folder
        self._lock = lock
        self._plan: JobPlan = read_plan(folder)
        self._steps = [StepState(name=step.name) for step in self._plan.steps]
        self._stop_at: float | None = None
        self._kill = False
        self._stopped_at: str | None = None

    def run(self) -> int:
        """Run everything; return the exit code of the last step that ran."""
        signal.signal(signal.SIGTERM, self._on_stop)
        signal.signal(signal.SIGUSR1, self._on_kill)
        code = 0
        with (self._folder / "log.txt").open("ab", buffering=0) as log:
            for number, step in enumerate(self._plan.steps):
                if self._stop_at is not None:
                    break
                code = self._run(number, step, log.fileno())
                if code:
                    break
        self._tell("ended", None)
        return code

    def _run(self, number: int, step: Step, log: int) -> int:
        _note(log, f"$ {step.typed}")
        child = subprocess.Popen(
            step.argv,
            cwd=self._plan.cwd,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **self._plan.env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=(self._lock,),
        )
        process = psutil.Process(child.pid)
        step_id = ProcessId(pid=child.pid, started=process.create_time())
        self._steps[number] = StepState(name=step.name, began=utc_now())
        self._tell("running", step_id)
        asked, killed = False, False
        while not _is_over(process):
            time.sleep(_LOOK_EVERY_S)
            if self._stop_at is not None and not asked:
                asked = True
                self._tell("stopping", step_id)
                os.kill(child.pid, signal.SIGTERM)
            patience_is_over = self._stop_at is not None and time.monotonic() > self._stop_at + self._plan.patience_s
            if (self._kill or patience_is_over) and not killed:
                killed = True
                os.killpg(child.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # what the leader left behind, if anything
            os.killpg(child.pid, signal.SIGKILL)
        code = child.wait()
        _note(log, f"{step.name} ended with exit code {code}")
        self._steps[number] = StepState(name=step.name, began=self._steps[number].began, ended=utc_now(), code=code)
        return code

    def _tell(self, phase: str, step: ProcessId | None) -> None:
        me = psutil.Process()
        state = JobState(
            phase=phase,
            supervisor=ProcessId(pid=me.pid, started=me.create_time()),
            step=step,
            steps=tuple(self._steps),
            stopped_at=self._stopped_at,
        )
        with contextlib.suppress(OSError):  # on a full disk: who watches then sees less, and the step is still watched
            write_state(self._folder, state)

    def _on_stop(self, signum: int, frame: FrameType | None) -> None:
        del signum, frame
        if self._stop_at is None:
            self._stop_at, self._stopped_at = time.monotonic(), utc_now()

    def _on_kill(self, signum: int, frame: FrameType | None) -> None:
        self._on_stop(signum, frame)
        self._kill = True


def _note(log: int, line: str) -> None:
    """Write a line of ours into the log, if the disk takes it."""
    with contextlib.suppress(OSError):
        os.write(log, f"{line}\n".encode())


def _is_over(process: psutil.Process) -> bool:
    """Return whether a child has ended, without collecting it."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


if __name__ == "__main__":
    sys.exit(min(abs(Supervisor(Path(sys.argv[1]), int(sys.argv[2])).run()), 255))
