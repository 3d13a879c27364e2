"""Holm's correction over the tracks of a comparison (Holm 1979)."""

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float]:
    """Return adjusted p values in the order given; reject where one is below alpha.

    A track that could not be tested (None) counts as p = 1 and stays in the family: the family is what was planned.
    Differences and equivalences are two families; pass the adjusted values to `decide`. Intervals are not adjusted.

    Raises:
        ValueError: on a p value that is not in [0, 1] (NaN included).
    """
    p = [1.0 if value is None else value for value in p_values]
    if not all(0.0 <= value <= 1.0 for value in p):
        raise ValueError(f"p values lie in [0, 1]: {list(p_values)}")
    adjusted = [1.0] * len(p)
    running = 0.0
    for rank, position in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        running = max(running, min(1.0, (len(p) - rank) * p[position]))
        adjusted[position] = running
    return adjusted
