r"""Rules `option_letter` and `option_text`: which lettered option does the answer choose?

The first step that decides wins; no step guesses, and none looks at the gold. On the folded final answer:

1. Without wrappers (`\boxed`, code fence, markdown, quotes, dollar signs, brackets, full stop) one letter remains.
2. It equals the text of an option.
3. The last boxed expression holds a letter, a label, or the text of an option.
4. The last declaration: "The answer is (B)", "B is correct"; taken back at once by "or C" it is no answer.
5. A leading label such as "B. ", or a first line "B", unless other labels follow (a copied list); or a letter with
   exactly the text of its option.
6. It begins with the text of an option, with no letter, digit or decimal behind it: "12.5 cm" is not the option 12.
7. Letters and connectors only: one letter, or no answer. A refusal in the last sentence is no answer.
8. Letters in brackets, or standing alone: the only one, or the one that the last paragraph or sentence names.
9. The only option whose text occurs.

There is no official rule without a language model or a random guess in it (`mmmu_official`, `blink_official`); on
stored real outputs of eight models this one agrees with GPT-3.5's reading on 91 to 100 % of BLINK.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from bakeoff.records import OptionTarget, Score, Target
from bakeoff.scorers import letters
from bakeoff.scorers.option_texts import find_equal, find_only, find_prefix
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect
from bakeoff.text import fold_answer, last_boxed

VERSION = "2"

_NO_ANSWER = ""  # a step decided that there is none
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ROUNDS = 12  # wrappers deeper than this are no answer
_BLANKS = " \t\r\n"
_MARKS = _BLANKS + "*_`#~\"'\u201c\u201d\u2018\u2019\u00ab\u00bb"
_QUOTE_MARK = ">"  # before a line; behind it stands the end of "<B>"
_TRAILING = ".,:;!?\u3002"
_PAIRS = (
    *("()", "[]", "{}", "<>", "$$", "\u3008\u3009", "\u300a\u300b", "\u300c\u300d", "\u300e\u300f"),
    *("\u3010\u3011", "\u3014\u3015", "\u3016\u3017"),
)
_COMMAND = re.compile(r"\\(?:boxed|text|mathrm|mathbf|textbf)\s*+\{")
_FENCED = re.compile(r"```[A-Za-z]*+\s(.*?)```\Z", re.DOTALL)
_UPPER_LABEL = re.compile(
    r"(?:\\(?:text|mathrm|mathbf|textbf)\s*+\{\s*+)*+(?:[(\[]([A-Z])[)\]]|([A-Z])(?:[.:)](?![A-Za-z])|\s-\s))"
)


class _Answer(msgspec.Struct, frozen=True):
    """What the steps look at: folded text, its unwrapped stages, the valid letters, the options' texts."""

    text: str
    stages: list[str]
    valid: str
    options: Sequence[str]

    @property
    def bare(self) -> str:
        """The text without any wrapper."""
        return self.stages[-1]


def option_letter(output: str, target: Target) -> Score:
    """Score 1 when the letter read is the gold letter.

    Raises:
        TypeError: when the target is not an option.
    """
    gold = expect(target, OptionTarget)
    letter = read_letter(output, gold.count, gold.options)
    return unparsed() if letter is None else graded(letter, is_correct=letter == gold.letter.upper())


def option_text(output: str, target: Target) -> Score:
    """Score 1 when the *text* of the option read is that of the gold, which may stand under two letters (MathVista).

    Raises:
        TypeError: when the target is not an option.
    """
    gold = expect(target, OptionTarget)
    letter = read_letter(output, gold.count, gold.options)
    if letter is None:
        return unparsed()
    texts = dict(zip(_ALPHABET, gold.options, strict=False))
    is_same = letter == gold.letter.upper() or (letter in texts and texts[letter] == texts.get(gold.letter.upper()))
    return graded(letter, is_correct=is_same)


def read_letter(output: str, count: int, options: Sequence[str] = ()) -> str | None:
    """Return the letter of the option that `output` chooses among `count`, or None."""
    valid = _ALPHABET[: max(count, 0)]
    text = fold_answer(output)
    if not text:
        return None
    answer = _Answer(text, _unwrap(text), valid, options[: len(valid)])
    for step in _STEPS:
        letter = step(answer)
        if letter is not None:
            return letter or None
    return None


