"""The mean of one arm while it runs, with the interval that `interval` would give, at a cost that does not grow.

The cluster-robust variance needs sums over clusters of products of their sizes and totals. Adding a value changes one
cluster, so these sums are kept up to date by taking that cluster's old part out and its new part in.
"""

from bakeoff.stats.interval import Interval, interval_of_moments, wilson
from bakeoff.stats.moments import Moments

_ZERO_VARIANCE = 1e-12  # what cancelling sums of up to 30,000 scores leave of a variance of exactly 0


class RunningMean:
    """Takes scores one at a time; `interval` may be asked for at any moment."""

    def __init__(self) -> None:
        self.n = 0
        self._sum = 0.0
        self._squares = 0.0
        self._is_binary = True
        self._clusters: dict[str, tuple[int, float]] = {}
        self._sizes_squared = 0
        self._totals_squared = 0.0
        self._products = 0.0

    def add(self, score: float, cluster: str) -> None:
        """Take in a score in [0, 1] and the key of what it shares with others; constant time."""
        size, total = self._clusters.get(cluster, (0, 0.0))
        self._clusters[cluster] = (size + 1, total + score)
        self._sizes_squared += 2 * size + 1
        self._totals_squared += score * (2.0 * total + score)
        self._products += (size + 1) * (total + score) - size * total
        self.n += 1
        self._sum += score
        self._squares += score * score
        self._is_binary = self._is_binary and score in {0.0, 1.0}

    def interval(self) -> Interval:
        """Return the mean of what was taken in with its 95 % interval; constant time."""
        n, clusters = self.n, len(self._clusters)
        if n == 0 or (clusters == n and self._is_binary):
            return wilson(round(self._sum), n)
        mean = self._sum / n
        if clusters == 1:
            return Interval(value=mean, low=None, high=None, n=n, clusters=1, method="one_cluster")
        spread = self._totals_squared - 2.0 * mean * self._products + mean * mean * self._sizes_squared
        deviations = self._squares - n * mean * mean
        moments = Moments(
            value=mean,
            n=n,
            clusters=clusters,
            has_repeats=clusters < n,
            n_equal=float(n),
            kish=self._sizes_squared / n,
            has_variance=True,
            variance=_clean(spread * clusters / (clusters - 1) / n / n),
            independent=_clean(deviations / max(n - 1, 1) / n),
            population=_clean(deviations / n / n),
            df=clusters - 1.0,
        )
        return interval_of_moments(moments)


def _clean(variance: float) -> float:
    """Return 0 for a variance that is only rounding."""
    return 0.0 if variance < _ZERO_VARIANCE else variance
