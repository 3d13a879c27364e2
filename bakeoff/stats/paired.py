"""Paired difference of two arms with a verdict: equivalence first, then difference, else undecided.

Two pseudo-pairs (Bonett and Price 2012) keep a handful of disagreements from proclaiming equality out of ignorance;
equivalence also needs `3 / margin` effective pairs (rule of three: with no disagreement in n pairs a rate of 3/n is
still plausible) and takes each image as one pair while fewer than ten images carry the differences. Without these
guards a plain TOST declares a false equivalence in up to 42 % of cases at a nominal 5 %.

Sources: Bonett and Price 2012; Schuirmann 1987 (TOST); Hanley and Lippman-Hand 1983. The combination is this suite's.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from bakeoff.stats.distributions import t_quantile, t_tail
from bakeoff.stats.moments import ENOUGH_INFORMATIVE_CLUSTERS, Missing, Moments, check_scores, compute_moments

Verdict = Literal["equivalent", "a_better", "b_better", "undecided"]
Direction = Literal["a", "b"] | None
Bounds = tuple[float, float]

_RULE_OF_THREE = 3.0
_ROUNDING = 1e-12


class Joined(msgspec.Struct, frozen=True, kw_only=True):
    """Scores of two arms on the samples both have, in the order of sorted ids."""

    ids: tuple[str, ...]
    a: tuple[float, ...]
    b: tuple[float, ...]
    only_a: int
    only_b: int

    @property
    def common_share(self) -> float | None:
        """Common samples as a share of the union; None when both arms are empty."""
        union = len(self.ids) + self.only_a + self.only_b
        return len(self.ids) / union if union else None


class PairedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Difference of means (a minus b) with interval, tests and verdict.

    `value` is the plain difference; `low`..`high` is the 95 % interval around the slightly shrunk `centre`. Fields
    ending in `_eq` are the more cautious ones of the equivalence side, which gates use too. `direction` is the arm
    that is ahead when the difference test passes, also next to the verdict `equivalent`. Everything but `value`, `n`
    and the means is None when `reason` says why nothing can be decided.
    """

    value: float | None
    n: int
    verdict: Verdict
    margin: float
    a_mean: float | None = None
    b_mean: float | None = None
    low: float | None = None
    high: float | None = None
    p_diff: float | None = None
    p_tost: float | None = None
    direction: Direction = None
    is_enough: bool = False
    centre: float | None = None
    se: float | None = None
    df: float | None = None
    deff: float | None = None
    informative_clusters: float | None = None
    centre_eq: float | None = None
    se_eq: float | None = None
    deff_eq: float | None = None
    n_eff_eq: float | None = None
    interval90_eq: Bounds | None = None
    interval95_eq: Bounds | None = None
    reason: Literal["empty", "one_cluster"] | None = None


def join_scores(a: Mapping[str, float | None], b: Mapping[str, float | None], *, missing: Missing = "refuse") -> Joined:
    """Join two arms by sample id; with `missing="drop"` a sample without a score counts as not there.

    Raises:
        ValueError: as `check_scores`.
    """

    def usable(arm: Mapping[str, float | None]) -> dict[str, float]:
        ids = sorted(arm)
        values, kept = check_scores([arm[key] for key in ids], missing=missing)
        return {ids[position]: value for position, value in zip(kept, values, strict=True)}

    left, right = usable(a), usable(b)
    ids = tuple(key for key in left if key in right)
    return Joined(
        ids=ids,
        a=tuple(left[key] for key in ids),
        b=tuple(right[key] for key in ids),
        only_a=len(left) - len(ids),
        only_b=len(right) - len(ids),
    )


