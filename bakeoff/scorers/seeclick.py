"""Rule `seeclick_official`: ScreenSpot's clicks as SeeClick parses them.

Source: Cheng et al. 2024 (arXiv:2401.10935), `screenspot_test.py`, `process_utils.py` at njucckevin/SeeClick@0ef37ac.
A text with the word "box" must hold tagged corner pairs in thousandths; any other must hold exactly two numbers (a
point) or four (a box) from 0 to 1. Everything else is a wrong format and a miss.
"""

import math
import re

from bakeoff.geometry import Point, box_center, is_inside
from bakeoff.records import BoxTarget, Score, Target
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect

VERSION = "1"
_TAGGED = re.compile(r"<box>\((\d+),(\d+)\),\((\d+),(\d+)\)</box>")
_NUMBER = re.compile(r"-?\d+\.?\d*")


def seeclick_official(output: str, target: Target) -> Score:
    """Score the raw output.

    Raises:
        TypeError: when the target is not a box.
    """
    gold = expect(target, BoxTarget)
    click = _read_click(output)
    if click is None:
        return unparsed()
    return graded(f"[{click[0]:.10g}, {click[1]:.10g}]", is_correct=is_inside(click, gold.box))


def _read_click(output: str) -> Point | None:
    """Return the click in fractions of the image."""
    if "box" in output:
        tagged = _TAGGED.search(output)
        values = [float(value) / 1000.0 for value in tagged.groups()] if tagged else []
    else:
        values = [float(value) for value in _NUMBER.findall(output)]
        if not all(0.0 <= value <= 1.0 for value in values):
            return None
    if not all(math.isfinite(value) for value in values):
        return None
    if len(values) == 4:  # noqa: PLR2004 -- a box
        return box_center((values[0], values[1], values[2], values[3]))
    return (values[0], values[1]) if len(values) == 2 else None  # noqa: PLR2004 -- a point
