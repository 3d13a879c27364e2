"""What a mean could be if samples without a valid output had been answered: all wrong, or all right.

A verdict or a gate holds only if it is the same at both bounds.
"""

from collections.abc import Sequence

import msgspec

from bakeoff.stats.distributions import normal_quantile
from bakeoff.stats.interval import wilson_bounds
from bakeoff.stats.moments import check_scores


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Mean with missing outputs scored 0 (`worst`) and 1 (`best`), over all samples; None without any sample.

    `complete_case` leaves the missing out and is only ever printed next to both. `low`..`high` reaches from the
    Wilson bound under the worst to the one over the best.
    """

    worst: float | None
    best: float | None
    complete_case: float | None
    low: float | None
    high: float | None
    n: int


def bound_missing(valid: Sequence[float], missing: int, *, confidence: float = 0.95) -> Bounds:
    """Bound the mean of `valid` scores and `missing` samples that have none.

    Raises:
        ValueError: on refused scores or a negative count.
    """
    scores, _ = check_scores(valid)
    if missing < 0:
        raise ValueError(f"a count cannot be negative: {missing}")
    n = len(scores) + missing
    if n == 0:
        return Bounds(worst=None, best=None, complete_case=None, low=None, high=None, n=0)
    total = sum(scores)
    worst, best = total / n, min((total + missing) / n, 1.0)
    z = normal_quantile(0.5 + confidence / 2.0)
    return Bounds(
        worst=worst,
        best=best,
        complete_case=total / len(scores) if scores else None,
        low=wilson_bounds(worst, n, z)[0],
        high=wilson_bounds(best, n, z)[1],
        n=n,
    )


def bound_difference(a: Sequence[float | None], b: Sequence[float | None]) -> tuple[float, float] | None:
    """Return the worst and best mean difference for `a`; None without samples.

    Worst sets what is missing to 0 for a and 1 for b, best the reverse.

    Raises:
        ValueError: when lengths differ or scores are refused.
    """
    if len(a) != len(b):
        raise ValueError(f"paired scores differ in number: {len(a)} and {len(b)}")
    if not a:
        return None

    def mean(scores: Sequence[float | None], fill: float) -> float:
        return sum(check_scores([fill if score is None else score for score in scores])[0]) / len(scores)

    return mean(a, 0.0) - mean(b, 1.0), mean(a, 1.0) - mean(b, 0.0)
