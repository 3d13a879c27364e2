"""Records to numbers, each with how many samples it rests on and a 95 % interval.

An error is never a score: records with status `error` are left out here and counted by the caller. A truncated output
is the model's own and is scored. A mean of nothing is absent (`value` None), never 0.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from bakeoff.records import Record

if TYPE_CHECKING:
    from bakeoff.stats import Interval

Value = Callable[[Record], float | None]


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A number of a report: a fraction in [0, 1], its interval, and the number of samples behind it.

    `flags` are those of `bakeoff.stats.Interval`, and `missing:<group>` for each group a macro mean lacks.
    """

    value: float | None
    ci95: tuple[float, float] | None
    n: int
    primary: bool = False
    flags: tuple[str, ...] = ()


def score_of(record: Record) -> float | None:
    """Return the score of a record."""
    return record.score


def named(metric: str) -> Value:
    """Return the function that reads a scorer's further metric, such as `anls_raw`, from a record."""

    def value(record: Record) -> float | None:
        return record.metrics.get(metric)

    return value


def scored(records: Iterable[Record]) -> list[Record]:
    """Return the records that hold a score.

    Raises:
        ValueError: when a sample id occurs twice in a track, errors included: the journal's reader keeps the last.
    """
    seen: set[tuple[str, str]] = set()
    found = []
    for record in records:
        key = (record.track, record.sample_id)
        if key in seen:
            raise ValueError(f"duplicate sample id: {record.sample_id} of {record.track} is recorded twice")
        seen.add(key)
        if record.status != "error":
            found.append(record)
    return found


def mean_metric(records: Iterable[Record], *, value: Value = score_of, primary: bool = False) -> Metric:
    """Return the mean over samples, clustered by image.

    Raises:
        ValueError: on a duplicate sample id, a value that is missing from a scored record, or one outside [0, 1].
    """
    found = scored(records)
    return _metric(_interval(_values(found, value), clusters=[record.cluster for record in found]), primary=primary)


def macro_metric(
    records: Iterable[Record],
    dimension: str,
    *,
    expected: Sequence[str] | None = None,
    value: Value = score_of,
    primary: bool = False,
) -> Metric:
    """Return the unweighted mean of the means of a dimension's groups.

    Absent unless each of the `expected` groups holds a scored sample: a macro mean over other groups is another
    number. Without `expected`, the groups present are meant.

    Raises:
        ValueError: as `mean_metric`; also on a record that is in no group of the dimension or in an unexpected one.
    """
    found = scored(records)
    strata = [_group(record, dimension) for record in found]
    present = set(strata)
    if expected is not None and (unexpected := present - set(expected)):
        raise ValueError(f"{dimension} has groups that nobody expects: {', '.join(sorted(unexpected))}")
    lacking = [group for group in expected or () if group not in present]
    if lacking:
        return Metric(
            value=None, ci95=None, n=len(found), primary=primary, flags=tuple(f"missing:{group}" for group in lacking)
        )
    clusters = [record.cluster for record in found]
    return _metric(_interval(_values(found, value), clusters=clusters, strata=strata), primary=primary)


def group_metrics(
    records: Iterable[Record], dimensions: Sequence[str] | None = None, *, value: Value = score_of
) -> dict[str, dict[str, Metric]]:
    """Return the mean of each group of each dimension.

    Dimensions come in the order given, or sorted when it is left to the records; groups are sorted. A record without
    a dimension is not in any group of it.

    Raises:
        ValueError: as `mean_metric`.
    """
    found = scored(records)
    if dimensions is None:
        dimensions = sorted({dimension for record in found for dimension in record.groups})
    return {dimension: _by_group(found, dimension, value) for dimension in dimensions}


def _interval(scores: list[float], *, clusters: list[str], strata: list[str] | None = None) -> "Interval":
    """Return the interval; the statistics are loaded at the first number, not by everyone who names a track."""
    from bakeoff.stats import interval  # noqa: PLC0415 - see above

    return interval(scores, clusters=clusters, strata=strata)


def _by_group(records: Sequence[Record], dimension: str, value: Value) -> dict[str, Metric]:
    """Return the mean of each group, sorted by name."""
    members: dict[str, list[Record]] = {}
    for record in records:
        if dimension in record.groups:
            members.setdefault(record.groups[dimension], []).append(record)
    return {group: mean_metric(members[group], value=value) for group in sorted(members)}


def _values(records: Sequence[Record], value: Value) -> list[float]:
    """Return a value for each record.

    Raises:
        ValueError: when a record has none; a mean over the rest would hide it.
    """
    values = []
    for record in records:
        found = value(record)
        if found is None:
            raise ValueError(f"{record.sample_id} of {record.track} lacks this value; rescore the run")
        values.append(found)
    return values


def _group(record: Record, dimension: str) -> str:
    """Return the record's group."""
    groups: Mapping[str, str] = record.groups
    if dimension not in groups:
        raise ValueError(f"{record.sample_id} of {record.track} is in no group of {dimension}")
    return groups[dimension]


def _metric(found: "Interval", *, primary: bool) -> Metric:
    """Return an interval as a metric."""
    ci95 = None if found.low is None or found.high is None else (found.low, found.high)
    return Metric(value=found.value, ci95=ci95, n=found.n, primary=primary, flags=found.flags)
