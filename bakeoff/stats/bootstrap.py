"""Percentile bootstrap, for statistics that are not a mean of per-sample scores and as a cross-check.

The unit that is resampled is the cluster (image); strata are resampled separately; a draw is a ratio of sums. The
generator is seeded from a hash of a text such as "suite version/track/arm/statistic", which belongs in the report:
the same text gives the same bits. Never gate or decide on a flagged one.
"""

import hashlib
from collections.abc import Sequence

import msgspec
import numpy as np

from bakeoff.stats.moments import Floats, check_scores

_FEW_CLUSTERS = 20


class Resampled(msgspec.Struct, frozen=True, kw_only=True):
    """Percentile interval and standard error; flags `one_cluster`, `few_clusters`, `degenerate`, `empty`."""

    low: float | None
    high: float | None
    se: float | None
    flags: tuple[str, ...] = ()


def bootstrap_mean(
    scores: Sequence[float],
    *,
    seed: str,
    clusters: Sequence[str] | None = None,
    strata: Sequence[str] | None = None,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Resampled:
    """Bootstrap the mean, or with strata the mean of their means.

    Raises:
        ValueError: on refused scores.
    """
    values, _ = check_scores(scores)
    if not values:
        return Resampled(low=None, high=None, se=None, flags=("empty",))
    cluster_keys = [str(position) for position in range(len(values))] if clusters is None else list(clusters)
    stratum_keys = [""] * len(values) if strata is None else list(strata)
    cells: dict[str, dict[str, list[float]]] = {}
    for value, cluster, stratum in zip(values, cluster_keys, stratum_keys, strict=True):
        cells.setdefault(stratum, {}).setdefault(cluster, []).append(value)
    if min(len(found) for found in cells.values()) < 2:  # noqa: PLR2004 -- one cluster always draws itself
        return Resampled(low=None, high=None, se=None, flags=("one_cluster",))
    digest = hashlib.sha256(seed.encode()).digest()
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))
    draws = np.mean(
        [_draw(found, resamples, generator) for _, found in sorted(cells.items())], axis=0, dtype=np.float64
    )
    tail = (1.0 - confidence) / 2.0
    low, high = (float(q) for q in np.quantile(draws, (tail, 1.0 - tail)))
    flags = {"few_clusters": len(set(cluster_keys)) < _FEW_CLUSTERS, "degenerate": low == high}
    return Resampled(
        low=low,
        high=high,
        se=float(np.std(draws, ddof=1)),
        flags=tuple(name for name, is_set in flags.items() if is_set),
    )


def _draw(clusters: dict[str, list[float]], resamples: int, generator: np.random.Generator) -> Floats:
    """Return `resamples` means of one stratum."""
    found = [values for _, values in sorted(clusters.items())]
    sums = np.array([sum(values) for values in found])
    sizes = np.array([float(len(values)) for values in found])
    counts = generator.multinomial(len(found), np.full(len(found), 1.0 / len(found)), size=resamples)
    means: Floats = (counts @ sums) / (counts @ sizes)
    return means
