"""Where a difference lies: the one group of samples in which two arms differ far more than in the rest.

A look over all groups finds something sooner or later, so what chance does is paid for: the probability is multiplied
by the number of groups looked at. Samples of one image are one witness, as in every interval.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from bakeoff.records import Record
from bakeoff.report.flip_results import Gathering

Pair = tuple[Record, Record]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

MOST_BY_CHANCE = 0.01
"""Probability, after counting all groups looked at, above which a difference is not said to lie in a group."""
LEAST_IMAGES = 3
"""Fewest images (samples, where each has its own) in a group, and outside it, that are worth a comparison."""
_CANDIDATES = 3
_FEW_DRAWS, _DRAWS = 1_000, 20_000
_CLEARLY_CHANCE = 0.02
_LEAST_Z = 2.5
"""Standard errors off the mean of all that are worth drawing for."""
_STEP = 0.05
_SAME = 1e-12


class _Scored(msgspec.Struct, frozen=True, kw_only=True):
    """Differences of scores, the number of the image each belongs to, and which pairs they are of."""

    differences: FloatArray
    images: IntArray
    kept: BoolArray

    def by_image(self, chosen: BoolArray) -> FloatArray:
        """Return the mean difference of each image, over the chosen samples."""
        images = self.images[chosen]
        counts = np.bincount(images)
        sums = np.bincount(images, weights=self.differences[chosen])
        return sums[counts > 0] / counts[counts > 0]


class _Group(msgspec.Struct, frozen=True, kw_only=True):
    """Samples of a group and the mean differences by image in it and outside; `z` is how far its mean is off."""

    dimension: str
    value: str
    members: BoolArray
    inside: FloatArray
    outside: FloatArray

    @property
    def z(self) -> float:
        """Return how many standard errors the mean of the group lies from the mean of all, were it drawn from them."""
        every = np.concatenate([self.inside, self.outside])
        error = math.sqrt(every.var() / len(self.inside) * len(self.outside) / (len(every) - 1))
        return float((self.inside.mean() - every.mean()) / error) if error > 0 else 0.0


def gathered(pairs: Sequence[Pair], placed: Mapping[str, Sequence[str | None]]) -> Gathering | None:
    """Return the group in which the difference lies; None when chance may have spread it so.

    Args:
        pairs: records of both arms for the samples both have tried; those without a score are left out.
        placed: by dimension, the group of each pair in it, or None where it has none.
    """
    scored = _scored(pairs)
    if not scored.differences.any():
        return None
    groups = [group for name, values in placed.items() for group in _groups(scored, name, values)]
    larger = [group for group in groups if abs(_points(scored, group.members)) > abs(_points(scored, ~group.members))]
    ranked = sorted(larger, key=lambda group: (-abs(group.z), group.dimension, group.value))
    likely = [group for group in ranked[:_CANDIDATES] if abs(group.z) >= _LEAST_Z]
    found = (_gathering(scored, group, len(groups)) for group in likely)
    return next((one for one in found if one is not None), None)


def by_chance(inside: FloatArray, outside: FloatArray, draws: int) -> float:
    """Return how likely a mean at least as far from that of all values is, when the `inside` ones are drawn from all.

    This is a two-sided permutation test of the values rounded to a twentieth, which bounds the work. The draws are made
    with a fixed seed, so the same data give the same number.
    """
    coarse = [np.round(part / _STEP) * _STEP for part in (inside, outside)]
    values, counts = np.unique(np.concatenate(coarse), return_counts=True)
    middle = float(values @ counts) / counts.sum()
    seen = abs(coarse[0].mean() - middle)
    drawn = np.random.default_rng(0).multivariate_hypergeometric(counts, len(inside), size=draws, method="marginals")
    means = np.abs(drawn @ values / len(inside) - middle)
    return float((1 + np.count_nonzero(means >= seen - _SAME)) / (1 + draws))


def _scored(pairs: Sequence[Pair]) -> _Scored:
    kept = np.array([a.score is not None and b.score is not None for a, b in pairs], dtype=bool)
    scored = [pair for pair, is_kept in zip(pairs, kept, strict=True) if is_kept]
    numbers: dict[str, int] = {}
    return _Scored(
        differences=np.array([(a.score or 0.0) - (b.score or 0.0) for a, b in scored]),
        images=np.array([numbers.setdefault(a.cluster, len(numbers)) for a, _ in scored], dtype=np.int64),
        kept=kept,
    )


def _groups(scored: _Scored, dimension: str, values: Sequence[str | None]) -> Iterable[_Group]:
    placed = np.array(["" if value is None else value for value in values])[scored.kept]
    for value in sorted({value for value in values if value}):
        members = placed == value
        inside, outside = scored.by_image(members), scored.by_image(~members)
        if min(len(inside), len(outside)) >= LEAST_IMAGES:
            yield _Group(dimension=dimension, value=value, members=members, inside=inside, outside=outside)


def _gathering(scored: _Scored, group: _Group, groups: int) -> Gathering | None:
    few = by_chance(group.inside, group.outside, _FEW_DRAWS)  # enough to see that it may well be chance
    if few > _CLEARLY_CHANCE:
        return None
    chance = min(1.0, groups * by_chance(group.inside, group.outside, _DRAWS))
    if chance > MOST_BY_CHANCE:
        return None
    return Gathering(
        dimension=group.dimension,
        value=group.value,
        n=int(group.members.sum()),
        diff_pp=_points(scored, group.members),
        rest_n=int((~group.members).sum()),
        rest_diff_pp=_points(scored, ~group.members),
        p=chance,
        groups=groups,
    )


def _points(scored: _Scored, chosen: BoolArray) -> float:
    return 100.0 * float(scored.differences[chosen].mean())
