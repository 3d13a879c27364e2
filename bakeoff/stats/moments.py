"""Moments of a weighted mean of clustered, stratified values: the one variance behind all intervals and tests.

A cluster is what samples share (an image); a stratum is a group with a fixed weight in the mean (a task, a split).
With one stratum the variance is the CR1 cluster-robust variance of a mean; with several, an image that occurs in
more than one of them adds its parts before they are squared. Keys are sorted, so sums do not depend on input order.

Sources: Cameron and Miller 2015 (cluster-robust variance), Satterthwaite 1946 (degrees of freedom), Kish 1965
(design effect of whole-cluster agreement).
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Missing = Literal["refuse", "zero", "drop"]

_ZERO_VARIANCE = 1e-24  # what is left of a variance of exactly 0 after rounding
_WEIGHT_SUM_TOLERANCE = 1e-9
ENOUGH_INFORMATIVE_CLUSTERS = 10
"""Below this many effective clusters the cluster variance is itself too uncertain to decide anything with."""


class Moments(msgspec.Struct, frozen=True, kw_only=True):
    """Estimate and variances of `sum_h w_h * mean_h`.

    `has_variance` is False when a stratum holds fewer than two clusters; variances, `informative_clusters` and
    `df` are 0 then.

    Attributes:
        value: the estimate.
        n: number of values.
        clusters: number of distinct clusters.
        has_repeats: True when some cluster holds more than one value.
        n_equal: size of an unstratified sample with the same weights, `1 / sum_h(w_h**2 / n_h)`.
        kish: design effect if all values of a cluster agreed.
        variance: cluster-robust variance of the estimate.
        independent: variance of the estimate if values were independent (n - 1 in the denominator).
        population: the same with n in the denominator.
        informative_clusters: effective number of clusters that carry the variance; 0 without variance.
        df: degrees of freedom for a t quantile.
    """

    value: float
    n: int
    clusters: int
    has_repeats: bool
    n_equal: float
    kish: float
    has_variance: bool
    variance: float = 0.0
    independent: float = 0.0
    population: float = 0.0
    informative_clusters: float = 0.0
    df: float = 0.0


def check_scores(
    scores: Sequence[float | None], *, ids: Sequence[str] | None = None, missing: Missing = "refuse"
) -> tuple[list[float], list[int]]:
    """Return the usable scores and the positions they stood at.

    `missing` says what None and NaN become: an error, 0 (the model failed), or left out (report how many).

    Raises:
        ValueError: on a missing score when `missing` is `refuse`, a score outside [0, 1], or an id given twice.
    """
    if ids is not None and len(set(ids)) != len(ids):
        raise ValueError(f"duplicate sample id: {len(ids) - len(set(ids))} of {len(ids)} ids occur before")
    values: list[float] = []
    kept: list[int] = []
    for position, score in enumerate(scores):
        if score is None or score != score:  # noqa: PLR0124 -- NaN is the one value that differs from itself
            if missing == "refuse":
                raise ValueError(f"missing score at position {position}; say whether it counts as 0 or is left out")
            if missing == "drop":
                continue
            score = 0.0  # noqa: PLW2901 -- the replacement is the point
        if not 0.0 <= score <= 1.0:
            raise ValueError(f"score out of range at position {position}: {score!r} is not in [0, 1]")
        values.append(float(score))
        kept.append(position)
    return values, kept


def compute_moments(
    values: Sequence[float],
    *,
    clusters: Sequence[str] | None = None,
    strata: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
) -> Moments:
    """Compute the moments of at least one value.

    Args:
        values: finite numbers; scores in [0, 1] or differences in [-1, 1].
        clusters: one key per value; without it every value is its own cluster.
        strata: one key per value; without it there is one stratum.
        weights: weight of each stratum; equal when not given.

    Raises:
        ValueError: when there are no values, lengths differ, or weights do not match the strata or do not sum to 1.
    """
    x = np.asarray(values, dtype=np.float64)
    n = len(x)
    if n == 0:
        raise ValueError("no values")
    cluster_keys, cluster_of = _codes(clusters, n, "clusters") if clusters is not None else (None, np.arange(n))
    stratum_keys, stratum_of = _codes(strata, n, "strata") if strata is not None else ([""], np.zeros(n, dtype=np.intp))
    n_clusters = len(cluster_keys) if cluster_keys is not None else n
    w = _weights(stratum_keys, weights)
    n_h = np.bincount(stratum_of).astype(np.float64)
    mean_h = _sums(stratum_of, x) / n_h
    deviation = x - mean_h[stratum_of]
    squares_h = _sums(stratum_of, deviation**2)
    share = (w / n_h)[stratum_of]
    per_cluster = _sums(cluster_of, share)
    base = Moments(
        value=float(np.sum(w * mean_h) / np.sum(w)),  # where all is 1, this is 1, and nothing less by rounding
        n=n,
        clusters=n_clusters,
        has_repeats=n_clusters < n,
        n_equal=float(1.0 / np.sum(w**2 / n_h)),
        kish=float(np.sum(per_cluster**2) / np.sum(share**2)),
        has_variance=False,
    )

    cell_of = stratum_of * n_clusters + cluster_of
    cells, cell_of = np.unique(cell_of, return_inverse=True)
    cell_stratum = cells // n_clusters
    clusters_h = np.bincount(cell_stratum).astype(np.float64)
    if clusters_h.min() < 2:  # noqa: PLR2004 -- one cluster says nothing of the spread between clusters
        return base
    correction = w * np.sqrt(clusters_h / (clusters_h - 1)) / n_h
    influence_cell = _sums(cell_of, deviation) * correction[cell_stratum]
    influence = _sums(cells % n_clusters, influence_cell)
    variance = _clean(float(np.sum(influence**2)))
    return msgspec.structs.replace(
        base,
        has_variance=True,
        variance=variance,
        independent=_clean(float(np.sum(w**2 * squares_h / np.maximum(n_h - 1, 1) / n_h))),
        population=_clean(float(np.sum(w**2 * squares_h / n_h / n_h))),
        informative_clusters=variance**2 / float(np.sum(influence**4)) if variance else 0.0,
        df=_degrees(_sums(cell_stratum, influence_cell**2), clusters_h, n_clusters),
    )


def _codes(keys: Sequence[str], n: int, name: str) -> tuple[list[str], NDArray[np.intp]]:
    """Return the sorted distinct keys and, for each of the `n` values, the position of its key."""
    if len(keys) != n:
        raise ValueError(f"{name}: {len(keys)} keys for {n} values")
    distinct = sorted(set(keys))
    position = {key: index for index, key in enumerate(distinct)}
    return distinct, np.fromiter((position[key] for key in keys), dtype=np.intp, count=n)


def _weights(strata: Sequence[str], weights: Mapping[str, float] | None) -> Floats:
    """Return one weight per stratum, in the strata's order."""
    if weights is None:
        return np.full(len(strata), 1.0 / len(strata))
    if set(weights) != set(strata):
        raise ValueError(f"weights are for {sorted(weights)}, strata are {list(strata)}")
    w = np.array([weights[key] for key in strata], dtype=np.float64)
    if abs(w.sum() - 1.0) > _WEIGHT_SUM_TOLERANCE or w.min() < 0:
        raise ValueError(f"weights must not be negative and must sum to 1, not {w.sum()!r}")
    return w


def _sums(position: NDArray[np.intp], values: Floats) -> Floats:
    """Return the sum of the values at each position."""
    return np.asarray(np.bincount(position, values), dtype=np.float64)


def _clean(variance: float) -> float:
    """Return 0 for a variance that is only rounding."""
    return 0.0 if variance < _ZERO_VARIANCE else variance


def _degrees(variance_h: Floats, clusters_h: Floats, n_clusters: int) -> float:
    """Return Satterthwaite's degrees of freedom; those of pooled clusters when no stratum varies."""
    if len(clusters_h) == 1:
        return float(clusters_h[0]) - 1.0
    if variance_h.sum() < _ZERO_VARIANCE:
        return max(float(n_clusters - len(clusters_h)), 1.0)
    return float(variance_h.sum() ** 2 / np.sum(variance_h**2 / (clusters_h - 1)))
