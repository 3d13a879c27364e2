"""What a constant answer and blind chance score on a pool of golds: the floor under every table.

The constant is chosen on the test set, so it is slightly too good: fair as a floor. A model that is not better than
it in a paired test has shown nothing.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """The best constant `answer` and its `value`; `chance` is None when some sample has no options to draw from."""

    answer: str | None
    value: float | None
    chance: float | None


def constant_baseline(
    golds: Sequence[str], options: Sequence[int | None], *, groups: Sequence[str] | None = None
) -> Baseline:
    """Find the constant answer that scores best; ties go to the first in sort order.

    Args:
        golds: right answer of each sample.
        options: number of options of each sample, None for an open question.
        groups: group of each sample; scores are then means of the groups' means, with one constant for all.

    Raises:
        ValueError: when lengths differ.
    """
    groups = [""] * len(golds) if groups is None else groups
    if not len(golds) == len(options) == len(groups):
        raise ValueError(f"{len(golds)} golds, {len(options)} option counts and {len(groups)} groups do not match")
    if not golds:
        return Baseline(answer=None, value=None, chance=None)
    sizes = Counter(groups)
    weight = {group: 1.0 / size / len(sizes) for group, size in sizes.items()}
    scores: dict[str, float] = {}
    for gold, group in zip(golds, groups, strict=True):
        scores[gold] = scores.get(gold, 0.0) + weight[group]
    # Rounding keeps a tie a tie however its weights were summed.
    answer = min(scores, key=lambda gold: (-round(scores[gold], 12), gold))
    counts = [(count, weight[group]) for count, group in zip(options, groups, strict=True) if count]
    chance = sum(share / count for count, share in counts) if len(counts) == len(golds) else None
    return Baseline(answer=answer, value=scores[answer], chance=chance)
