"""Geometry of the drawings: where dots, intervals and ticks lie. Templates draw them; nothing is formatted there.

Strips and forests are in percent of their width, so they stretch without stretching their text; the scatter is in
pixels of its viewBox.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import count as counting

import msgspec

from bakeoff.report import numbers
from bakeoff.report.results import Comparison, MetricResult

_LEAST_WIDTH = 4  # points: noise is not to be blown up
_MOST_TICKS = 9
_TICK_ROOM = 36  # pixels
_TICK_BASES: tuple[tuple[float, ...], ...] = (
    (1, 2, 5),
    (1, 2, 3, 4, 5, 6, 8),
    tuple(tenths / 10 for tenths in range(10, 100, 2)),
)
_CHARACTER = 7.2  # width of a 13 px semibold character, on the safe side


class Strip(msgspec.Struct, frozen=True, kw_only=True):
    """A dot on an interval line, in percent of the width."""

    at: str
    low: str
    high: str


class Tick(msgspec.Struct, frozen=True, kw_only=True):
    """A tick of an axis: where, and what stands there."""

    at: str
    label: str


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """The axis of a forest plot: ticks, zero, and the margin's band, in percent."""

    ticks: tuple[Tick, ...]
    zero: str
    band_at: str
    band_width: str


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    """An arm in the scatter, in pixels; `label_at` is None when no place is free and the label stands beside."""

    mark: str
    name: str
    x: str
    y: str
    low: str
    high: str
    label_x: str | None
    label_y: str | None
    anchor: str