def _is_letter(answer: _Answer) -> str | None:
    """Step 1: one letter remains."""
    return _lone_letter(answer.bare, answer.valid)


def _is_text(answer: _Answer) -> str | None:
    """Step 2: the text of an option remains."""
    return find_equal(answer.stages, answer.options)


def _is_boxed(answer: _Answer) -> str | None:
    """Step 3: the last boxed expression gives a letter, an upper-case label or the text of an option."""
    boxed = last_boxed(answer.text)
    if boxed is None:
        return None
    stages = _unwrap(boxed.strip())
    label = _UPPER_LABEL.match(stages[0])
    letter = (label[1] or label[2]) if label else ""
    if letter and letter in answer.valid:
        return letter
    return _lone_letter(stages[-1], answer.valid) or find_equal(stages, answer.options)


def _is_declared(answer: _Answer) -> str | None:
    """Step 4: the last declaration, unless it hedges."""
    letter, is_hedged = letters.declared(answer.text, answer.valid)
    return _NO_ANSWER if is_hedged else letter


def _is_label(answer: _Answer) -> str | None:
    """Step 5: a letter with exactly its own option, or a leading label."""
    text = answer.text.lstrip(_QUOTE_MARK + _MARKS)
    for stage in dict.fromkeys((text, answer.bare)):
        letter, rest = letters.leading(stage, answer.valid)
        if letter and find_equal((rest,), answer.options[answer.valid.index(letter) :][:1]):
            return letter
    return letters.label(text, answer.valid)


def _is_prefix(answer: _Answer) -> str | None:
    """Step 6: the text of an option comes first."""
    return find_prefix(answer.bare, answer.options)


def _is_only_letters(answer: _Answer) -> str | None:
    """Step 7: letters and connectors, or a refusal."""
    found = letters.only_letters(answer.bare, answer.valid)
    if found:
        return found.pop() if len(found) == 1 else _NO_ANSWER
    return _NO_ANSWER if letters.is_refusal(answer.text) else None


def _is_mentioned(answer: _Answer) -> str | None:
    """Step 8: letters in brackets or alone."""
    found = letters.mentioned(answer.text, answer.valid)
    if not found:
        return None
    return (
        found[0][1] if len({letter for _, letter in found}) == 1 else letters.deciding(answer.text, found, answer.valid)
    )


def _has_text(answer: _Answer) -> str | None:
    """Step 9: the text of one option occurs."""
    return find_only(answer.text, answer.options)


_STEPS: Final[tuple[Callable[[_Answer], str | None], ...]] = (
    *(_is_letter, _is_text, _is_boxed, _is_declared, _is_label),
    *(_is_prefix, _is_only_letters, _is_mentioned, _has_text),
)


def _unwrap(text: str) -> list[str]:
    """Return `text` and what is left of it after each round of taking off wrappers."""
    stages = [text]
    for _ in range(_ROUNDS):
        inner = stages[-1].lstrip(_QUOTE_MARK + _MARKS).rstrip(_MARKS)
        fenced = _FENCED.match(stages[-1].strip())
        command = _COMMAND.match(inner)
        if fenced:
            inner = fenced[1]
        elif command and inner.endswith("}"):
            inner = inner[command.end() : -1]
        elif inner[:1] + inner[-1:] in _PAIRS and _is_enclosed(inner):
            inner = inner[1:-1]
        else:
            inner = inner.rstrip(_TRAILING + _BLANKS)
        inner = inner.strip(_BLANKS)
        if inner == stages[-1]:
            break
        stages.append(inner)
    return stages


def _is_enclosed(text: str) -> bool:
    """Return whether the first and last characters of `text` are one pair, and not the outer two of two pairs."""
    opening, closing = text[0], text[-1]
    if opening == closing:
        return len(text) > 1 and opening not in text.strip(opening)
    depth = 0
    for position, character in enumerate(text):
        depth += (character == opening) - (character == closing)
        if depth == 0:
            return position == len(text) - 1
    return False


def _lone_letter(text: str, valid: str) -> str | None:
    """Return the letter that `text` consists of."""
    return text.upper() if len(text) == 1 and text.upper() in valid and text.isascii() else None
