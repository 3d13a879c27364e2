"""Rules `mmmu_open`, `mmmu_open_official` and `mmmu_official`: MMMU as its authors score it.

Source: Yue et al. 2024 (arXiv:2311.16502), `mmmu/utils/eval_utils.py` at MMMU-Benchmark/MMMU@bb0b95a. Where the
authors draw a random letter because nothing was found, there is no answer here; metric `guess` is 1 and
`expected_with_guess` is what the draw earns on average. Open questions are won by containment: a text gold that stands
in any candidate is right, and so is any of several numbers. `mmmu_open`, the suite's default, is the same rule on the
final-answer view, because all published numbers were made by it.
"""

import math
import re

from bakeoff.records import OptionTarget, Score, Target, TextTarget
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect
from bakeoff.text import collapse, final_answer

VERSION = "2"

_STRIPPED = (",", ".", "!", "?", ";", ":", "'")
_FEW_TOKENS = 5
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_INDICATORS = ("could be ", "so ", "is ", "thus ", "therefore ", "final ", "answer ", "result ")
_TRIVIAL = frozenset((":", ",", ".", "!", "?", ";", "'"))
# The authors' three kinds of number, written so that no digit run is entered twice; in the first, no more than the
# last group of three is ever given back.
_NUMBERS = (
    re.compile(r"-?\b\d{1,3}(?:,\d{3})+\b"),
    re.compile(r"-?(?<!\d)\d++(?:\.\d++)?[eE][+-]?\d++"),
    re.compile(r"-?(?:(?<!\d)\d++\.\d++|\.\d++|(?<!\d)\d++\b)(?![eE][+-]?\d)(?![,\d])"),
)
_Key = str | float


def mmmu_official(output: str, target: Target) -> Score:
    """Score a multiple-choice answer on the raw output.

    Metrics: `guess` (1 when the authors would draw at random) and `expected_with_guess`.

    Raises:
        TypeError: when the target is not an option.
    """
    gold = expect(target, OptionTarget)
    letter = read_official_letter(output, gold.count, gold.options)
    if letter is None:
        return unparsed({"guess": 1.0, "expected_with_guess": 1.0 / gold.count if gold.count > 0 else 0.0})
    is_correct = letter == gold.letter.upper()
    return graded(letter, is_correct=is_correct, metrics={"guess": 0.0, "expected_with_guess": float(is_correct)})


def mmmu_open_official(output: str, target: Target) -> Score:
    """Score an open answer on the raw output.

    Raises:
        TypeError: when the target is not a text.
    """
    return _score_open(output, expect(target, TextTarget))


def mmmu_open(output: str, target: Target) -> Score:
    """Score an open answer on the final-answer view; an empty one is no answer.

    Raises:
        TypeError: when the target is not a text.
    """
    text = final_answer(output)
    gold = expect(target, TextTarget)
    return _score_open(text, gold) if text else unparsed()


def read_official_letter(output: str, count: int, options: tuple[str, ...] = ()) -> str | None:
    """Return the letter whose last mention comes latest: as "(B)", else as " B ", else by its text in a long answer."""
    text = output
    for character in _STRIPPED:
        text = text.strip(character)
    text = f" {text} "
    letters = _ALPHABET[: max(count, 0)]
    lowered = text.lower()
    ways = [
        [(text.rfind(f"({letter})"), letter) for letter in letters],
        [(text.rfind(f" {letter} "), letter) for letter in letters],
    ]
    if len(text.split()) > _FEW_TOKENS:
        ways.append([(lowered.rfind(option.lower()), letter) for letter, option in zip(letters, options, strict=False)])
    for way in ways:
        found = [(position, letter) for position, letter in way if position >= 0]
        if found:
            latest = max(position for position, _ in found)
            return next(letter for position, letter in found if position == latest)
    return None


def _score_open(text: str, target: TextTarget) -> Score:
    """Score `text` by the candidates in it."""
    golds = {key for answer in target.answers for key in _keys(answer)}
    candidates = _candidates(text)
    is_correct = any(
        any(isinstance(gold, str) and gold in candidate for gold in golds)
        if isinstance(candidate, str)
        else candidate in golds
        for candidate in candidates
    )
    answer = collapse(text)
    return (
        graded(answer, is_correct=is_correct)
        if answer
        else Score(value=float(is_correct), correct=is_correct, answer=None)
    )


def _candidates(text: str) -> list[_Key]:
    """Return what the answer may be: the tails after indicator words and the numbers in them."""
    tails = _tails(text)
    parts = [*tails, *(number for tail in tails for pattern in _NUMBERS for number in pattern.findall(tail))]
    return [key for part in parts for key in _keys(part)]


def _tails(text: str) -> list[str]:
    """Return for each line the shortest tail after an indicator word; the whole text when no line has one."""
    whole = text.strip().strip(".").lower()
    lines = whole.split("\n")
    tails = []
    for position, line in enumerate(lines):
        indicators = (*_INDICATORS, "=") if position == len(lines) - 1 else _INDICATORS
        found = [line.rpartition(indicator)[2].strip() for indicator in indicators if indicator in line]
        shortest = ""
        for tail in found:
            # An empty tail never stands: the next one replaces it, and a later empty one counts as shorter.
            if not shortest or len(tail) < len(shortest):
                shortest = tail
        if shortest and shortest not in _TRIVIAL:
            tails.append(shortest)
    return tails or [whole]


def _keys(text: str) -> list[_Key]:
    """Return a number rounded to two places, or a text in small letters; one letter gets a blank on either side."""
    text = text.strip()
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        lowered = text.lower()
        return [f" {lowered}", f"{lowered} "] if len(lowered) == 1 else [lowered]
    return [] if math.isnan(number) else [round(number, 2) if math.isfinite(number) else number]