class Scatter(msgspec.Struct, frozen=True, kw_only=True):
    """Score against speed."""

    width: int
    height: int
    dots: tuple[Dot, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    left: int
    right: int
    top: int
    bottom: int
    unplaced: tuple[str, ...]


def score_range(metrics: Iterable[MetricResult]) -> tuple[int, int] | None:
    """Return the range of a track's strips in percent: all intervals, padded, outward to whole numbers, never tiny."""
    drawn = [m for m in metrics if m.value is not None and m.n >= numbers.TOO_FEW_FOR_AN_INTERVAL]
    ends = [end * 100.0 for metric in drawn for end in metric.ci95 or ()]
    if not ends:
        return None
    low, high = max(math.floor(min(ends) - 0.5), 0), min(math.ceil(max(ends) + 0.5), 100)
    while high - low < _LEAST_WIDTH:
        low, high = max(low - 1, 0), min(high + 1, 100)
    return low, high


def strip(metric: MetricResult, domain: tuple[int, int] | None) -> Strip | None:
    """Return the strip of a score; none without an interval or with too few samples for one."""
    if metric.value is None or metric.ci95 is None or domain is None or metric.n < numbers.TOO_FEW_FOR_AN_INTERVAL:
        return None
    low, high = (_share(end * 100.0, domain) for end in metric.ci95)
    return Strip(at=_share(metric.value * 100.0, domain), low=low, high=high)


def forest_axis(comparisons: Sequence[Comparison], margin: float) -> Axis:
    """Return a symmetric axis that holds all intervals and one and a half margins, with round ticks."""
    reach = _reach(comparisons, margin)
    step = next(s for s in _steps() if 2 * _whole_steps(reach, s) + 1 <= _MOST_TICKS)
    most = _whole_steps(reach, step)
    decimals = 0 if step >= 1 else 1
    domain = (-reach, reach)
    ticks = tuple(
        Tick(at=_share(i * step, domain), label=numbers.signed(i * step, decimals) if i else "0")
        for i in range(-most, most + 1)
    )
    width = 2 * margin / (2 * reach) * 100.0
    return Axis(ticks=ticks, zero=_share(0.0, domain), band_at=_share(-margin, domain), band_width=f"{width:.2f}%")


def forest_strip(comparison: Comparison, comparisons: Sequence[Comparison], margin: float) -> Strip | None:
    """Return the strip of a difference on the axis of `forest_axis`; none without a verdict."""
    if comparison.ci95_pp is None or comparison.diff_pp is None:
        return None
    reach = _reach(comparisons, margin)
    at, low, high = (_share(end, (-reach, reach)) for end in (comparison.diff_pp, *comparison.ci95_pp))
    return Strip(at=at, low=low, high=high)


def scatter(
    arms: Sequence[tuple[str, str, float, MetricResult]], width: int, height: int, domain: tuple[int, int]
) -> Scatter:
    """Return the scatter of arms (mark, name, samples per second, score): speed on a logarithmic axis."""
    left, right, top, bottom = 44, width - 16, 16, height - 40
    rates = [rate * 60.0 for _, _, rate, _ in arms]
    x_low, x_high = math.log10(min(rates)) - 0.12, math.log10(max(rates)) + 0.12

    def x(rate: float) -> float:
        return left + (math.log10(rate) - x_low) / (x_high - x_low) * (right - left)

    def y(percent: float) -> float:
        return bottom - (percent - domain[0]) / (domain[1] - domain[0]) * (bottom - top)

    spots = [
        (x(rate), y((metric.value or 0.0) * 100.0), *(y(end * 100.0) for end in metric.ci95 or (0.0, 0.0)))
        for rate, (_, _, _, metric) in zip(rates, arms, strict=True)
    ]
    taken = [(px - 8, min(hi, py - 8), px + 8, max(lo, py + 8)) for px, py, lo, hi in spots]
    dots: list[Dot] = []
    for (mark, name, _, _), (px, py, lo, hi) in zip(arms, spots, strict=True):
        place = _place(name, px, py, taken, (left, top, right, bottom))
        if place:
            taken.append(place[3])
        dots.append(
            Dot(
                mark=mark,
                name=name,
                x=f"{px:.1f}",
                y=f"{py:.1f}",
                low=f"{lo:.1f}",
                high=f"{hi:.1f}",
                label_x=f"{place[0]:.1f}" if place else None,
                label_y=f"{place[1]:.1f}" if place else None,
                anchor=place[2] if place else "start",
            )
        )
    step = next(int(s) for s in _steps() if s >= 1 and (domain[1] - domain[0]) / s <= 6)  # noqa: PLR2004 -- ticks
    y_values = range(math.ceil(domain[0] / step) * step, domain[1] + 1, step)
    return Scatter(
        width=width,
        height=height,
        dots=tuple(dots),
        x_ticks=tuple(
            Tick(at=f"{x(rate):.1f}", label=_rate(rate)) for rate in _log_ticks(10**x_low, 10**x_high, right - left)
        ),
        y_ticks=tuple(Tick(at=f"{y(value):.1f}", label=str(value)) for value in y_values),
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        unplaced=tuple(dot.name for dot in dots if dot.label_x is None),
    )


Box = tuple[float, float, float, float]


def _place(name: str, x: float, y: float, taken: Sequence[Box], frame: Box) -> tuple[float, float, str, Box] | None:
    """Return a free place for a label: right below, right above, left below, left above; none when all are taken."""
    width = len(name) * _CHARACTER
    for right, dy in ((True, 16), (True, -10), (False, 16), (False, -10)):
        at = x + 10 if right else x - 10
        box = (at, y + dy - 12, at + width, y + dy + 4) if right else (at - width, y + dy - 12, at, y + dy + 4)
        is_inside = box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
        if is_inside and not any(_overlap(box, other) for other in taken):
            return at, y + dy, "start" if right else "end", box
    return None


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _whole_steps(reach: float, step: float) -> int:
    return math.floor(reach / step + 1e-9)


def _reach(comparisons: Sequence[Comparison], margin: float) -> float:
    ends = [abs(end) for comparison in comparisons if comparison.ci95_pp for end in comparison.ci95_pp]
    return max(*ends, 1.5 * margin, 0.5) if ends else max(1.5 * margin, 0.5)


def _steps() -> Iterable[float]:
    """Yield 0.1, 0.2, 0.5, 1, 2, 5, 10, and so on."""
    for exponent in counting(-1):
        yield from (base * 10.0**exponent for base in (1, 2, 5))


def _log_ticks(low: float, high: float, pixels: float) -> list[float]:
    """Return round rates between `low` and `high`, the coarsest that are at least three, none too near another."""
    inside: list[float] = []
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for bases in _TICK_BASES:
        found = [base * 10.0**exponent for exponent in exponents for base in bases]
        inside = [value for value in found if low <= value <= high]
        if len(inside) >= 3:  # noqa: PLR2004 -- two ends and one between
            break
    ticks: list[float] = []
    for value in inside:
        if not ticks or math.log10(value / ticks[-1]) / math.log10(high / low) * pixels >= _TICK_ROOM:
            ticks.append(value)
    return ticks


def _rate(rate: float) -> str:
    return numbers.per_minute(rate / 60.0) if rate < 10 else numbers.count(round(rate))  # noqa: PLR2004 -- as per_minute


def _share(value: float, domain: tuple[float, float]) -> str:
    return f"{(value - domain[0]) / (domain[1] - domain[0]) * 100.0:.2f}%"
