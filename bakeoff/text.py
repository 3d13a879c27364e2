"""Views of a model's output and the normalisation that scorers share.

Two views: `final_answer` (F) is what the model says after it has thought; `fold` (N of F) makes full-width digits,
letters and brackets ordinary ones. Rules for letters, numbers and coordinates read N; ANLS and MMMU's open questions
read F, because their official scripts do not fold and a fold would make scores incomparable.

All functions take any string, lone surrogates included, in time linear in its length.
"""

import re
import unicodedata
from typing import Final

THOUGHT_MARKS: Final[tuple[tuple[str, str], ...]] = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel>thought", "<channel|>"),
)
"""What stands around a thought, opening and closing; letter case does not count. The last pair is Gemma 4's."""

_THOUGHT_TAGS = tuple(
    # ASCII, because Unicode case folding would let a dotted capital I match.
    tuple(re.compile(re.escape(mark), re.IGNORECASE | re.ASCII) for mark in pair)
    for pair in THOUGHT_MARKS
)
_IN_THOUGHT_MARKS = ("think", "thought", "reasoning", "channel")
_ANSWER_OPEN = re.compile("<answer>", re.IGNORECASE | re.ASCII)
_ANSWER_CLOSE = re.compile("</answer>", re.IGNORECASE | re.ASCII)
_HYPHENS = str.maketrans({"\u2212": "-", "\u2013": "-", "\u2011": "-"})
# A language word begins with a letter and is no name of a value: "```5, 6```" and "```x=5, y=6```" keep theirs.
_FENCE = re.compile(r"```(?:[A-Za-z][A-Za-z0-9_+-]*+(?!\s*[=:]))?")
_BOXED = re.compile(r"\\boxed\s*+\{")
_LONGEST_MARK_RUN = 30  # as in Unicode's stream-safe text format (UAX 15)


def final_answer(output: str | None) -> str:
    """Return the final-answer view: what follows the last thought, or the last `<answer>`, without outer whitespace.

    An unfinished thought is never read: where an opening tag is left after the last closing one, only what stands
    before it is kept. A closing tag of another kind than the opening one ends a thought too.
    """
    text = output or ""
    start, end = _answer_span(text)
    text = text[start:end]
    closes = list(_ANSWER_CLOSE.finditer(text)) if "</" in text else []
    if closes:
        opens = [match.end() for match in _ANSWER_OPEN.finditer(text)]
        # The last complete pair: the last closing tag that has an opening one before it.
        for close in reversed(closes):
            before = [start for start in opens if start <= close.start()]
            if before:
                return text[before[-1] : close.start()].strip()
            if not opens or close.start() < opens[0]:
                break
    return text.strip()


def thought(output: str | None) -> str:
    """Return what stands in thoughts, marks included: all but the answer and, where one was cut, what precedes it."""
    text = output or ""
    start, end = _answer_span(text)
    return text[:start] + text[end:]


def fold(text: str) -> str:
    """Return `text` after NFKC, with minus sign, en dash and non-breaking hyphen as `-`."""
    if text.isascii():
        return text
    folded = "".join(unicodedata.normalize("NFKC", piece) for piece in _pieces(text.translate(_HYPHENS)))
    return folded.translate(_HYPHENS)  # again, because a raised or small minus becomes a minus sign


def fold_answer(output: str | None) -> str:
    """Return the folded final-answer view, N."""
    return fold(final_answer(output)).strip()


def collapse(text: str) -> str:
    """Return `text` without outer whitespace and with inner runs of it as one blank."""
    return " ".join(text.split())


def without_fences(text: str) -> str:
    """Return `text` with the marks of code fences, and their language words, as blanks."""
    return _FENCE.sub(" ", text)


def last_boxed(text: str) -> str | None:
    r"""Return the content of the last `\boxed{...}`; up to the end of the text where it is not closed."""
    found = None
    for found in _BOXED.finditer(text):  # noqa: B007 -- the last one is wanted
        pass
    if found is None:
        return None
    depth = 1
    for position in range(found.end(), len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[found.end() : position]
    return text[found.end() :]


def _answer_span(text: str) -> tuple[int, int]:
    """Return where the answer begins and ends in `text`: after the last thought, before one left unfinished."""
    start, end = 0, len(text)
    small = text.lower()
    if not any(word in small for word in _IN_THOUGHT_MARKS):
        return start, end
    for _, closing in _THOUGHT_TAGS:
        for close in closing.finditer(text, start):
            start = close.end()
    for opening, _ in _THOUGHT_TAGS:
        unfinished = opening.search(text, start, end)
        if unfinished:
            end = unfinished.start()
    return start, end


def _pieces(text: str) -> list[str]:
    """Cut `text` inside runs of combining marks, which normalisation would sort in quadratic time."""
    if len(text) <= _LONGEST_MARK_RUN:
        return [text]
    cuts = [0]
    run = 0
    for position, character in enumerate(text):
        run = run + 1 if unicodedata.combining(character) else 0
        if run > _LONGEST_MARK_RUN:
            cuts.append(position)
            run = 0
    return [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]
