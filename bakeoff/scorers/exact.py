"""Rules `exact` and `contains`: plain text comparison for custom tracks.

Both sides are folded (NFKC), case-folded, and their whitespace collapsed; nothing else is forgiven: `Paris.` is not
`Paris`. There is no official script behind these rules.
"""

import re

from bakeoff.records import Score, Target, TextTarget
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect
from bakeoff.text import collapse, fold, fold_answer

VERSION = "2"


def exact(output: str, target: Target) -> Score:
    """Score 1 when the final answer equals one of the golds.

    Raises:
        TypeError: when the target is not a text.
    """
    answer = collapse(fold_answer(output))
    if not answer:
        return unparsed()
    golds = {_key(gold) for gold in expect(target, TextTarget).answers}
    return graded(answer, is_correct=_key(answer) in golds)


def contains(output: str, target: Target) -> Score:
    """Score 1 when one of the golds stands in the final answer, not inside a longer word or number; never an empty one.

    Raises:
        TypeError: when the target is not a text.
    """
    answer = collapse(fold_answer(output))
    if not answer:
        return unparsed()
    golds = [_key(gold) for gold in expect(target, TextTarget).answers]
    return graded(answer, is_correct=any(_stands_in(gold, _key(answer)) for gold in golds if gold))


def _key(text: str) -> str:
    """Return what two equal texts share."""
    return collapse(fold(text)).casefold()


def _stands_in(needle: str, text: str) -> bool:
    """Return whether `needle` occurs in `text` with no letter, digit or part of a number next to it."""
    before = r"(?<!\w)(?<![0-9][.,])(?<!-)" if needle[0].isdigit() else r"(?<!\w)" if needle[0].isalnum() else ""
    after = r"(?!\w)(?![.,][0-9])" if needle[-1].isdigit() else r"(?!\w)" if needle[-1].isalnum() else ""
    return re.search(before + re.escape(needle) + after, text) is not None
