"""How far the scores of two arms lie apart, sample by sample: what the number of pairs that a question needs hangs on.

Source: `stats.planning`. The report's "would settle it" and `bakeoff plan` read the same figures from here.
"""

import math
from collections.abc import Sequence

import msgspec

from bakeoff.records import Record
from bakeoff.stats import (
    compute_moments,
    design_effect,
    intraclass_correlation,
    paired_difference,
    samples_for_equivalence,
)


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Differences of the scores on one track, as they are and by image; at least one.

    `unevenness` is what a macro mean over groups of different size costs: 1 for a plain mean. `shared` is what shared
    images cost, as the test of equivalence reckons it: the ratio of variances, which also knows that the differences
    lie in one small group, or with few images that differ the worst case; None where there is no such test.
    """

    differences: tuple[float, ...]
    clusters: tuple[tuple[float, ...], ...]
    unevenness: float = 1.0
    shared: float | None = None

    @property
    def discordance(self) -> float:
        """Share of samples on which the scores differ."""
        return sum(d != 0 for d in self.differences) / len(self.differences)

    @property
    def is_binary(self) -> bool:
        """Whether every difference is -1, 0 or 1."""
        return all(d in {-1.0, 0.0, 1.0} for d in self.differences)

    @property
    def icc(self) -> float | None:
        """How much alike the differences on one image are."""
        return intraclass_correlation(self.clusters)

    @property
    def deff(self) -> float:
        """Factor by which shared images and uneven groups raise the number of samples; at least 1."""
        if self.shared is not None:
            return max(self.shared, 1.0) * self.unevenness
        by_icc = 1.0 if self.icc is None else design_effect([len(c) for c in self.clusters], self.icc)
        return max(by_icc, 1.0) * self.unevenness

    @property
    def mean_square(self) -> float:
        """Mean square of the differences, which is the discordance where scores are 0 or 1."""
        return math.fsum(d * d for d in self.differences) / len(self.differences)

    @property
    def sd(self) -> float:
        """Standard deviation of the differences."""
        mean = math.fsum(self.differences) / len(self.differences)
        return math.sqrt(math.fsum((d - mean) ** 2 for d in self.differences) / max(len(self.differences) - 1, 1))

    def pairs_for_equivalence(self, margin: float) -> int | None:
        """Return how many pairs call equal arms the same within `margin`, a fraction, in 80% of runs; None for 0."""
        return samples_for_equivalence(margin, self.mean_square, deff=self.deff)


def spread_of(common: Sequence[tuple[Record, Record]], macro: str | None) -> Spread:
    """Return the spread of pairs of records, whose mean gives the groups of dimension `macro` the same weight."""
    differences = [(a.score or 0.0) - (b.score or 0.0) for a, b in common]
    clusters: dict[str, list[float]] = {}
    for (a, _), difference in zip(common, differences, strict=True):
        clusters.setdefault(a.cluster, []).append(difference)
    strata = [a.groups.get(macro, "") for a, _ in common] if macro else None
    found = paired_difference(
        [a.score or 0.0 for a, _ in common],
        [b.score or 0.0 for _, b in common],
        margin=0.0,
        clusters=[a.cluster for a, _ in common],
        strata=strata,
    )
    return Spread(
        differences=tuple(differences),
        clusters=tuple(tuple(cluster) for cluster in clusters.values()),
        unevenness=len(common) / compute_moments(differences, strata=strata).n_equal,
        shared=found.deff_eq,
    )
