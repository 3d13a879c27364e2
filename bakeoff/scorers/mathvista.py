"""Rules `mathvista`, `mathvista_official_no_llm` and `mathvista_extraction_official`.

Source: Lu et al. 2024 (arXiv:2310.02255), `evaluation/extract_answer.py` and `calculate_score.py` at
lupantech/MathVista@53d5258. The official pipeline lets a language model extract the answer and then maps *every*
string to the nearest option, so that an empty output earns about 17 points. `mathvista` is the suite's offline
default: `option_text`, `numeric` or `number_list` by the kind of target. Never print an official number without its
`floor`.

A target is an option (multiple choice), a number (`precision` 0 for integers), or a text for the two list questions.
"""

import re

import Levenshtein

from bakeoff.records import NumberTarget, OptionTarget, Score, Target, TextTarget
from bakeoff.scorers.numeric import number_list, numeric
from bakeoff.scorers.option_letter import option_text, read_letter
from bakeoff.scorers.scorer import graded

VERSION = "2"
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BRACKETED = re.compile(r"\(([a-zA-Z])\)")
_QUOTED = re.compile(r'The answer is "(.*)"\.')


def mathvista(output: str, target: Target) -> Score:
    """Score by the default rule for this kind of target.

    Raises:
        TypeError: when the target is a box.
    """
    rules = {OptionTarget: option_text, NumberTarget: numeric, TextTarget: number_list}
    if type(target) not in rules:
        raise TypeError(f"MathVista has no {type(target).__name__}")
    return rules[type(target)](output, target)


def mathvista_extraction_official(output: str, target: Target) -> Score:
    """Score an answer that is already extracted: normalise, then compare as text.

    Raises:
        TypeError: when the target is a box.
    """
    return _graded(output, _normalize(output, target), target)


def mathvista_official_no_llm(output: str, target: Target) -> Score:
    """Score the raw output with the official short-cuts and a language model that returns nothing.

    Metric `floor` is 1 for a multiple-choice answer that the default rule cannot read and this one credits.

    Raises:
        TypeError: when the target is a box.
    """
    extraction = _extract(output, target)
    return _graded(output, _normalize(extraction, target), target)


def _graded(output: str, answer: str | None, target: Target) -> Score:
    """Return the score of a normalised answer, with the floor."""
    if answer is None:
        return Score(value=0.0, correct=False, answer=None, metrics={"floor": 0.0})
    is_correct = answer == _gold(target)
    is_floor = (
        is_correct and isinstance(target, OptionTarget) and read_letter(output, target.count, target.options) is None
    )
    return graded(answer, is_correct=is_correct, metrics={"floor": float(is_floor)})


def _gold(target: Target) -> str:
    """Return the gold as the dataset writes it."""
    if isinstance(target, OptionTarget):
        return target.options[_ALPHABET.index(target.letter.upper())]
    if isinstance(target, NumberTarget):
        return target.value
    if isinstance(target, TextTarget):
        return target.answers[0]
    raise TypeError(f"MathVista has no {type(target).__name__}")


def _extract(output: str, target: Target) -> str:
    """Return what the official short-cuts extract; empty where they would ask the language model."""
    if not output:
        return ""
    if isinstance(target, OptionTarget) and output in target.options:
        return output
    if isinstance(target, NumberTarget):
        try:
            return str(float(output) if target.precision else int(output))
        except ValueError:
            pass
    quoted = _QUOTED.search(output)
    return quoted[1] if quoted else ""


def _normalize(extraction: str, target: Target) -> str | None:
    """Return the extraction in the form golds are written in; None when it is no number."""
    if isinstance(target, OptionTarget):
        return _nearest_option(extraction.strip(), target.options)
    if not isinstance(target, NumberTarget):
        return extraction
    try:
        return str(round(float(extraction), target.precision)) if target.precision else str(int(float(extraction)))
    except (ValueError, OverflowError):
        return None


def _nearest_option(extraction: str, options: tuple[str, ...]) -> str | None:
    """Return the option of the first bracketed letter or lone capital; else the one with the smallest edit distance."""
    if not options:
        return None
    bracketed = _BRACKETED.search(extraction)
    choice = bracketed[1].upper() if bracketed else extraction
    if len(choice) == 1 and choice in _ALPHABET[: len(options)]:
        return options[_ALPHABET.index(choice)]
    return min(options, key=lambda option: Levenshtein.distance(choice, option))
