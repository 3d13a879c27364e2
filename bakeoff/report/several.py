"""Several tracks, one pair of arms: p values that agree with the printed interval, and Holm's correction over them.

Source: Holm 1979; `stats.holm`. Each kind of claim (a difference, one beyond the margin, an equality, no loss beyond
the margin) is a family of its own over the tracks that two arms share; a track without a verdict stays in its family
as p = 1. Intervals are not adjusted. A word that does not survive gives way to the strongest one that does.
"""

from collections.abc import Iterable, Mapping

import msgspec

from bakeoff.report import verdicts
from bakeoff.report.results import Comparison, Holm, Word
from bakeoff.stats import PairedDifference, holm
from bakeoff.stats.distributions import t_tail

ALPHA = 0.05


class PValues(msgspec.Struct, frozen=True, kw_only=True):
    """Two-sided p values: each is below 0.05 exactly when the drawn interval shows what it is named for."""

    difference: float
    beyond: float
    same: float
    not_worse: float


def interval_p_values(found: PairedDifference) -> PValues | None:
    """Return the p values of a difference, taken from whichever of its two intervals is the wider; None without any."""
    if found.centre is None or found.se is None or found.centre_eq is None or found.se_eq is None or found.df is None:
        return None
    df, margin = found.df, found.margin
    both = ((found.centre, found.se), (found.centre_eq, found.se_eq))

    def above(bound: float, sign: float = 1.0) -> float:
        """Return p that the difference times `sign` is above `bound`, by the more cautious of the two."""
        return min(2.0 * max(t_tail((sign * centre - bound) / se, df) for centre, se in both), 1.0)

    not_worse = above(-margin) if found.is_enough else 1.0
    return PValues(
        difference=min(above(0.0), above(0.0, -1.0)),
        beyond=min(above(margin), above(margin, -1.0)),
        same=max(not_worse, above(-margin, -1.0)),
        not_worse=not_worse,
    )


def after_holm(comparisons: Iterable[Comparison], titles: Mapping[str, str]) -> tuple[Comparison, ...]:
    """Return the comparisons, those of pairs that share several tracks with the words that hold after Holm.

    `titles` are those of the tracks, for the sentences.
    """
    found = list(comparisons)
    families: dict[tuple[str, str], list[int]] = {}
    for position, comparison in enumerate(found):
        families.setdefault((comparison.a, comparison.b), []).append(position)
    for positions in families.values():
        if len(positions) > 1:
            for position, adjusted in zip(positions, _adjust([found[p] for p in positions]), strict=True):
                found[position] = _worded(found[position], adjusted, titles)
    return tuple(found)


def _adjust(family: list[Comparison]) -> list[tuple[Holm, float]]:
    """Return what Holm makes of each comparison of one pair, and its adjusted p of a difference beyond the margin."""
    columns = [
        holm([c.p for c in family]),
        holm([c.p_same for c in family]),
        holm([c.p_not_worse for c in family]),
        holm([c.p_beyond for c in family]),
    ]
    return [
        (
            Holm(
                tracks=len(family),
                p=p,
                p_same=p_same,
                p_not_worse=p_not_worse,
                verdict_alone=comparison.verdict,
                beyond_margin_alone=comparison.beyond_margin,
            ),
            p_beyond,
        )
        for comparison, p, p_same, p_not_worse, p_beyond in zip(family, *columns, strict=True)
    ]


def _worded(comparison: Comparison, adjusted: tuple[Holm, float], titles: Mapping[str, str]) -> Comparison:
    corrected, p_beyond = adjusted
    if comparison.ci95_pp is None:
        return comparison
    word = _surviving(comparison.verdict, corrected)
    is_beyond = comparison.beyond_margin and word == comparison.verdict and p_beyond < ALPHA
    changed = msgspec.structs.replace(
        comparison,
        verdict=word,
        beyond_margin=is_beyond,
        holm=corrected,
        evidence=f"{comparison.evidence}; after Holm over {corrected.tracks} tracks",
    )
    if (word, is_beyond) == (comparison.verdict, comparison.beyond_margin):
        return changed
    title = titles.get(comparison.track, comparison.track)
    return msgspec.structs.replace(changed, sentence=verdicts.corrected_sentence(changed, corrected, title))


def _surviving(word: Word, corrected: Holm) -> Word:
    """Return the strongest word that the adjusted p values leave of `word`."""
    if word == "same" and corrected.p_same < ALPHA:
        return "same"
    if word in {"better", "worse"} and corrected.p < ALPHA:
        return word
    if word in {"same", "better", "not worse"} and corrected.p_not_worse < ALPHA:
        return "not worse"
    return "undecided"
