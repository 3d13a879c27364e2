"""Rule `blink_official`: BLINK's rules without its language model.

Source: Fu et al. 2024 (arXiv:2404.12390), `eval/test_benchmark.py` at zeyofu/BLINK_Benchmark@2d6a779. The authors let
GPT-3.5 read what the rules do not; here that is no answer, which costs GPT-4o 8 points. Use `option_letter` for a
result and this rule to see how much of it the rules alone give.

An output that is a letter from A to E, or such a letter in round brackets, is that answer, whatever the options are;
one blank more, and it is not. Else the words count that are the bracketed letter of one of the options: the only one of
them in the output, or the only one in its last paragraph.
"""

from bakeoff.records import OptionTarget, Score, Target
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect

VERSION = "2"
_LABELS = ("(A)", "(B)", "(C)", "(D)", "(E)")


def blink_official(output: str, target: Target) -> Score:
    """Score the raw output; the answer is a letter.

    Raises:
        TypeError: when the target is not an option.
    """
    gold = expect(target, OptionTarget)
    label = _read_label(output, gold.count)
    return unparsed() if label is None else graded(label[1], is_correct=label[1] == gold.letter.upper())


def _read_label(output: str, count: int) -> str | None:
    """Return the label that the output is, or the only one of an option in it, or in its last paragraph."""
    for label in _LABELS:
        if output in (label, label[1]):
            return label
    known = set(_LABELS[: max(count, 0)])
    for part in (output, output.rsplit("\n\n", maxsplit=1)[-1]):
        found = known.intersection(part.split())
        if len(found) == 1:
            return found.pop()
    return None
