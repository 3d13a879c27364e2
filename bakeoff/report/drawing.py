"""What is drawn, before it is drawn: panels of marks with intervals, in the units of their axes. No matplotlib here."""

import math
from collections.abc import Sequence

import msgspec

from bakeoff.report import numbers
from bakeoff.report.arms import bits_per_weight, marks
from bakeoff.report.charts import score_range
from bakeoff.report.comparing import shown_metric
from bakeoff.report.grid import ordered_arms, tracks_of
from bakeoff.report.results import ArmResult, MetricResult, Results
from bakeoff.report.tables import Table
from bakeoff.report.visible import shortened, visible_line

_LEAST_FOR_SCATTER = 3
_LONGEST_NAME = 28
_PADDING = 0.08
_SAME_PARAMETERS = 0.05
"""Share by which counts of parameters of one model may differ: files count padded vocabularies and heads apart."""
_RATE_BASES: tuple[tuple[float, ...], ...] = (
    (1, 2, 5),
    (1, 2, 3, 4, 5, 6, 8),
)


class Spot(msgspec.Struct, frozen=True, kw_only=True):
    """An arm in a panel; `low` and `high` are the ends of its interval, None where there is none."""

    name: str
    mark: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """An axis: its ends, and its ticks with what stands there."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    is_log: bool = False


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """One plot. `ladders` join the spots of a runtime, by position; `level` is a published value, on the y axis."""

    title: str
    x_title: str
    x: Scale
    y: Scale
    spots: tuple[Spot, ...]
    ladders: tuple[tuple[str, tuple[int, ...]], ...]
    level: float | None = None
    level_text: str = ""
    is_labelled: bool = True


def scatter_panels(results: Results, published: dict[str, float]) -> dict[str, Panel]:
    """Return score against speed for each track with three arms that have both."""
    found: dict[str, Panel] = {}
    for track, tracks in tracks_of(results).items():
        metric = shown_metric(tracks) or ""
        arms = {
            name: (arm, score)
            for name, arm in ordered_arms(results).items()
            if arm.samples_per_s and (score := _drawn(arm, track, metric)) is not None
        }
        domain = score_range((score for _, score in arms.values()), published.get(track))
        if len(arms) < _LEAST_FOR_SCATTER or domain is None:
            continue
        rates = {name: (arm.samples_per_s or 0.0) * 60.0 for name, (arm, _) in arms.items()}
        level = published.get(track)
        is_near = level is not None and domain[0] <= level * 100.0 <= domain[1]
        found[track] = Panel(
            title=f"{tracks[0].title}, {metric}, %",
            x_title="samples per minute, log →",
            x=rate_scale(list(rates.values())),
            y=Scale(low=domain[0], high=domain[1], ticks=_whole_ticks(domain)),
            spots=_spots(results, {name: (rates[name], score) for name, (_, score) in arms.items()}),
            ladders=_ladders(results, list(arms)),
            level=level * 100.0 if is_near and level is not None else None,
            level_text=f"published {numbers.score(level, 1000)}" if is_near else "",
        )
    return found


def ladder_panels(results: Results) -> tuple[Panel, ...]:
    """Return score by track, speed and memory against measured bits per weight; none without a ladder to draw."""
    bits = {name: found for name, arm in results.arms.items() if (found := bits_per_weight(arm.identity)) is not None}
    order = [name for name in ordered_arms(results) if name in bits]
    if not any(len({bits[order[i]] for i in rungs}) > 1 for _, rungs in _ladders(results, order)):
        return ()
    x = _linear(list(bits.values()), least=1.0)
    panels: list[Panel] = []

    def add(title: str, y: Scale, values: dict[str, MetricResult], factor: float = 1.0) -> None:
        spots = _spots(results, {name: (bits[name], value) for name, value in values.items()}, factor)
        ladders = _ladders(results, list(values))
        panels.append(Panel(title=title, x_title="", x=x, y=y, spots=spots, ladders=ladders, is_labelled=False))

    for track, tracks in tracks_of(results).items():
        metric = shown_metric(tracks) or ""
        scores = {name: m for name in order if (m := _drawn(results.arms[name], track, metric)) is not None}
        domain = score_range(scores.values())
        if domain and scores:
            add(
                f"{tracks[0].title}, {metric}, %",
                Scale(low=domain[0], high=domain[1], ticks=_whole_ticks(domain)),
                scores,
                100.0,
            )
    for title, values in (
        ("Samples per minute", {n: (results.arms[n].samples_per_s or 0.0) * 60.0 for n in order}),
        ("Peak memory, GB", {n: (results.arms[n].peak_memory_bytes or 0) / 1e9 for n in order}),
    ):
        known = {name: MetricResult(value=value, ci95=None, n=0) for name, value in values.items() if value > 0}
        if known:
            add(title, _linear([0.0, *(m.value or 0.0 for m in known.values())]), known)
    return tuple(msgspec.structs.replace(panel, x_title="bits per weight") for panel in panels)


def ladder_table(results: Results) -> Table:
    """Return the numbers behind the drawings of the ladder, one row an arm whose bits are known."""
    tracks = tracks_of(results)
    shown = {name: shown_metric(found) or "" for name, found in tracks.items()}
    heads = (
        "Arm",
        "Bits per weight",
        "Weights",
        *(found[0].title for found in tracks.values()),
        "Samples/min",
        "Peak memory",
    )
    rows = tuple(
        (
            name,
            numbers.bits(bits),
            numbers.memory(size) if isinstance(size := arm.identity.get("weights_bytes"), int) else numbers.NO_DATA,
            *(_score_text(arm, track, shown[track]) for track in tracks),
            numbers.per_minute(arm.samples_per_s),
            numbers.memory(arm.peak_memory_bytes),
        )
        for name, arm in ordered_arms(results).items()
        if (bits := bits_per_weight(arm.identity)) is not None
    )
    return heads, rows


def rate_scale(rates: Sequence[float]) -> Scale:
    """Return a logarithmic axis that holds all rates, with at least three round ticks where there is room."""
    low, high = min(rates) / 10**0.12, max(rates) * 10**0.12
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside: list[float] = []
    for bases in _RATE_BASES:
        inside = [v for e in exponents for base in bases if low <= (v := base * 10.0**e) <= high]
        if len(inside) >= 3:  # noqa: PLR2004 -- two ends and one between
            break
    else:
        step = _step(high - low, most=8)  # of which three at least fit in, wherever it begins
        inside = [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    ticks = tuple((value, numbers.per_minute(value / 60.0)) for value in inside)
    return Scale(low=low, high=high, ticks=ticks, is_log=True)


def _drawn(arm: ArmResult, track: str, metric: str) -> MetricResult | None:
    """Return the score of an arm on a track if it has an interval to draw."""
    found = arm.tracks[track].metrics.get(metric) if track in arm.tracks else None
    is_drawn = found is not None and found.value is not None and found.ci95 is not None
    return found if is_drawn and found is not None and found.n >= numbers.TOO_FEW_FOR_AN_INTERVAL else None


def _score_text(arm: ArmResult, track: str, metric: str) -> str:
    found = arm.tracks[track].metrics.get(metric) if track in arm.tracks else None
    return numbers.score(found.value, found.n) if found else numbers.NO_DATA


def _spots(results: Results, values: dict[str, tuple[float, MetricResult]], factor: float = 100.0) -> tuple[Spot, ...]:
    mark_of = marks(tuple(arm.backend for arm in ordered_arms(results).values()))
    return tuple(
        Spot(
            name=shortened(visible_line(name), _LONGEST_NAME),
            mark=mark_of[results.arms[name].backend],
            x=x,
            y=(found.value or 0.0) * factor,
            low=found.ci95[0] * factor if found.ci95 else None,
            high=found.ci95[1] * factor if found.ci95 else None,
        )
        for name, (x, found) in values.items()
    )


def _ladders(results: Results, names: Sequence[str]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return mark and positions in `names` of the arms of each runtime that has several, from most to fewest bits.

    Arms that count other numbers of parameters are other models and stand on a ladder of their own.
    """
    mark_of = marks(tuple(arm.backend for arm in ordered_arms(results).values()))
    ladders: list[tuple[str, float, list[tuple[float, int]]]] = []
    for position, name in enumerate(names):
        arm = results.arms[name]
        bits, parameters = bits_per_weight(arm.identity), float(arm.identity.get("parameters") or 0)
        if bits is None:
            continue
        fitting = (
            rungs
            for backend, count, rungs in ladders
            if backend == arm.backend and abs(count - parameters) <= _SAME_PARAMETERS * max(count, parameters)
        )
        rungs = next(fitting, None)
        if rungs is None:
            rungs = []
            ladders.append((arm.backend, parameters, rungs))
        rungs.append((-bits, position))
    return tuple(
        (mark_of[backend], tuple(position for _, position in sorted(rungs)))
        for backend, _, rungs in ladders
        if len(rungs) > 1
    )


