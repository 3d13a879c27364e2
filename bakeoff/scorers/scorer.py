"""What a scorer is, and the two scores that every rule gives."""

from collections.abc import Callable, Mapping

import msgspec

from bakeoff.records import Score, Target


class Scorer(msgspec.Struct, frozen=True, kw_only=True):
    """A rule with a name and a version; `score` is pure: output text and target in, score out, on any text.

    `version` is bumped by whatever can move a score.
    """

    name: str
    version: str
    score: Callable[[str, Target], Score]


def unparsed(metrics: Mapping[str, float] | None = None) -> Score:
    """Return the score of an output in which no answer was found: 0, counted, never guessed."""
    return Score(value=0.0, correct=False, answer=None, metrics=dict(metrics or {}))


def graded(answer: str, *, is_correct: bool, metrics: Mapping[str, float] | None = None) -> Score:
    """Return 1 or 0 for an answer that was read."""
    return Score(value=float(is_correct), correct=is_correct, answer=answer, metrics=dict(metrics or {}))
