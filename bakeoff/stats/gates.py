"""Gates: pass, fail, or not enough data, each from one printed 95 % interval (2.5 % error on either side).

A gate that is run again on every commit fails a just-adequate model one time in forty: fix beforehand what a failure
triggers. Threshold 1 can never pass and threshold 0 always passes; a caller should warn of both.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from bakeoff.stats.distributions import normal_quantile
from bakeoff.stats.interval import interval, wilson
from bakeoff.stats.moments import ENOUGH_INFORMATIVE_CLUSTERS
from bakeoff.stats.paired import paired_difference

Outcome = Literal["pass", "fail", "not enough data"]


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate said and the interval it said it from.

    `value`, `low`, `high` are a score for a threshold gate and a difference (new minus baseline) for the others; the
    interval can be wider than the descriptive one. `bound` is what it was held against; `informative_clusters` is
    the effective number of clusters behind the variance, None where samples are independent.
    """

    outcome: Outcome
    value: float | None
    low: float | None
    high: float | None
    bound: float
    n: int
    informative_clusters: float | None = None


def threshold_gate(
    scores: Sequence[float],
    threshold: float,
    *,
    clusters: Sequence[str] | None = None,
    strata: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    confidence: float = 0.95,
) -> Gate:
    """Hold the mean score against an absolute threshold: pass when the whole interval is at or above it.

    Raises:
        ValueError: when the threshold is not in [0, 1] or scores are refused.
    """
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold must be a fraction in [0, 1], not {threshold!r}")
    found = interval(
        scores,
        clusters=clusters,
        strata=strata,
        weights=weights,
        confidence=confidence,
        worst_case_below=ENOUGH_INFORMATIVE_CLUSTERS,
    )
    outcome: Outcome = "not enough data"
    if found.low is not None and found.high is not None:
        outcome = "pass" if found.low >= threshold else "fail" if found.high < threshold else outcome
    return Gate(
        outcome=outcome,
        value=found.value,
        low=found.low,
        high=found.high,
        bound=threshold,
        n=found.n,
        informative_clusters=found.informative_clusters,
    )


def non_inferiority_gate(
    new: Sequence[float],
    baseline: Sequence[float],
    margin: float,
    *,
    clusters: Sequence[str] | None = None,
    strata: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
) -> Gate:
    """Ask whether `new` is at most `margin` below a baseline whose per-sample scores are stored.

    Pass when the interval lies above -margin and there are `3 / margin` effective pairs; fail when it lies below.
    Margin 0 asks for superiority: an identical model then has not enough data.

    Raises:
        ValueError: as `paired_difference`.
    """
    found = paired_difference(new, baseline, margin=margin, clusters=clusters, strata=strata, weights=weights)
    if found.interval95_eq is None:
        return Gate(outcome="not enough data", value=found.value, low=None, high=None, bound=-margin, n=found.n)
    low, high = found.interval95_eq
    is_enough = found.is_enough or margin == 0
    return Gate(
        outcome=_side(low, high, -margin, is_enough),
        value=found.value,
        low=low,
        high=high,
        bound=-margin,
        n=found.n,
        informative_clusters=found.informative_clusters,
    )


def baseline_value_gate(
    successes: int, n: int, baseline: float, margin: float, *, baseline_se: float | None = None
) -> Gate:
    """Hold a binary score against a baseline of which only a value is known, such as a published one.

    Without a standard error this is a threshold gate at `baseline - margin` that calls the baseline exact, which it
    is not; with one, an unpaired normal interval of the difference. Stored per-sample scores need about a third of
    the samples: use `non_inferiority_gate` where they exist.

    Raises:
        ValueError: when `successes` is not in 0..n.
    """
    found = wilson(successes, n)
    if found.value is None or baseline_se is None:
        bound = baseline - margin
        outcome: Outcome = "not enough data"
        if found.low is not None and found.high is not None:
            outcome = "pass" if found.low >= bound else "fail" if found.high < bound else outcome
        return Gate(outcome=outcome, value=found.value, low=found.low, high=found.high, bound=bound, n=n)
    value = found.value - baseline
    z = normal_quantile(0.975)
    half = z * math.sqrt(found.value * (1.0 - found.value) / n + baseline_se**2)
    outcome = _side(value - half, value + half, -margin, is_enough=True)
    return Gate(outcome=outcome, value=value, low=value - half, high=value + half, bound=-margin, n=n)


def _side(low: float, high: float, bound: float, is_enough: bool) -> Outcome:  # noqa: FBT001 -- private
    """Return on which side of `bound` the interval lies."""
    if high < bound:
        return "fail"
    return "pass" if low > bound and is_enough else "not enough data"