def _whole_ticks(domain: tuple[int, int], most: int = 6) -> tuple[tuple[float, str], ...]:
    step = next(s for s in (1, 2, 5, 10, 20, 50) if (domain[1] - domain[0]) / s <= most)
    first = math.ceil(domain[0] / step) * step
    return tuple((float(value), str(value)) for value in range(first, domain[1] + 1, step))


def _linear(values: Sequence[float], least: float = 0.0) -> Scale:
    """Return an axis from the least to the greatest value with room at both ends and a handful of round ticks."""
    low, high = min(values), max(values)
    room = max((high - low) * _PADDING, least / 2, high * 0.02)
    low, high = (low - room if low else 0.0), high + room
    step = _step(high - low, most=5)
    decimals = max(-math.floor(math.log10(step) + 1e-9), 0)
    ticks = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return Scale(low=low, high=high, ticks=tuple((i * step, _tick(i * step, decimals)) for i in ticks))


def _step(length: float, most: int) -> float:
    """Return the least round step that goes into a length `most` times or less."""
    return next(base * 10.0**e for e in range(-6, 12) for base in (1, 2, 5) if length / (base * 10.0**e) <= most)


def _tick(value: float, decimals: int) -> str:
    return numbers.whole(value) if decimals == 0 else f"{value:.{decimals}f}"
