"""Geometry of the strips in tables: where dots, intervals and ticks lie. Templates draw them; no number is made text.

Strips and forests are in percent of their width, so they stretch without stretching their text.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import count as counting

import msgspec

from bakeoff.report import numbers
from bakeoff.report.results import Comparison, MetricResult

_LEAST_WIDTH = 4  # points: noise is not to be blown up
_MOST_TICKS = 9


class Strip(msgspec.Struct, frozen=True, kw_only=True):
    """A dot on an interval line, in percent of the width; `published` is where another's value lies, if it is near."""

    at: str
    low: str
    high: str
    published: str | None = None


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


def score_range(metrics: Iterable[MetricResult], published: float | None = None) -> tuple[int, int] | None:
    """Return the range of a track's strips in percent: all intervals, padded, outward to whole numbers, never tiny.

    A published value widens it to twice its width at most; one further away is a number without a mark.
    """
    drawn = [m for m in metrics if m.value is not None and m.n >= numbers.TOO_FEW_FOR_AN_INTERVAL]
    ends = [end * 100.0 for metric in drawn for end in metric.ci95 or ()]
    if not ends:
        return None
    if published is not None:
        value, width = published * 100.0, max(ends) - min(ends)
        ends += [value] if max(ends) - width * 2 <= value <= min(ends) + width * 2 else []
    low, high = max(math.floor(min(ends) - 0.5), 0), min(math.ceil(max(ends) + 0.5), 100)
    while high - low < _LEAST_WIDTH:
        low, high = max(low - 1, 0), min(high + 1, 100)
    return low, high


def strip(metric: MetricResult, domain: tuple[int, int] | None, published: float | None = None) -> Strip | None:
    """Return the strip of a score; none without an interval or with too few samples for one."""
    if metric.value is None or metric.ci95 is None or domain is None or metric.n < numbers.TOO_FEW_FOR_AN_INTERVAL:
        return None
    low, high = (_share(end * 100.0, domain) for end in metric.ci95)
    is_near = published is not None and domain[0] <= published * 100.0 <= domain[1]
    mark = _share(published * 100.0, domain) if is_near and published is not None else None
    return Strip(at=_share(metric.value * 100.0, domain), low=low, high=high, published=mark)


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


def _whole_steps(reach: float, step: float) -> int:
    return math.floor(reach / step + 1e-9)


def _reach(comparisons: Sequence[Comparison], margin: float) -> float:
    ends = [abs(end) for comparison in comparisons if comparison.ci95_pp for end in comparison.ci95_pp]
    return max(*ends, 1.5 * margin, 0.5) if ends else max(1.5 * margin, 0.5)


def _steps() -> Iterable[float]:
    """Yield 0.1, 0.2, 0.5, 1, 2, 5, 10, and so on."""
    for exponent in counting(-1):
        yield from (base * 10.0**exponent for base in (1, 2, 5))


def _share(value: float, domain: tuple[float, float]) -> str:
    return f"{(value - domain[0]) / (domain[1] - domain[0]) * 100.0:.2f}%"
