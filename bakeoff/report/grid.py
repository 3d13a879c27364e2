"""The score grid: arms by tracks, every cell with its interval, its n where it is not the column's, its awkwardness."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from bakeoff.report import numbers
from bakeoff.report.arms import marks, place, runtime
from bakeoff.report.charts import Strip, score_range, strip
from bakeoff.report.comparing import shown_metric
from bakeoff.report.results import ArmResult, MetricResult, Results, TrackResult

_ROUNDING = 1e-9
_LOUD_SHARE = 0.01  # unparsed answers are told in the cell from here on


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """Head of a track's column. `low` and `high` label the range of its strips."""

    track: str
    title: str
    metric: str
    n: str
    scope: str
    is_sample: bool
    low: str
    high: str


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """What must be known beside a value; `is_bad` when it can move the score."""

    text: str
    is_bad: bool = False


class Beside(msgspec.Struct, frozen=True, kw_only=True):
    """What stands beside a track's scores, as fractions: a published value of that metric, a constant answer's."""

    published: float | None = None
    floor: float | None = None


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One arm on one track: a value with its interval, or the words that stand in their place."""

    value: str
    interval: str
    strip: Strip | None
    flags: tuple[Flag, ...]
    void: str | None = None
    reason: str | None = None
    is_highest: bool = False


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One arm. `opens_group` is True on the first arm of a runtime."""

    arm: str
    mark: str
    runtime: str
    opens_group: bool
    cells: tuple[Cell, ...]
    speed: str
    memory: str


class Grid(msgspec.Struct, frozen=True, kw_only=True):
    """The whole table, with the legend of its marks and the arms in the order shown."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    legend: tuple[tuple[str, str], ...]
    size: Literal["one", "few", "many"]


def ordered_arms(results: Results) -> dict[str, ArmResult]:
    """Return the arms by runtime, runtimes and arms in the order asked for: never by score."""
    backends = tuple(dict.fromkeys(arm.backend for arm in results.arms.values()))
    return {name: arm for backend in backends for name, arm in results.arms.items() if arm.backend == backend}


def tracks_of(results: Results) -> dict[str, tuple[TrackResult, ...]]:
    """Return the results of every track, tracks in the run's order."""
    found: dict[str, list[TrackResult]] = {}
    for arm in results.arms.values():
        for name, track in arm.tracks.items():
            found.setdefault(name, []).append(track)
    return {name: tuple(tracks) for name, tracks in found.items()}


def score_grid(results: Results, beside: Mapping[str, Beside] | None = None) -> Grid:
    """Lay out the grid, `beside` holding by track what no arm of the run scored."""
    arms, tracks, others = ordered_arms(results), tracks_of(results), beside or {}
    shown = {name: shown_metric(found) for name, found in tracks.items()}
    ranges = {
        name: score_range(
            (m for track in found if (m := track.metrics.get(shown[name] or "")) is not None),
            others.get(name, Beside()).published,
        )
        for name, found in tracks.items()
    }
    highest = {name: _highest(found, shown[name]) for name, found in tracks.items()}
    mark_of = marks(tuple(arm.backend for arm in arms.values()))
    before: str | None = None
    rows: list[Row] = []
    for name, arm in arms.items():
        cells = tuple(
            _cell(
                arm.tracks.get(track),
                shown[track],
                ranges[track],
                most=_column_n(tracks[track], shown[track]),
                highest=highest[track],
                beside=others.get(track, Beside()),
            )
            for track in tracks
        )
        rows.append(
            Row(
                arm=name,
                mark=mark_of[arm.backend],
                runtime=place(arm),
                opens_group=before is not None and before != arm.backend,
                cells=cells,
                speed=numbers.per_minute(arm.samples_per_s),
                memory=numbers.memory(arm.peak_memory_bytes),
            )
        )
        before = arm.backend
    return Grid(
        columns=tuple(_column(name, found, shown[name], ranges[name]) for name, found in tracks.items()),
        rows=tuple(rows),
        legend=tuple((mark, runtime(backend)) for backend, mark in mark_of.items()),
        size="one" if len(tracks) == 1 else "few" if len(tracks) <= 5 else "many",  # noqa: PLR2004 -- as design.md
    )


def _column(name: str, tracks: Sequence[TrackResult], metric: str | None, domain: tuple[int, int] | None) -> Column:
    selected = max((track.selected or 0 for track in tracks), default=0)
    full = max((track.full or 0 for track in tracks), default=0)
    is_sample = 0 < selected < full
    return Column(
        track=name,
        title=tracks[0].title,
        metric=_metric_text(tracks, metric),
        n=numbers.count(_column_n(tracks, metric)),
        scope=f"sample of {numbers.count(full)}" if is_sample else "all samples" if selected and full else "",
        is_sample=is_sample,
        low=str(domain[0]) if domain else "",
        high=str(domain[1]) if domain else "",
    )


