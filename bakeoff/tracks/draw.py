"""Drawing a smaller sample from a track: seeded, stratified, never a prefix."""

import random
from collections import defaultdict
from collections.abc import Sequence

from bakeoff.records import Sample


def draw(samples: Sequence[Sample], n: int, *, dimension: str | None, seed: int) -> tuple[Sample, ...]:
    """Return `n` of `samples`, in their order, with every group of `dimension` in proportion to its size.

    Shares are rounded by largest remainder; a group gets at least one sample as long as there are enough for all. The
    result depends on nothing but the arguments. With `n` at or above the number of samples all of them are returned.
    """
    if n >= len(samples):
        return tuple(samples)
    strata: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        strata[sample.groups.get(dimension or "", "")].append(sample)
    quotas = _quotas({name: len(members) for name, members in sorted(strata.items())}, n)
    chosen: set[str] = set()
    for name, quota in quotas.items():
        shuffled = strata[name][:]
        random.Random(f"{seed}/{dimension}/{name}").shuffle(shuffled)  # noqa: S311 - a draw to repeat, not a secret
        chosen.update(sample.id for sample in shuffled[:quota])
    return tuple(sample for sample in samples if sample.id in chosen)


def _quotas(sizes: dict[str, int], n: int) -> dict[str, int]:
    """Share `n` among groups of the given sizes; the shares sum to `n` and none exceeds its group."""
    total = sum(sizes.values())
    least = 1 if n >= len(sizes) else 0
    exact = {name: n * size / total for name, size in sizes.items()}
    quotas = {name: max(least, int(share)) for name, share in exact.items()}
    by_need = sorted(sizes, key=lambda name: (quotas[name] - exact[name], name))
    while (missing := n - sum(quotas.values())) != 0:
        step = 1 if missing > 0 else -1
        for name in by_need if step > 0 else reversed(by_need):
            if n == sum(quotas.values()):
                break
            if least <= quotas[name] + step <= sizes[name]:
                quotas[name] += step
    return quotas
