"""Several runs of the same samples at temperature above 0: what is noise of a rerun and what is the track's.

Feed the means of the samples, not the raw repeats, into intervals and tests. Sources: Miller 2024, Chen 2021.
"""

import math
from collections.abc import Sequence

import msgspec


class Repeats(msgspec.Struct, frozen=True, kw_only=True):
    """Variance of repeated scores split in two.

    `se_run` is the noise of a rerun on the same samples, `se_total` the one for claims about the track. Without
    repeats (every sample once) `within`, `between` and `se_run` are unknown; fewer than two samples leave `se_total`
    unknown.
    """

    value: float | None
    n: int
    within: float | None = None
    between: float | None = None
    se_run: float | None = None
    se_total: float | None = None


def split_repeats(samples: Sequence[Sequence[float]]) -> Repeats:
    """Split the variance of `samples`, one sequence of repeated scores each.

    Raises:
        ValueError: when a sample has no score.
    """
    if any(len(repeats) == 0 for repeats in samples):
        raise ValueError("a sample without any score has no mean; leave it out and count it")
    n = len(samples)
    if n == 0:
        return Repeats(value=None, n=0)
    means = [math.fsum(repeats) / len(repeats) for repeats in samples]
    value = math.fsum(means) / n
    spread = math.fsum((mean - value) ** 2 for mean in means) / (n - 1) if n > 1 else None
    total = sum(len(repeats) for repeats in samples)
    if total == n:
        return Repeats(value=value, n=n, se_total=None if spread is None else math.sqrt(spread / n))
    residual = math.fsum((x - mean) ** 2 for repeats, mean in zip(samples, means, strict=True) for x in repeats)
    within = residual / (total - n)
    noise = within * math.fsum(1.0 / len(repeats) for repeats in samples) / n
    between = None if spread is None else max(0.0, spread - noise)
    return Repeats(
        value=value,
        n=n,
        within=within,
        between=between,
        se_run=math.sqrt(noise / n),
        se_total=None if between is None else math.sqrt((between + noise) / n),
    )


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Return the unbiased chance that at least one of `k` draws from `n` repeats is right, `1 - C(n-c,k)/C(n,k)`.

    Raises:
        ValueError: unless 0 <= correct <= n and 1 <= k <= n.
    """
    if not (0 <= correct <= n and 1 <= k <= n):
        raise ValueError(f"pass@{k} is not defined for {correct} right of {n}")
    return 1.0 - math.comb(n - correct, k) / math.comb(n, k)
