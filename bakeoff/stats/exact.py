"""Exact reference tests, printed next to a verdict and not driving it: McNemar, sign flips of clusters, Tango.

Sources: Fagerland, Lydersen, Laake 2013 (mid-p); Tango 1998 (score interval of a paired difference).
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from bakeoff.stats.distributions import binomial_cdf, binomial_pmf, normal_quantile


class ExactTest(msgspec.Struct, frozen=True, kw_only=True):
    """Two-sided exact and mid-p values; `sign` is +1 when a is ahead, -1 when b is, 0 when tied."""

    p_exact: float
    p_midp: float
    sign: int


def mcnemar(a_only: int, b_only: int) -> ExactTest:
    """Test two arms on independent samples from the counts that only one of them got right; 0 and 0 gives p = 1.

    Raises:
        ValueError: on a negative count.
    """
    if a_only < 0 or b_only < 0:
        raise ValueError(f"counts must not be negative: {a_only}, {b_only}")
    n = a_only + b_only
    if n == 0:
        return ExactTest(p_exact=1.0, p_midp=1.0, sign=0)
    smaller = min(a_only, b_only)
    at = binomial_pmf(smaller, n, 0.5)
    p_exact = min(1.0, 2.0 * binomial_cdf(smaller, n, 0.5))
    p_midp = 1.0 - at / 2.0 if a_only == b_only else p_exact - at
    return ExactTest(p_exact=p_exact, p_midp=p_midp, sign=_sign(a_only - b_only))


def sign_flip(cluster_totals: Sequence[float]) -> ExactTest:
    """Test two arms on clustered binary samples: how often random signs of the images' totals reach the sum seen.

    Args:
        cluster_totals: per image, how many samples only a got right minus how many only b did.

    The null distribution is convolved exactly, so there is no seed; singletons give McNemar's test.

    Raises:
        ValueError: on a total that is not a whole number (continuous scores have no such test here).
    """
    if not all(float(total).is_integer() for total in cluster_totals):
        raise ValueError("totals of clusters must be whole numbers: the sign-flip test is for binary scores")
    totals = [int(total) for total in cluster_totals]
    sizes = [abs(total) for total in totals if total]
    if not sizes:
        return ExactTest(p_exact=1.0, p_midp=1.0, sign=0)
    reach = sum(sizes)
    # probability[s] belongs to the sum s - reach
    probability = np.zeros(2 * reach + 1)
    probability[reach] = 1.0
    for size in sizes:
        probability = 0.5 * (np.roll(probability, size) + np.roll(probability, -size))
    observed = sum(totals)
    sums = np.abs(np.arange(-reach, reach + 1))
    at = float(probability[sums == abs(observed)].sum())
    beyond = float(probability[sums > abs(observed)].sum())
    return ExactTest(p_exact=min(1.0, at + beyond), p_midp=beyond + at / 2.0, sign=_sign(observed))


def tango(a_only: int, b_only: int, n: int, *, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return low, high and the statistic at 0 of Tango's score interval for independent binary pairs.

    Raises:
        ValueError: when the counts do not fit into `n` pairs.
    """
    if n <= 0 or a_only < 0 or b_only < 0 or a_only + b_only > n:
        raise ValueError(f"{a_only} and {b_only} discordant pairs do not fit into {n}")
    z = normal_quantile(0.5 + confidence / 2.0)
    estimate = (a_only - b_only) / n

    def statistic(difference: float) -> float:
        # The nuisance parameter is the probability of "only b", maximised for the given difference.
        linear = (2 * n - a_only + b_only) * difference - a_only - b_only
        constant = -b_only * difference * (1.0 - difference)
        only_b = (math.sqrt(max(linear**2 - 8.0 * n * constant, 0.0)) - linear) / (4.0 * n)
        variance = n * (2.0 * only_b + difference * (1.0 - difference))
        gap = a_only - b_only - n * difference
        if variance <= 0.0:
            return 0.0 if gap == 0 else math.copysign(math.inf, gap)
        return gap / math.sqrt(variance)

    def edge(end: float, level: float) -> float:
        if abs(statistic(end)) <= abs(level) or abs(end - estimate) == 0:
            return end
        from scipy import optimize  # noqa: PLC0415 - takes a while to load, and few ask

        # Just inside the ends the statistic is finite.
        return float(optimize.brentq(lambda d: statistic(d) - level, *sorted((end, estimate)), xtol=1e-14))

    shrink = 1.0 - 1e-12
    low = edge(-shrink, z) if estimate > -1.0 else -1.0
    high = edge(shrink, -z) if estimate < 1.0 else 1.0
    return low, high, statistic(0.0)


def _sign(value: int) -> int:
    """Return -1, 0 or 1."""
    return (value > 0) - (value < 0)
