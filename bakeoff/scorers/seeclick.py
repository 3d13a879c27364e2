"""Rule `seeclick_official`: ScreenSpot's clicks as SeeClick parses them.

Source: Cheng et al. 2024 (arXiv:2401.10935), `screenspot_test.py`, `process_utils.py` at njucckevin/SeeClick@0ef37ac.
A text with the word "box" must hold tagged corner pairs in thousandths, the first of which count; any other must hold
exactly two numbers (a point) or four (a box) in fractions of the image. Everything else is a wrong format and a miss.
Only the click, a box's middle, is held against the gold: corners may lie outside the image. There is no tolerance.
"""

import math
import re

from bakeoff.geometry import Point, box_center
from bakeoff.records import BoxTarget, Score, Target
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect

VERSION = "2"
_TAGGED = re.compile(r"<box>\((\d+),(\d+)\),\((\d+),(\d+)\)</box>")
_NUMBER = re.compile(r"-?\d+\.?\d*")


def seeclick_official(output: str, target: Target) -> Score:
    """Score the raw output.

    Raises:
        TypeError: when the target is not a box.
    """
    gold = expect(target, BoxTarget)
    click = _read_click(output)
    if click is None or not all(math.isfinite(value) for value in click):
        return unparsed()
    x1, y1, x2, y2 = gold.box
    is_hit = x1 <= click[0] <= x2 and y1 <= click[1] <= y2
    return graded(f"[{click[0]:.10g}, {click[1]:.10g}]", is_correct=is_hit)


def _read_click(output: str) -> Point | None:
    """Return the click in fractions of the image."""
    if "box" in output:
        tagged = _TAGGED.search(output)
        if tagged is None:
            return None
        x1, y1, x2, y2 = (float(value) for value in tagged.groups())
        x, y = box_center((x1, y1, x2, y2))
        return x / 1000.0, y / 1000.0
    values = [float(value) for value in _NUMBER.findall(output)]
    if len(values) == 4:  # noqa: PLR2004 -- a box
        return box_center((values[0], values[1], values[2], values[3]))
    return (values[0], values[1]) if len(values) == 2 else None  # noqa: PLR2004 -- a point
