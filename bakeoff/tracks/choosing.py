"""Which rows of a dataset are prepared: all, or a seeded draw that is the reference system's to the row.

Published local results rest on draws made with `random.Random(42).shuffle` over row numbers; these functions repeat
them exactly, so that a result here can be laid beside one there.
"""

import random
from collections.abc import Callable, Sequence

from bakeoff.errors import UsageProblem
from bakeoff.tracks.source import Row

SEED = 42
Chooser = Callable[[Sequence[Row], str | int], list[Row]]


def prefix_of_shuffle(subset: int) -> Chooser:
    """Return a chooser for tracks that are drawn as a whole: one shuffle, of which any size is a prefix.

    `"full"` is all rows in dataset order, `"subset"` the first `subset` of the shuffle, a number that many.
    """

    def choose(rows: Sequence[Row], size: str | int) -> list[Row]:
        if size == "full":
            return list(rows)
        return shuffled(rows)[: count(size, subset)]

    return choose


def equal_shares(group_of: Callable[[Row], str], subset: int, order: Sequence[str]) -> Chooser:
    """Return a chooser for tracks whose score is a mean over groups: every group gives the same number of rows.

    One generator shuffles the groups in `order`, one after the other; a smaller draw is part of a larger one. A group
    that runs out gives what it has. The result is ordered by group, then as drawn.
    """

    def choose(rows: Sequence[Row], size: str | int) -> list[Row]:
        if size == "full":
            return list(rows)
        n = count(size, subset)
        members: dict[str, list[Row]] = {name: [] for name in order}
        for row in rows:
            members[group_of(row)].append(row)
        generator = _generator()
        for group in members.values():
            generator.shuffle(group)
        quotas = _share({name: len(group) for name, group in members.items()}, n)
        return [row for name, group in members.items() for row in group[: quotas[name]]]

    return choose


def shuffled(rows: Sequence[Row]) -> list[Row]:
    """Return `rows` in the order of the seeded shuffle of their positions."""
    order = list(rows)
    _generator().shuffle(order)
    return order


def count(size: str | int, subset: int) -> int:
    """Return how many rows a size means.

    Raises:
        UsageProblem: when it is neither `"subset"` nor a number of at least 1.
    """
    if size == "subset":
        return subset
    if isinstance(size, str | bool) or size < 1:
        raise UsageProblem(f"there is no size {size!r}; write full, subset, or a number of samples")
    return size


def _generator() -> random.Random:
    """Return the generator of a draw."""
    return random.Random(SEED)  # noqa: S311 - a draw to repeat, not a secret


def _share(sizes: dict[str, int], n: int) -> dict[str, int]:
    """Share `n` out one by one among the groups that have more to give."""
    quotas = dict.fromkeys(sizes, 0)
    left = min(n, sum(sizes.values()))
    while left:
        for name in [name for name, size in sizes.items() if quotas[name] < size][:left]:
            quotas[name] += 1
            left -= 1
    return quotas
