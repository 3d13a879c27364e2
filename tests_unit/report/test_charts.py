"""Where things are drawn: the verdict can be read off the coordinates."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from bakeoff.report.charts import forest_axis, forest_strip, score_range, strip
from bakeoff.report.results import Comparison, MetricResult
from bakeoff.report.verdicts import read_verdict

_COMPARISON = Comparison(
    a="a",
    b="b",
    track="t",
    metric="m",
    relation="other",
    n=100,
    diff_pp=0.0,
    ci95_pp=(-1.0, 1.0),
    p=None,
    test=None,
    verdict="same",
    beyond_margin=False,
    margin_pp=2.0,
    sentence="",
    evidence="",
    reason=None,
    lost=0,
    gained=0,
    identical=0,
    pairs_needed=None,
)
_ENDS = st.tuples(st.floats(-100, 100), st.floats(-100, 100)).map(lambda ends: (min(ends), max(ends)))


def _metric(value: float, low: float, high: float, n: int = 100) -> MetricResult:
    return MetricResult(value=value, ci95=(low, high), n=n)


def _comparison(bounds: tuple[float, float], **changes: Any) -> Comparison:
    return msgspec.structs.replace(_COMPARISON, ci95_pp=bounds, diff_pp=sum(bounds) / 2, **changes)


@given(all_bounds=st.lists(_ENDS, min_size=1, max_size=6), margin=st.sampled_from([0.5, 2.0, 5.0]))
def test_verdict_read_from_the_drawn_coordinates_is_the_printed_one(
    all_bounds: list[tuple[float, float]], margin: float
) -> None:
    comparisons = [_comparison(bounds) for bounds in all_bounds]
    axis = forest_axis(comparisons, margin)
    zero, left = float(axis.zero[:-1]), float(axis.band_at[:-1])
    per_point = (zero - left) / margin
    for comparison, (low, high) in zip(comparisons, all_bounds, strict=True):
        drawn = forest_strip(comparison, comparisons, margin)
        assert drawn is not None
        ends = [(float(end[:-1]) - zero) / per_point for end in (drawn.low, drawn.high)]
        slack = 0.02 / per_point + 0.02
        if all(abs(end - line) > slack for end in (low, high) for line in (-margin, 0.0, margin)):
            assert read_verdict(ends[0], ends[1], margin) == read_verdict(low, high, margin)
        assert all(0.0 <= float(end[:-1]) <= 100.0 for end in (drawn.low, drawn.high, drawn.at))


@given(bounds=_ENDS, margin=st.sampled_from([0.5, 2.0, 5.0, 20.0]))
def test_forest_ticks_are_few_symmetric_and_inside(bounds: tuple[float, float], margin: float) -> None:
    axis = forest_axis([_comparison(bounds)], margin)
    at = [float(tick.at[:-1]) for tick in axis.ticks]
    assert 3 <= len(at) <= 9
    assert all(0 <= place <= 100 for place in at)
    assert at[len(at) // 2] == pytest.approx(50.0)
    assert axis.ticks[len(at) // 2].label == "0"
    assert not any(tick.label.startswith("-") for tick in axis.ticks)


def test_nothing_is_drawn_without_a_verdict_or_with_too_few_samples() -> None:
    withheld = msgspec.structs.replace(_COMPARISON, ci95_pp=None, diff_pp=None)
    assert forest_strip(withheld, [withheld], 2.0) is None
    assert strip(_metric(0.5, 0.3, 0.7, n=29), (0, 100)) is None
    assert strip(MetricResult(value=None, ci95=None, n=0), (0, 100)) is None


def test_strips_share_the_range_of_the_track_and_noise_is_not_blown_up() -> None:
    assert score_range([_metric(0.8, 0.773, 0.817), _metric(0.7, 0.69, 0.73)]) == (68, 83)
    assert score_range([_metric(0.999, 0.998, 1.0)]) == (96, 100)
    assert score_range([]) is None
    assert score_range([_metric(0.5, 0.3, 0.7, n=29)]) is None


def test_a_published_value_widens_the_range_only_when_it_is_near() -> None:
    scores = [_metric(0.8, 0.773, 0.817)]
    assert score_range(scores, 0.84) == (76, 85)
    assert score_range(scores, 0.2) == score_range(scores)
    near, far = strip(scores[0], (76, 85), 0.84), strip(scores[0], (76, 83), 0.2)
    assert near is not None
    assert near.published == "88.89%"
    assert far is not None
    assert far.published is None
