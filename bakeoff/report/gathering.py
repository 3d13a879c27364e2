"""Where a difference lies: the one group of samples in which two arms differ far more than in the rest.

A look over all groups finds something sooner or later, so what chance does is paid for: the probability is multiplied
by the number of groups looked at. Samples of one image are one witness, as in every interval.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import numpy as np

from bakeoff.records import Record
from bakeoff.report.flip_results import Gathering

Pair = tuple[Record, Record]

MOST_BY_CHANCE = 0.01
"""Probability, after counting all groups looked at, above which a difference is not said to lie in a group."""
LEAST_IMAGES = 3
"""Fewest images (samples, where each has its own) in a group, and outside it, that are worth a comparison."""
_CANDIDATES = 3
_FEW_DRAWS, _DRAWS = 2_000, 100_000
_SAME = 1e-12


class _Group(msgspec.Struct, frozen=True, kw_only=True):
    """A group and the rest as mean differences by image; `z` says how far the group's mean is off, to choose by."""

    dimension: str
    value: str
    inside: tuple[tuple[Record, float], ...]
    outside: tuple[tuple[Record, float], ...]
    z: float = 0.0


def gathered(pairs: Iterable[Pair], places: Mapping[str, Callable[[Record], str | None]]) -> Gathering | None:
    """Return the group in which the difference lies; None when chance may have spread it so.

    Args:
        pairs: records of both arms for the samples both have tried; those without a score are left out.
        places: by dimension, what tells a record's group in it, or None where it has none.
    """
    scored = [(a, a.score - b.score) for a, b in pairs if a.score is not None and b.score is not None]
    if all(difference == 0 for _, difference in scored):
        return None
    groups = [group for name, place in places.items() for group in _groups(scored, name, place)]
    larger = [group for group in groups if abs(_points(group.inside)) > abs(_points(group.outside))]
    likely = sorted(larger, key=lambda group: (-abs(group.z), group.dimension, group.value))[:_CANDIDATES]
    found = (_gathering(group, len(groups)) for group in likely)
    return next((one for one in found if one is not None), None)


def by_chance(inside: Sequence[float], outside: Sequence[float], draws: int) -> float:
    """Return how likely a mean at least as far from that of all values is, when the `inside` ones are drawn from all.

    This is a two-sided permutation test; the draws are made with a fixed seed, so the same data give the same number.
    """
    values, counts = np.unique(np.array([*inside, *outside]), return_counts=True)
    middle = float(values @ counts) / counts.sum()
    seen = abs(math.fsum(inside) / len(inside) - middle)
    drawn = np.random.default_rng(0).multivariate_hypergeometric(counts, len(inside), size=draws, method="marginals")
    means = np.abs(drawn @ values / len(inside) - middle)
    return float((1 + np.count_nonzero(means >= seen - _SAME)) / (1 + draws))


def _groups(
    scored: Sequence[tuple[Record, float]], dimension: str, place: Callable[[Record], str | None]
) -> Iterable[_Group]:
    values = [place(record) for record, _ in scored]
    for value in sorted({value for value in values if value is not None}):
        inside = tuple(one for one, where in zip(scored, values, strict=True) if where == value)
        outside = tuple(one for one, where in zip(scored, values, strict=True) if where != value)
        few = min(len({record.cluster for record, _ in part}) for part in (inside, outside))
        if few >= LEAST_IMAGES:
            group = _Group(dimension=dimension, value=value, inside=inside, outside=outside)
            yield msgspec.structs.replace(group, z=_distance(group))


def _distance(group: _Group) -> float:
    """Return how many standard errors the mean of the group lies from the mean of all, were it drawn from them."""
    inside, outside = _by_image(group.inside), _by_image(group.outside)
    every = np.array([*inside, *outside])
    error = math.sqrt(every.var() / len(inside) * len(outside) / (len(every) - 1))
    return float((np.mean(inside) - every.mean()) / error) if error > 0 else 0.0


def _gathering(group: _Group, groups: int) -> Gathering | None:
    inside, outside = _by_image(group.inside), _by_image(group.outside)
    chance = 1.0
    for draws in (_FEW_DRAWS, _DRAWS):  # few are enough to see that it may well be chance
        chance = min(1.0, groups * by_chance(inside, outside, draws))
        if chance > groups * 5 / _FEW_DRAWS and chance > MOST_BY_CHANCE:
            return None
    if chance > MOST_BY_CHANCE:
        return None
    return Gathering(
        dimension=group.dimension,
        value=group.value,
        n=len(group.inside),
        diff_pp=_points(group.inside),
        rest_n=len(group.outside),
        rest_diff_pp=_points(group.outside),
        p=chance,
        groups=groups,
    )


def _by_image(scored: Iterable[tuple[Record, float]]) -> list[float]:
    found: dict[str, list[float]] = {}
    for record, difference in scored:
        found.setdefault(record.cluster, []).append(difference)
    return [math.fsum(values) / len(values) for values in found.values()]


def _points(scored: Sequence[tuple[Record, float]]) -> float:
    return 100.0 * math.fsum(difference for _, difference in scored) / len(scored)
