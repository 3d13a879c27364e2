"""Starting, finding and stopping jobs: one at a time in a reports folder, whoever asks.

The lock is an open file of the reports folder that the supervisor and its steps inherit: it is held while any of them
lives and let go by the kernel. A job is found again by number *and* start time *and* command line of its processes;
anything less could be a stranger.
"""

import contextlib
import fcntl
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psutil

from bakeoff.errors import UsageProblem
from bakeoff.runs import utc_now
from bakeoff.web.command import Command
from bakeoff.web.place import Place
from bakeoff.web.problems import Refusal
from bakeoff.web.state import How, JobPlan, JobState, Kind, ProcessId, Step, read_plan, read_state, write_plan

_SAME_START_S = 1.0
_LOCK_ATTEMPTS = 10
_LEAST_FREE_BYTES = 1_000_000
_JOBS = "[0-9]*T[0-9]*Z-*/job.json"  # ids begin with the moment, so that they sort by it
_STATE_ATTEMPTS = 200
_TO_SUPERVISOR = {"sample": signal.SIGUSR2, "now": signal.SIGTERM, "kill": signal.SIGUSR1}


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job as it is on disk now; `is_alive` says whether one of its own processes runs."""

    folder: Path
    plan: JobPlan
    state: JobState | None
    is_alive: bool

    @property
    def phase(self) -> str:
        """`running`, `stopping`, `ended`, or `lost` when its processes went without a word."""
        if self.is_alive:
            return "stopping" if self.state is not None and self.state.phase == "stopping" else "running"
        return "ended" if self.state is not None and self.state.phase == "ended" else "lost"

    @property
    def log(self) -> Path:
        """What its steps print."""
        return self.folder / "log.txt"


class Jobs:
    """The jobs of one reports folder.

    Args:
        place: the folders.
        patience_s: how long a stopped run may take to end before it is killed.
    """

    def __init__(self, place: Place, patience_s: float = 60.0) -> None:
        self._place = place
        self._patience_s = patience_s
        self._children: list[subprocess.Popen[bytes]] = []

    def start(self, kind: Kind, steps: tuple[Command, ...], run: Path, env: dict[str, str] | None = None) -> Job:
        """Start the steps.

        Raises:
            Refusal: when another job of this reports folder is going on, or its disk is full.
        """
        self._place.own.mkdir(parents=True, exist_ok=True)
        with self._lock() as lock:
            self._refuse_full_disk()
            moment = re.sub("[-:.]", "", utc_now()[:23])  # to the millisecond, so that ids sort by age
            job = f"{moment}Z-{secrets.token_hex(3)}"
            folder = self._place.own / "jobs" / job
            folder.mkdir(parents=True)
            plan = JobPlan(
                job=job,
                kind=kind,
                created=utc_now(),
                run=str(run),
                cwd=str(self._place.root),
                steps=tuple(Step(name=c.name, argv=c.argv, typed=c.typed) for c in steps),
                env=env or {},
                patience_s=self._patience_s,
            )
            write_plan(folder, plan)
            self._spawn(folder, lock)
        return self._job(folder)

    def _refuse_full_disk(self) -> None:
        """Refuse a job that could not even leave a word of why it ended."""
        free = shutil.disk_usage(self._place.own).free
        if free < _LEAST_FREE_BYTES:
            raise Refusal(
                507, f"the disk of {self._place.reports} is full: {free // 1000} kB are free. Make room", "disk"
            )

    def _spawn(self, folder: Path, lock: int) -> None:
        self._children = [child for child in self._children if child.poll() is None]  # collects what has ended
        with (folder / "log.txt").open("ab") as log:
            child = subprocess.Popen(
                [sys.executable, "-m", "bakeoff.web.supervisor", str(folder), str(lock)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(lock,),
            )
        self._children.append(child)

    def newest(self) -> Job | None:
        """Return the job that began last, going on or not; None when there was none."""
        folders = sorted((self._place.own / "jobs").glob(_JOBS), reverse=True)
        for path in folders:
            with contextlib.suppress(UsageProblem):  # another program's file is not ours to mend
                return self._job(path.parent)
        return None

    def find(self, name: str) -> Job:
        """Return a job by its id.

        Raises:
            Refusal: when there is none.
        """
        path = self._place.own / "jobs" / name
        if not name.replace("-", "").isalnum() or not (path / "job.json").is_file():
            raise Refusal(404, f"there is no job {name!r}")
        return self._job(path)

    def stop(self, name: str, how: How) -> Job:
        """Ask a job to end; nothing but its own processes is ever signalled.

        A step that can end after a sample is a run; another is stopped now instead.

        Raises:
            Refusal: when it is not going on.
        """
        job = self.find(name)
        for _ in range(_STATE_ATTEMPTS):  # one that has just begun has not told its processes yet
            if job.state is not None or not job.is_alive:
                break
            time.sleep(0.05)
            job = self.find(name)
        supervisor, step = _supervisor(job), _step(job)
        with contextlib.suppress(psutil.NoSuchProcess):
            if supervisor is not None:
                supervisor.send_signal(_TO_SUPERVISOR[how])
            elif step is None:
                raise Refusal(409, "that run has ended already", "ended")
            elif how == "kill":
                os.killpg(step.pid, signal.SIGKILL)
            else:
                step.send_signal(signal.SIGUSR2 if how == "sample" and _is_run(job) else signal.SIGTERM)
        return self._job(job.folder)

    def _job(self, folder: Path) -> Job:
        for child in self._children:
            child.poll()  # an ended supervisor must not look alive because nobody collected it
        job = Job(folder=folder, plan=read_plan(folder), state=read_state(folder), is_alive=False)
        is_alive = _supervisor(job) is not None or _step(job) is not None
        if job.state is None and self._is_newest(folder):
            is_alive = self._is_locked()
        return msgspec.structs.replace(job, is_alive=is_alive)

    def _is_newest(self, folder: Path) -> bool:
        return folder.name == max((path.parent.name for path in folder.parent.glob(_JOBS)), default="")

    def _is_locked(self) -> bool:
        """Return whether a job holds the lock of the reports folder."""
        descriptor = os.open(self._place.own / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    @contextlib.contextmanager
    def _lock(self) -> Iterator[int]:
        """Hold the lock of the reports folder while the context is open; a process started in it holds it on."""
        descriptor = os.open(self._place.own / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            for attempt in range(_LOCK_ATTEMPTS):
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                if attempt < _LOCK_ATTEMPTS - 1:
                    time.sleep(0.05)  # a process that ends is seen to be gone a moment before its files are closed
            else:
                raise Refusal(409, "a run is going on in this reports folder; stop it or wait for its end", "busy")
            yield descriptor
        finally:
            os.close(descriptor)


def _supervisor(job: Job) -> psutil.Process | None:
    if job.state is None:
        return None
    return _own(job.state.supervisor, ("bakeoff.web.supervisor", str(job.folder)))


def _step(job: Job) -> psutil.Process | None:
    if job.state is None or job.state.step is None:
        return None
    return next((p for step in job.plan.steps if (p := _own(job.state.step, step.argv[1:]))), None)


def _is_run(job: Job) -> bool:
    """Return whether the step that was begun last is the run itself."""
    begun = [step.name for step in (job.state.steps if job.state else ()) if step.began is not None]
    return begun[-1:] == ["run"]


def _own(known: ProcessId, words: tuple[str, ...]) -> psutil.Process | None:
    """Return the process if it is still the one that was started, else None."""
    try:
        process = psutil.Process(known.pid)
        if abs(process.create_time() - known.started) > _SAME_START_S or process.status() == psutil.STATUS_ZOMBIE:
            return None
        found = process.cmdline()
    except psutil.Error:
        return None
    return process if all(word in found for word in words) else None
