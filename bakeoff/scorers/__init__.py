"""Scorers: pure functions from an output text and a target to a score, one rule a file.

`SCORERS` lists what exists; grep finds it. Rules named `..._official` do what the benchmark's own script does, slips
included, so that a published number can be understood; the others are the suite's defaults, which never guess.
"""

from functools import partial
from typing import Final

import msgspec

from bakeoff.geometry import Frame
from bakeoff.scorers import (
    anls,
    blink,
    box_iou,
    click_in_box,
    exact,
    mathvista,
    mmmu,
    numeric,
    option_letter,
    seeclick,
    vlmevalkit,
)
from bakeoff.scorers.scorer import Scorer

SCORERS: Final[dict[str, Scorer]] = {
    "click_in_box": Scorer(name="click_in_box", version=click_in_box.VERSION, score=click_in_box.click_in_box),
    "box_iou": Scorer(name="box_iou", version=box_iou.VERSION, score=box_iou.box_iou),
    "box_center": Scorer(name="box_center", version=box_iou.VERSION, score=box_iou.box_center),
    "option_letter": Scorer(name="option_letter", version=option_letter.VERSION, score=option_letter.option_letter),
    "option_text": Scorer(name="option_text", version=option_letter.VERSION, score=option_letter.option_text),
    "anls": Scorer(name="anls", version=anls.VERSION, score=anls.anls),
    "anls_official": Scorer(name="anls_official", version=anls.VERSION, score=anls.anls_official),
    "numeric": Scorer(name="numeric", version=numeric.VERSION, score=numeric.numeric),
    "numeric_exact": Scorer(name="numeric_exact", version=numeric.VERSION, score=numeric.numeric_exact),
    "number_list": Scorer(name="number_list", version=numeric.VERSION, score=numeric.number_list),
    "exact": Scorer(name="exact", version=exact.VERSION, score=exact.exact),
    "contains": Scorer(name="contains", version=exact.VERSION, score=exact.contains),
    "mathvista": Scorer(name="mathvista", version=mathvista.VERSION, score=mathvista.mathvista),
    "mathvista_official_no_llm": Scorer(
        name="mathvista_official_no_llm", version=mathvista.VERSION, score=mathvista.mathvista_official_no_llm
    ),
    "mathvista_extraction_official": Scorer(
        name="mathvista_extraction_official", version=mathvista.VERSION, score=mathvista.mathvista_extraction_official
    ),
    "mmmu_open": Scorer(name="mmmu_open", version=mmmu.VERSION, score=mmmu.mmmu_open),
    "mmmu_open_official": Scorer(name="mmmu_open_official", version=mmmu.VERSION, score=mmmu.mmmu_open_official),
    "mmmu_official": Scorer(name="mmmu_official", version=mmmu.VERSION, score=mmmu.mmmu_official),
    "blink_official": Scorer(name="blink_official", version=blink.VERSION, score=blink.blink_official),
    "seeclick_official": Scorer(name="seeclick_official", version=seeclick.VERSION, score=seeclick.seeclick_official),
    "refcoco_vlmevalkit": Scorer(
        name="refcoco_vlmevalkit", version=vlmevalkit.VERSION, score=vlmevalkit.refcoco_vlmevalkit
    ),
}

_FRAMED: Final = {
    "click_in_box": click_in_box.click_in_box,
    "box_iou": box_iou.box_iou,
    "box_center": box_iou.box_center,
}


def with_frame(name: str, frame: Frame) -> Scorer:
    """Return the box scorer `name` for coordinates in `frame`; its name says so unless it is the default 0 to 1000.

    Raises:
        KeyError: when `name` is no box scorer.
    """
    scorer = SCORERS[name]
    rule = _FRAMED[name]
    if frame == "norm1000":
        return scorer
    return msgspec.structs.replace(scorer, name=f"{name}@{frame}", score=partial(rule, frame=frame))


__all__ = ["SCORERS", "Scorer", "with_frame"]