def _metric_text(tracks: Sequence[TrackResult], metric: str | None) -> str:
    if metric is None:
        return "no metric in this version" if not tracks[0].is_known else "no answers yet"
    primary = next((name for t in tracks for name, found in t.metrics.items() if found.primary), metric)
    return f"{metric}, %" if metric == primary else f"{metric}, % ({primary} needs all its groups)"


def _column_n(tracks: Sequence[TrackResult], metric: str | None) -> int:
    return max((t.metrics[metric].n if metric in t.metrics else t.n for t in tracks), default=0) if metric else 0


def _highest(tracks: Sequence[TrackResult], metric: str | None) -> float | None:
    """Return the greatest value of a column; None where fewer than two arms have one on all its samples."""
    most = _column_n(tracks, metric)
    values = [m.value for t in tracks if (m := t.metrics.get(metric or "")) and m.n == most and m.value is not None]
    return max(values) if len(values) > 1 else None


def _cell(
    track: TrackResult | None,
    metric: str | None,
    domain: tuple[int, int] | None,
    *,
    most: int,
    highest: float | None,
    beside: Beside,
) -> Cell:
    if track is None:
        return _void("not run", None)
    found = track.metrics.get(metric or "")
    if found is None or found.value is None:
        return _void(*_why_void(track), flags=_flags(track, None, most))
    is_too_few = found.n < numbers.TOO_FEW_FOR_AN_INTERVAL
    is_count = is_too_few and track.right is not None and track.n == found.n and _is_share(track, found)
    return Cell(
        value=numbers.counted(track.right, track.n) if is_count else numbers.score(found.value, found.n),
        interval="too few for an interval" if is_too_few else numbers.score_interval(found.ci95, found.n),
        strip=strip(found, domain, beside.published),
        flags=(*_flags(track, found, most), *_floor_flags(found, beside.floor)),
        is_highest=highest is not None and highest - found.value < _ROUNDING and found.n == most,
    )


def _floor_flags(found: MetricResult, floor: float | None) -> tuple[Flag, ...]:
    """Say that an interval reaches down to what a constant answer scores: nothing was shown to be seen."""
    if floor is None or found.ci95 is None or found.ci95[0] > floor:
        return ()
    return (Flag(text="not shown to beat a constant answer", is_bad=True),)


def _is_share(track: TrackResult, found: MetricResult) -> bool:
    """Return whether the metric is the plain share of right answers, so that it can be told as a count."""
    return found.value is not None and abs(found.value * track.n - (track.right or 0)) < _ROUNDING


def _why_void(track: TrackResult) -> tuple[str, str | None]:
    if not track.is_known and track.n:
        return "not scored", "this version does not know the track"
    if not track.n:
        if track.skipped and not track.errors:
            return "not asked", "its runtime cannot take these samples"
        return ("no answer", "errors only") if track.errors else ("no answer yet", None)
    lacking = [
        flag.partition(":")[2] for m in track.metrics.values() for flag in m.flags if flag.startswith("missing:")
    ]
    return "no value", f"no sample of {', '.join(dict.fromkeys(lacking))}" if lacking else None


def _void(void: str, reason: str | None, flags: tuple[Flag, ...] = ()) -> Cell:
    return Cell(value=numbers.NO_DATA, interval="", strip=None, flags=flags, void=void, reason=reason)


def _flags(track: TrackResult, found: MetricResult | None, most: int) -> tuple[Flag, ...]:
    flags: list[Flag] = []
    if track.selected is not None and track.n + track.errors + track.skipped < track.selected:
        flags.append(Flag(text=f"◐ {numbers.counted(track.n, track.selected)} answered", is_bad=False))
    elif found is not None and found.n != most:
        flags.append(Flag(text=f"n {numbers.count(found.n)}", is_bad=False))
    if track.truncated:
        flags.append(Flag(text=f"⊣ {numbers.counted(track.truncated, track.n)} cut off", is_bad=True))
    if track.skipped:
        flags.append(Flag(text=f"{numbers.count(track.skipped)} skipped", is_bad=False))
    if track.errors:
        flags.append(
            Flag(text=f"{numbers.count(track.errors)} {'error' if track.errors == 1 else 'errors'}", is_bad=True)
        )
    if track.n and track.unparsed / track.n > _LOUD_SHARE:
        flags.append(Flag(text=f"{numbers.count(track.unparsed)} unparsed", is_bad=False))
    return tuple(flags)
