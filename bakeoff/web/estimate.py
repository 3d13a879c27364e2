"""How long a run may take, from what this very machine did before; nothing is guessed where nothing was measured."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import msgspec
import psutil

from bakeoff.web.asked import Start
from bakeoff.web.choices import TrackRow
from bakeoff.web.index import RunRow

_RECENT = 5


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of all arms together, and how long they may take.

    `seconds` is None where an arm was never run on this machine; `unknown` names those. `runs` is how many past runs
    the figure comes from.
    """

    answers: int
    seconds: float | None
    unknown: tuple[str, ...]
    runs: int


def this_machine() -> tuple[object, ...]:
    """Return what `index.machine_of` says of a run that was made here."""
    return (platform.machine(), psutil.cpu_count(logical=True), psutil.virtual_memory().total)


def estimate(
    asked: Start, models: Sequence[str], tracks: Iterable[TrackRow], past: Sequence[RunRow], missing: Mapping[str, int]
) -> Estimate:
    """Return the time that the arms need for the tracks asked for, once the `missing` samples are fetched.

    An arm's pace is the median of its last runs here, those on the same tracks before others.
    """
    samples = 0
    for row in tracks:
        if row.name in asked.tracks:
            limit, there = asked.limit_of(row.name), missing.get(row.name, row.prepared or 0)
            samples += there if limit is None else min(limit, there)
    here = this_machine()
    mine = [run for run in past if run.machine == here]
    total, unknown, used = 0.0, [], set()
    for model in models:
        runs = [run for run in mine if model in run.rates]
        same = [run for run in runs if set(run.tracks) == set(asked.tracks)] or runs
        if not same:
            unknown.append(model)
            continue
        recent = same[:_RECENT]
        used |= {run.run for run in recent}
        total += samples / median(run.rates[model] for run in recent)
        total += median([run.loads.get(model, 0.0) for run in recent])
    return Estimate(
        answers=samples * len(models),
        seconds=None if unknown or not models else total,
        unknown=tuple(unknown),
        runs=len(used),
    )
