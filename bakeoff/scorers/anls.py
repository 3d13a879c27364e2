"""Rules `anls` and `anls_official`: average normalised Levenshtein similarity.

Source: Biten et al. 2019 (ICCV, arXiv:1905.13648) as computed by the Robust Reading Competition's script for DocVQA
and InfographicVQA. Per gold answer, both strings are lower-cased, stripped and their inner whitespace collapsed; the
edit distance is divided by the length of the longer *raw* string, measured after upper-casing; the similarity is one
minus the smallest quotient, and 0 when below 0.5. Exactly 0.5 stays, unlike in the paper's formula. There is no other
clean-up: prefixes, fences and full stops cost points, as they do in every published number.

`anls` reads the final-answer view, `anls_official` the raw output; they differ only when a model thinks aloud.
"""

import Levenshtein

from bakeoff.records import Score, Target, TextTarget
from bakeoff.scorers.scorer import unparsed
from bakeoff.scorers.targets import expect
from bakeoff.text import collapse, final_answer

VERSION = "2"
THRESHOLD = 0.5
_VERBOSE = 4


def anls(output: str, target: Target, threshold: float = THRESHOLD) -> Score:
    """Score the final-answer view; a `threshold` other than the official 0.5 is for custom cases.

    Metrics: `anls_raw` (the script on the raw output), `anls_pass` (1 when at least 0.5), `verbose` (1 when the answer
    has several lines or is over four times as long as the longest gold).

    Raises:
        TypeError: when the target is not a text.
    """
    return _score(final_answer(output), output, expect(target, TextTarget), threshold)


def anls_official(output: str, target: Target, threshold: float = THRESHOLD) -> Score:
    """Score the raw output, thoughts and all; metrics and errors as `anls`."""
    return _score(output, output, expect(target, TextTarget), threshold)


def similarity(text: str, answers: tuple[str, ...], threshold: float = THRESHOLD) -> float:
    """Return the best similarity of `text` to any of `answers`, cut to 0 below the threshold; 0 without answers."""
    best = 1.0 - min((_distance(text, answer) for answer in answers), default=1.0)
    return best if best >= threshold else 0.0


def _score(text: str, output: str, target: TextTarget, threshold: float) -> Score:
    """Score `text`, and `output` for the raw metric."""
    raw = similarity(output, target.answers, threshold)
    answer, value = collapse(text), similarity(text, target.answers, threshold)
    if not answer and value == 0.0:
        # The script credits an empty answer to an empty gold, and blanks to a gold that is short beside them.
        return unparsed({"anls_raw": raw, "anls_pass": 0.0, "verbose": 0.0})
    longest = max((len(gold) for gold in target.answers), default=0)
    is_verbose = "\n" in text or len(text) > _VERBOSE * longest
    metrics = {"anls_raw": raw, "anls_pass": float(value >= threshold), "verbose": float(is_verbose)}
    return Score(value=value, correct=value >= threshold, answer=answer, metrics=metrics)


def _distance(text: str, answer: str) -> float:
    """Return edit distance over length, in [0, 1]."""
    # Upper-casing first makes a sharp s or a ligature count two in the divisor, as the script has it.
    divisor = max(len(text.upper()), len(answer.upper()))
    if divisor == 0:
        return 0.0
    return min(Levenshtein.distance(collapse(text.lower()), collapse(answer.lower())) / divisor, 1.0)
