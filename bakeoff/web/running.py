"""The score of a run that is still going: a mean with an interval, without loading the statistics.

Wilson's interval with the sample size that the spread between images leaves, as `stats.interval` has it, but with the
normal quantile throughout; a test holds the two against each other. Shown from `LEAST` samples on and called "so far":
the report's own number, which may average over groups, comes at the end.
"""

import math
from collections.abc import Iterable, Mapping

import msgspec

LEAST = 30
"""With fewer samples no interval is shown."""

_Q = 1.959963984540054  # the normal distribution's 97.5 % point


class SoFar(msgspec.Struct, frozen=True, kw_only=True):
    """Mean of the scores, its 95 % interval (None below `LEAST` samples), how many there are, how many are exactly 1.

    `right` is None where a score lies between 0 and 1.
    """

    n: int
    mean: float | None
    ci95: tuple[float, float] | None
    right: int | None


def so_far(by_cluster: Mapping[str, Iterable[float]]) -> SoFar:
    """Return the mean over all scores; `by_cluster` holds together what shares images."""
    clusters = [list(scores) for scores in by_cluster.values()]
    scores = [score for cluster in clusters for score in cluster]
    n = len(scores)
    if not n:
        return SoFar(n=0, mean=None, ci95=None, right=None)
    mean = math.fsum(scores) / n
    right = sum(score == 1 for score in scores) if all(score in {0, 1} for score in scores) else None
    return SoFar(n=n, mean=mean, ci95=_interval(mean, clusters, n) if n >= LEAST else None, right=right)


def _interval(mean: float, clusters: list[list[float]], n: int) -> tuple[float, float] | None:
    groups = len(clusters)
    if groups < 2:  # noqa: PLR2004 -- one cluster has no spread
        return None
    squares = math.fsum(math.fsum(score - mean for score in cluster) ** 2 for cluster in clusters)
    variance = squares / n**2 * groups / (groups - 1)
    effective = mean * (1.0 - mean) / variance if variance > 0 else float(groups)
    scale = 1.0 + _Q * _Q / effective
    centre = (mean + _Q * _Q / (2.0 * effective)) / scale
    half = _Q / scale * math.sqrt(max(mean * (1.0 - mean) / effective + _Q * _Q / (4.0 * effective**2), 0.0))
    return max(centre - half, 0.0), min(centre + half, 1.0)
