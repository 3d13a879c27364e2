"""What a row of truth vectors asks for: the scorer its rule names, and its gold as that scorer takes it.

Fields that a rule does not look at may be absent, null, or others than are known here. What it does look at is never
guessed: a gold without its options, its frame or its decimals is an error.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import msgspec

from bakeoff.geometry import Frame
from bakeoff.records import BoxTarget, NumberTarget, OptionTarget, Target, TextTarget
from bakeoff.scorers import SCORERS, Scorer, with_frame
from bakeoff.scorers.anls import anls, anls_official

Row = dict[str, Any]
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _box(expected: Row) -> Target:
    size = expected.get("image_size")
    box = expected.get("gold_xyxy_norm")
    if box is None:
        (x, y, width, height), (w, h) = expected["gold_xywh_px"], expected["image_size"]
        box = (x / w, y / h, (x + width) / w, (y + height) / h)
    return BoxTarget(box=tuple(box), image_size=None if size is None else tuple(size))


def _text(expected: Row) -> Target:
    answers = expected.get("answers")
    if answers is None:
        answers = expected["answer"]
    return TextTarget(answers=tuple(map(str, answers)) if isinstance(answers, list) else (str(answers),))


def _option(expected: Row) -> Target:
    options = expected.get("options") or expected.get("choices")
    if not isinstance(options, list):
        raise TypeError("the gold lacks options or choices, a list")
    return OptionTarget(letter=expected["answer"].strip("()"), count=len(options), options=tuple(map(str, options)))


def _mathvista(expected: Row) -> Target:
    if expected["question_type"] == "multi_choice":
        options = expected["choices"]
        return _option({"options": options, "answer": _ALPHABET[options.index(expected["answer"])]})
    kind = expected["answer_type"]
    if kind == "list":
        return _text(expected)
    if kind == "integer":
        return NumberTarget(value=str(expected["answer"]))
    if kind != "float":
        raise ValueError(f"no answer type is called {kind!r}")
    if not expected.get("precision"):
        raise ValueError("a float lacks its precision, 1 or more")
    return NumberTarget(value=str(expected["answer"]), precision=int(expected["precision"]))


RULES: dict[str, tuple[str, Callable[[Row], Target]]] = {
    "anls.official": ("anls_official", _text),
    "anls.default": ("anls", _text),
    "mathvista_extraction.official": ("mathvista_extraction_official", _mathvista),
    "mathvista_raw.official_no_llm": ("mathvista_official_no_llm", _mathvista),
    "mathvista_raw.default": ("mathvista", _mathvista),
    "mmmu_mc.official": ("mmmu_official", _option),
    "mmmu_mc.default": ("option_letter", _option),
    "mmmu_open.official": ("mmmu_open_official", _text),
    "mmmu_open.default": ("mmmu_open", _text),
    "blink.official_no_llm": ("blink_official", _option),
    "blink.default": ("option_letter", _option),
    "screenspot.seeclick_official": ("seeclick_official", _box),
    "screenspot.default": ("click_in_box", _box),
    "refcoco.vlmevalkit_acc50": ("refcoco_vlmevalkit", _box),
    "refcoco.default_acc50": ("box_iou", _box),
    "refcoco.default_center": ("box_center", _box),
}
FRAMED = frozenset({"click_in_box", "box_iou", "box_center"})
WITH_THRESHOLD = {"anls": anls, "anls_official": anls_official}

MEANS: dict[str, Callable[[str], str] | None] = {
    # What a row's group is averaged by; None for a plain mean, which MMMU's size-weighted mean of subjects is too.
    "aggregate.micro": None,
    "aggregate.mmmu_official": None,
    "aggregate.blink_official_macro": str,
    "aggregate.split_macro": str,
    "aggregate.six_cell_macro": str,
    "aggregate.platform_macro": lambda group: group.partition("/")[0],
}


def rule_of(row: Row) -> tuple[Scorer, Target]:
    """Return the scorer and the target of a row.

    Raises:
        KeyError: when the rule is not known, or the gold lacks something.
        TypeError, ValueError: when the gold holds something that no rule reads.
    """
    name, target = RULES[row["scorer"]]
    expected = row["expected"]
    scorer = SCORERS[name]
    if name in FRAMED:
        frame = expected["coord_space"]
        if frame not in get_args(Frame):
            raise ValueError(f"no frame is called {frame!r}")
        scorer = with_frame(name, frame)
    threshold = expected.get("threshold")
    if name in WITH_THRESHOLD and threshold is not None:
        rule = WITH_THRESHOLD[name]
        scorer = msgspec.structs.replace(scorer, score=partial(rule, threshold=threshold))
    return scorer, target(expected)
