"""What the live page shows: the newest job, its steps, and how far its arms are."""

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.validity.parity import Parity, judge
from bakeoff.validity.probes import read_probes
from bakeoff.web.jobs import Job, Jobs
from bakeoff.web.pictures import find_sample
from bakeoff.web.state import How
from bakeoff.web.watch import ArmProgress, Watch


class StepView(msgspec.Struct, frozen=True, kw_only=True):
    """One process of the job: waiting, running or ended with a code."""

    name: str
    state: str
    code: int | None
    typed: str


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """The whole state. `run` is the name of the run's folder; `words` say in a sentence what goes on.

    `how` is how the job was asked to stop, None when nobody did; `can_finish_sample` is whether it can stop after one.
    `questions` are those of the last answers, by sample id.
    """

    job: str
    kind: str
    phase: str
    run: str
    began: str
    stopped_at: str | None
    how: How | None
    can_finish_sample: bool
    words: str
    steps: tuple[StepView, ...]
    arms: tuple[ArmProgress, ...]
    questions: dict[str, str]
    parity: Parity | None
    has_report: bool
    ended_well: bool | None


class LiveView:
    """Looks at the newest job; keeps the place in its journals between looks."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._watch: Watch | None = None

    def look(self) -> Live | None:
        """Return the state of the newest job, None when there was none."""
        job = self._jobs.newest()
        if job is None:
            return None
        watch = self._watch
        if watch is None or str(watch.run.path) != job.plan.run:
            watch = self._watch = Watch(job.folder.parent / job.plan.run)
        return view(job, watch)


def view(job: Job, watch: Watch) -> Live:
    """Return the state of a job."""
    arms = watch.look()
    steps = _steps(job)
    last = [arm.last for arm in arms if arm.last is not None]
    shown = {one.sample: found.question for one in last if (found := find_sample(one.track, one.sample)) is not None}
    codes = [step.code for step in steps if step.code is not None]
    has_ended = job.phase in {"ended", "lost"}
    return Live(
        job=job.plan.job,
        kind=job.plan.kind,
        phase=job.phase,
        run=watch.run.name,
        began=job.plan.created,
        stopped_at=job.state.stopped_at if job.state else None,
        how=job.state.how if job.state else None,
        can_finish_sample=any(step.name == "run" and step.state == "running" for step in steps),
        words=_words(job, steps, arms),
        steps=steps,
        arms=arms,
        questions=shown,
        parity=_parity(watch, arms),
        has_report=has_ended and (watch.run.path / "report.html").is_file(),
        ended_well=(job.phase == "ended" and all(code == 0 for code in codes)) if has_ended else None,
    )


def _parity(watch: Watch, arms: tuple[ArmProgress, ...]) -> Parity | None:
    """Return what the probes made so far say; None while there is none."""
    if not any(arm.is_probed for arm in arms):
        return None
    try:
        return judge(read_probes(watch.run), tuple(arm.name for arm in arms))
    except UsageProblem as problem:
        return Parity(state="not checked", reason=str(problem))


def _steps(job: Job) -> tuple[StepView, ...]:
    known = list(job.state.steps) if job.state else []
    found = []
    for number, step in enumerate(job.plan.steps):
        state = known[number] if number < len(known) else None
        word = "waiting"
        if state is not None and state.began is not None:
            word = "ended" if state.ended is not None else "running" if job.is_alive else "lost"
        found.append(StepView(name=step.name, state=word, code=state.code if state else None, typed=step.typed))
    return tuple(found)


def _arm_words(arm: ArmProgress | None) -> str:
    if arm is None:
        return "Loading weights."
    return f"{arm.name} is answering." if arm.last else f"{arm.name} is loaded; checks go before its first sample."


_CODES = {
    0: "finished",
    1: "finished; a sample has no answer or a gate failed",
    2: "stopped before its end",
    3: "ended by a fault of the suite; see the log",
    4: "refused what was asked; see the log",
    5: "found nothing to do",
}


_STOPPING: dict[How, str] = {
    "sample": "Stopping after the sample that is being answered; then the report is written.",
    "now": "Stopping: the sample being answered is let go, and the report of the rest is written.",
    "kill": "Killing the run's processes.",
}


def _words(job: Job, steps: tuple[StepView, ...], arms: tuple[ArmProgress, ...]) -> str:
    match job.phase:
        case "lost":
            return "The run's process is gone and left no word; what it recorded is kept."
        case "stopping":
            return _STOPPING[(job.state.how if job.state else None) or "now"]
        case "running":
            return _going_words(steps, arms)
        case _:
            return _ended_words(job, steps)


def _going_words(steps: tuple[StepView, ...], arms: tuple[ArmProgress, ...]) -> str:
    going = next((step for step in steps if step.state == "running"), None)
    if going is None:
        return "Starting."
    if going.name == "prepare":
        return "Fetching samples; the log says how many bytes are to come."
    if not arms:
        return "Starting: samples are chosen, then weights are loaded."
    return _arm_words(next((arm for arm in arms if arm.state == "going"), None))


def _ended_words(job: Job, steps: tuple[StepView, ...]) -> str:
    last = next((step for step in reversed(steps) if step.code is not None), None)
    if last is None:
        return "Ended before its first step."
    if job.state is not None and job.state.stopped_at is not None:
        return f"Stopped at {job.state.stopped_at[11:19]} UTC."
    if last.name != "run":
        return f"The step {last.name!r} failed with exit code {last.code}; nothing was run."
    meaning = _CODES.get(last.code or 0, f"ended by signal {-(last.code or 0)}")
    return f"The run {meaning} (exit code {last.code})."
