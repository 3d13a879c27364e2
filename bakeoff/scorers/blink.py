"""Rule `blink_official`: BLINK's rules without its language model.

Source: Fu et al. 2024 (arXiv:2404.12390), `eval/test_benchmark.py` at zeyofu/BLINK_Benchmark@2d6a779. The authors let
GPT-3.5 read what the rules do not; here that is no answer, which costs GPT-4o 8 points. Use `option_letter` for a
result and this rule to see how much of it the rules alone give.
"""

from bakeoff.records import OptionTarget, Score, Target
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect

VERSION = "1"
_LETTERS = "ABCDE"
_LABELS = frozenset(f"({letter})" for letter in _LETTERS)


def blink_official(output: str, target: Target) -> Score:
    """Score the raw output; the answer is a letter.

    Raises:
        TypeError: when the target is not an option.
    """
    gold = expect(target, OptionTarget)
    label = _read_label(output)
    return unparsed() if label is None else graded(label[1], is_correct=label[1] == gold.letter.upper())


def _read_label(output: str) -> str | None:
    """Return the label the whole output is, or the only one in it, or the only one in its last paragraph."""
    text = output.strip()
    if len(text) == 1 and text in _LETTERS:
        return f"({text})"
    for part in (text, text.rsplit("\n\n", maxsplit=1)[-1]):
        found = set(part.split()) & _LABELS
        if len(found) == 1:
            return found.pop()
    return None
