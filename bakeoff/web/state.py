"""What a job leaves on disk: its plan, written once by the server, and its state, written by its supervisor."""

from pathlib import Path
from typing import Literal

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.files import write_atomically

Kind = Literal["run", "resume", "try"]
How = Literal["sample", "now", "kill"]
"""How a job is stopped: after the sample being answered, as Ctrl-C does, or by killing its processes."""


class ProcessId(msgspec.Struct, frozen=True, kw_only=True):
    """A process: its number and when it began, in seconds of the epoch, since numbers are used again."""

    pid: int
    started: float


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One process of a job, and what a person would type for it."""

    name: str
    argv: tuple[str, ...]
    typed: str


class JobPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a job does. `run` is the absolute folder of its run; `env` is added to the environment.

    `patience_s` is how long a step that was asked to stop may take for it.
    """

    job: str
    kind: Kind
    created: str
    run: str
    cwd: str
    steps: tuple[Step, ...]
    env: dict[str, str] = {}
    patience_s: float = 60.0


class StepState(msgspec.Struct, frozen=True, kw_only=True):
    """How far a step is; `code` is its exit code, negative for a signal."""

    name: str
    began: str | None = None
    ended: str | None = None
    code: int | None = None


class JobState(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job is. `step` is the process that runs now; `stopped_at` is when somebody asked it to stop.

    `how` is how it was asked to stop, the hardest of all ways so far.
    """

    phase: str
    supervisor: ProcessId
    step: ProcessId | None = None
    steps: tuple[StepState, ...] = ()
    stopped_at: str | None = None
    how: How | None = None


def read_plan(folder: Path) -> JobPlan:
    """Read the plan of a job.

    Raises:
        UsageProblem: when there is none that can be read.
    """
    path = folder / "job.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=JobPlan)
    except (OSError, ValueError) as error:
        raise UsageProblem(f"{path} is no job: {error}") from error


def read_state(folder: Path) -> JobState | None:
    """Read the state of a job, None while it has none that can be read."""
    try:
        return msgspec.json.decode((folder / "state.json").read_bytes(), type=JobState)
    except (OSError, ValueError):
        return None


def write_plan(folder: Path, plan: JobPlan) -> None:
    """Write the plan."""
    write_atomically(folder / "job.json", msgspec.json.encode(plan), lasting=False)


def write_state(folder: Path, state: JobState) -> None:
    """Replace the state in one step."""
    write_atomically(folder / "state.json", msgspec.json.encode(state), lasting=False)
