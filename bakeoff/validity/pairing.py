"""Which values of records a metric is the mean of, so that two arms can be compared on it sample by sample.

A track gives metrics as numbers, not as rules. What is assumed here about a metric is therefore checked: the mean of
the values must be the track's own number on the same records, else the metric is not paired at all.
"""

import math
from collections.abc import Callable, Sequence

import msgspec

from bakeoff.metrics import Metric, Value, macro_metric, mean_metric, named, score_of
from bakeoff.records import Record
from bakeoff.tracks import Track

_TOLERANCE = 1e-9


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """A metric as a mean: `value` of the records that `belongs` accepts, `strata` weighing the same where given."""

    metric: str
    value: Value
    belongs: Callable[[Record], bool]
    strata: str | None = None


def pair_metric(track: Track, metric: str | None, records: Sequence[Record]) -> Pairing | str:
    """Return how `metric` (None: the primary one) is paired, or why it cannot be.

    Args:
        track: whose metric it is.
        metric: its name, as the report prints it.
        records: answered records of one arm, to check the rule against the track's number.
    """
    metrics = track.metrics(records)
    name = metric or next((key for key, found in metrics.items() if found.primary), None)
    if name is None or name not in metrics:
        return f"no metric {metric!r}; {track.name} has {', '.join(sorted(metrics))}"
    if metrics[name].value is None:
        return f"{name} needs samples of every group"
    for pairing in _candidates(track, name, is_primary=metrics[name].primary):
        if _agrees(pairing, metrics[name], records):
            return pairing
    return f"{name} is not a mean over samples that can be paired; leave the metric out to compare the primary one"


def _candidates(track: Track, name: str, *, is_primary: bool) -> list[Pairing]:
    dimension, colon, group = name.partition(":")
    found = []
    if is_primary:
        found.append(Pairing(metric=name, value=score_of, belongs=_all, strata=track.macro))
    if colon:
        found.append(Pairing(metric=name, value=score_of, belongs=lambda record: record.groups.get(dimension) == group))
    found.append(Pairing(metric=name, value=named(name), belongs=_all))
    found.append(Pairing(metric=name, value=named(name), belongs=_all, strata=track.macro))
    if name == "micro":
        found.append(Pairing(metric=name, value=score_of, belongs=_all))
    return found


def _all(record: Record) -> bool:
    del record
    return True


def _agrees(pairing: Pairing, metric: Metric, records: Sequence[Record]) -> bool:
    chosen = [record for record in records if pairing.belongs(record)]
    try:
        if pairing.strata is None:
            found = mean_metric(chosen, value=pairing.value)
        else:
            found = macro_metric(chosen, pairing.strata, value=pairing.value)
    except ValueError:
        return False  # the values or the groups are not there
    if found.value is None or metric.value is None:
        return False
    return found.n == metric.n and math.isclose(found.value, metric.value, abs_tol=_TOLERANCE)