def paired_difference(
    a: Sequence[float],
    b: Sequence[float],
    *,
    margin: float,
    clusters: Sequence[str] | None = None,
    strata: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    alpha: float = 0.05,
) -> PairedDifference:
    """Compare two arms sample by sample.

    Args:
        a: scores of the first arm in [0, 1].
        b: scores of the second arm on the same samples in the same order.
        margin: largest difference that still counts as the same, as a fraction; fixed before looking. With 0 there
            is no equivalence.
        clusters: as in `interval`.
        strata: as in `interval`; the difference is then that of the macro means.
        weights: as in `interval`.
        alpha: error of either test; strict.

    Raises:
        ValueError: when lengths differ, the margin is negative, or scores are refused.
    """
    if len(a) != len(b):
        raise ValueError(f"paired scores differ in number: {len(a)} and {len(b)}")
    if not 0.0 <= margin <= 1.0:
        raise ValueError(f"margin must be a fraction in [0, 1], not {margin!r}")
    left, _ = check_scores(a)
    right, _ = check_scores(b)
    if not left:
        return PairedDifference(value=None, n=0, verdict="undecided", margin=margin, reason="empty")
    difference = [x - y for x, y in zip(left, right, strict=True)]
    m = compute_moments(difference, clusters=clusters, strata=strata, weights=weights)
    base = PairedDifference(
        value=0.0 if abs(m.value) < _ROUNDING else m.value,
        n=m.n,
        verdict="undecided",
        margin=margin,
        a_mean=compute_moments(left, strata=strata, weights=weights).value,
        b_mean=compute_moments(right, strata=strata, weights=weights).value,
        reason="one_cluster",
    )
    if not m.has_variance:
        return base
    return _decided(base, m, largest=max(abs(d) for d in difference), alpha=alpha)


def decide(
    *, p_diff: float, p_tost: float, sign: float, margin: float, is_enough: bool, alpha: float = 0.05
) -> tuple[Verdict, Direction]:
    """Return verdict and direction from two p values: equivalence first, then difference, else undecided.

    Total and free of contradictions: there is one label for any input. After Holm pass the adjusted p values.
    """
    ahead: Direction = None
    if p_diff < alpha and sign != 0:
        ahead = "a" if sign > 0 else "b"
    if is_enough and margin > 0 and p_tost < alpha:
        return "equivalent", ahead
    if ahead is None:
        return "undecided", None
    return ("a_better" if ahead == "a" else "b_better"), ahead


def _decided(base: PairedDifference, m: Moments, *, largest: float, alpha: float) -> PairedDifference:
    """Fill in tests, intervals and verdict."""
    deff = max(m.variance / m.independent, 1.0) if m.independent else max(m.kish, 1.0)
    deff_eq = max(m.kish, 1.0) if m.informative_clusters < ENOUGH_INFORMATIVE_CLUSTERS else deff
    # Pseudo-pairs as large as the largest difference seen suffice to test a difference; equivalence must reckon with
    # a full-size difference that was not sampled.
    centre, se = _shrunk(m, deff, largest or 1.0)
    centre_eq, se_eq = _shrunk(m, deff_eq, 1.0)
    n_eff_eq = m.n_equal / deff_eq
    p_diff = min(2.0 * t_tail(abs(centre) / se, m.df), 1.0)
    p_tost = max(t_tail((centre_eq + base.margin) / se_eq, m.df), t_tail((base.margin - centre_eq) / se_eq, m.df))
    is_enough = base.margin > 0 and n_eff_eq >= _RULE_OF_THREE / base.margin - _ROUNDING
    sign = 0.0 if abs(centre) < _ROUNDING else centre
    verdict, direction = decide(
        p_diff=p_diff, p_tost=p_tost, sign=sign, margin=base.margin, is_enough=is_enough, alpha=alpha
    )

    def around(middle: float, width: float, confidence: float) -> Bounds:
        half = t_quantile(0.5 + confidence / 2.0, m.df) * width
        return max(middle - half, -1.0), min(middle + half, 1.0)

    low, high = around(centre, se, 0.95)
    return msgspec.structs.replace(
        base,
        verdict=verdict,
        direction=direction,
        low=low,
        high=high,
        p_diff=p_diff,
        p_tost=p_tost,
        is_enough=is_enough,
        centre=centre,
        se=se,
        df=m.df,
        deff=deff,
        informative_clusters=m.informative_clusters,
        centre_eq=centre_eq,
        se_eq=se_eq,
        deff_eq=deff_eq,
        n_eff_eq=n_eff_eq,
        interval90_eq=around(centre_eq, se_eq, 0.90),
        interval95_eq=around(centre_eq, se_eq, 0.95),
        reason=None,
    )


def _shrunk(m: Moments, deff: float, size: float) -> tuple[float, float]:
    """Return centre and standard error after adding one pair of `+size` and one of `-size` to the effective pairs."""
    n = m.n_equal / deff
    mean_square = n * m.population * deff + m.value**2
    centre = n * m.value / (n + 2.0)
    variance = ((n * mean_square + 2.0 * size**2) / (n + 2.0) - centre**2) / (n + 2.0)
    return centre, math.sqrt(variance)
