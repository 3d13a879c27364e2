"""Runs the steps of one job: `python -m bakeoff.web.supervisor JOB_FOLDER LOCK_FD`.

It outlives the server that started it. The lock of the reports folder, an open file that was handed down, is held as
long as this process or a step lives. Each step leads a process group of its own; this process is its parent and has not
collected its end, so the group's number cannot belong to anyone else when it is signalled.

SIGUSR2 stops after the sample that is being answered, however long that takes: a run's leader gets SIGUSR2. SIGTERM
stops now: the leader gets SIGTERM, which ends pytest as Ctrl-C does, with a report; what still lives after the patience
is killed. SIGUSR1 kills at once.
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
from bakeoff.web.state import How, JobPlan, JobState, ProcessId, Step, StepState, read_plan, write_state

_LOOK_EVERY_S = 0.1
_ASK_EVERY_S = 1.0
_HOWS: tuple[How, ...] = ("sample", "now", "kill")
_SIGNALS: dict[signal.Signals, How] = {signal.SIGUSR2: "sample", signal.SIGTERM: "now", signal.SIGUSR1: "kill"}


class Supervisor:
    """Runs the steps one after the other; the first that fails ends the job."""

    def __init__(self, folder: Path, lock: int) -> None:
        self._folder = folder
        self._lock = lock
        self._plan: JobPlan = read_plan(folder)
        self._steps = [StepState(name=step.name) for step in self._plan.steps]
        self._how: How | None = None
        self._patience_ends: float | None = None
        self._stopped_at: str | None = None

    def run(self) -> int:
        """Run everything; return the exit code of the last step that ran."""
        for kind in _SIGNALS:
            signal.signal(kind, self._on_signal)
        code = 0
        with (self._folder / "log.txt").open("ab", buffering=0) as log:
            for number, step in enumerate(self._plan.steps):
                if self._how is not None:
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
            preexec_fn=_deaf,  # noqa: PLW1509 -- one thread, and a signal's fate before pytest listens is inherited
        )
        process = psutil.Process(child.pid)
        step_id = ProcessId(pid=child.pid, started=process.create_time())
        self._steps[number] = StepState(name=step.name, began=utc_now())
        self._tell("running", step_id)
        self._await(process, step_id, "sample" if step.name == "run" else "now")
        with contextlib.suppress(ProcessLookupError, PermissionError):  # what the leader left behind, if anything
            os.killpg(child.pid, signal.SIGKILL)
        code = child.wait()
        _note(log, f"{step.name} ended with exit code {code}")
        self._steps[number] = StepState(name=step.name, began=self._steps[number].began, ended=utc_now(), code=code)
        return code

    def _await(self, process: psutil.Process, step: ProcessId, gentlest: How) -> None:
        """Wait for the end of a step, and hand on what this process is asked to do; `gentlest` is what it can do."""
        told: How | None = None
        asked_at = 0.0
        while not _is_over(process):
            time.sleep(_LOOK_EVERY_S)
            if self._patience_ends is not None and time.monotonic() > self._patience_ends:
                self._how = "kill"
            if self._how is None:
                continue
            how = self._how = max(self._how, gentlest, key=_HOWS.index)
            is_new = how != told
            if is_new:
                told = how
                self._tell("stopping", step)
            if how == "sample" and (is_new or time.monotonic() > asked_at + _ASK_EVERY_S):
                asked_at = time.monotonic()  # again and again, as pytest may not have listened yet
                os.kill(step.pid, signal.SIGUSR2)
            elif how == "now" and is_new:
                self._patience_ends = time.monotonic() + self._plan.patience_s
                os.kill(step.pid, signal.SIGTERM)
            elif how == "kill" and is_new:
                os.killpg(step.pid, signal.SIGKILL)

    def _tell(self, phase: str, step: ProcessId | None) -> None:
        me = psutil.Process()
        state = JobState(
            phase=phase,
            supervisor=ProcessId(pid=me.pid, started=me.create_time()),
            step=step,
            steps=tuple(self._steps),
            stopped_at=self._stopped_at,
            how=self._how,
        )
        with contextlib.suppress(OSError):  # on a full disk: who watches then sees less, and the step is still watched
            write_state(self._folder, state)

    def _on_signal(self, signum: int, frame: FrameType | None) -> None:
        del frame
        how: How = _SIGNALS[signal.Signals(signum)]
        if self._how is None:
            self._how, self._stopped_at = how, utc_now()
        self._how = max(self._how, how, key=_HOWS.index)


def _deaf() -> None:
    """Let a step that does not listen for SIGUSR2 yet outlive it."""
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)


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
