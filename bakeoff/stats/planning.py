"""How many samples a question needs, and what a given number can show.

Discordance (the share of samples on which the arms differ) must come from a pilot or from two earlier arms; the
figure for independent arms, `2p(1-p)`, is far too large. Sources: Miettinen 1968, Connor 1987.
"""

import math
from collections.abc import Sequence

from bakeoff.stats.distributions import normal_quantile

_EQUIVALENCE_POWER = 0.9  # both one-sided tests must pass: 0.9 each gives 0.8 together
_RULE_OF_THREE = 3.0


def design_effect(cluster_sizes: Sequence[float], icc: float) -> float:
    """Return `1 + (m - 1) * icc` with m the size-weighted mean cluster size; `icc` is that of the differences.

    Raises:
        ValueError: without clusters.
    """
    if not cluster_sizes:
        raise ValueError("no clusters")
    effective = sum(size * size for size in cluster_sizes) / sum(cluster_sizes)
    return 1.0 + (effective - 1.0) * icc


def samples_for_difference(
    difference: float, discordance: float, *, deff: float = 1.0, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """Return the number of binary pairs that shows `difference` with the given power.

    None when no number does: when the difference is not positive or exceeds the discordance.
    """
    if not 0.0 < difference <= discordance:
        return None
    return math.ceil(deff * _pairs(difference, discordance, power, alpha))


def detectable_difference(
    n: int, discordance: float, *, deff: float = 1.0, power: float = 0.8, alpha: float = 0.05
) -> float | None:
    """Return the smallest difference that `n` binary pairs show; None when not even `discordance` is."""
    effective = n / deff
    if n <= 0 or discordance <= 0 or _pairs(discordance, discordance, power, alpha) > effective:
        return None
    smallest = discordance * 1e-6
    if _pairs(smallest, discordance, power, alpha) <= effective:
        return smallest
    from scipy import optimize  # noqa: PLC0415 - takes a while to load, and few ask

    return float(
        optimize.brentq(lambda d: _pairs(d, discordance, power, alpha) - effective, smallest, discordance, xtol=1e-14)
    )


def detectable_difference_continuous(
    n: int, sd: float, *, deff: float = 1.0, power: float = 0.8, alpha: float = 0.05
) -> float:
    """Return the smallest mean difference that `n` pairs of continuous scores show, given the sd of differences.

    Raises:
        ValueError: when there are no samples.
    """
    if n <= 0:
        raise ValueError("no samples")
    return (_z(1.0 - alpha / 2.0) + _z(power)) * sd * math.sqrt(deff / n)


def samples_for_equivalence(margin: float, discordance: float, *, deff: float = 1.0, alpha: float = 0.05) -> int | None:
    """Return the number of pairs that shows equivalence of equal arms in 80 % of runs; None for margin 0."""
    if margin <= 0:
        return None
    quantiles = (_z(1.0 - alpha) + _z(_EQUIVALENCE_POWER)) ** 2
    return math.ceil(deff * max(discordance * quantiles / margin**2, _RULE_OF_THREE / margin) - 1e-9)


def intraclass_correlation(clusters: Sequence[Sequence[float]]) -> float | None:
    """Return the one-way ANOVA ICC(1) of values in clusters; None when it is undefined (all singletons, no spread)."""
    sizes = [len(cluster) for cluster in clusters]
    n, k = sum(sizes), len(sizes)
    if k < 2 or n == k:  # noqa: PLR2004 -- one cluster has nothing to be compared with
        return None
    grand = sum(sum(cluster) for cluster in clusters) / n
    means = [sum(cluster) / len(cluster) for cluster in clusters]
    between = sum(size * (mean - grand) ** 2 for size, mean in zip(sizes, means, strict=True)) / (k - 1)
    within = sum((value - mean) ** 2 for cluster, mean in zip(clusters, means, strict=True) for value in cluster) / (
        n - k
    )
    typical = (n - sum(size * size for size in sizes) / n) / (k - 1)
    total = between + (typical - 1.0) * within
    return (between - within) / total if total > 0 else None


def _pairs(difference: float, discordance: float, power: float, alpha: float) -> float:
    """Return Connor's number of pairs."""
    spread = math.sqrt(max(discordance - difference**2, 0.0))
    return ((_z(1.0 - alpha / 2.0) * math.sqrt(discordance) + _z(power) * spread) / difference) ** 2


def _z(probability: float) -> float:
    """Return a normal quantile."""
    return normal_quantile(probability)
