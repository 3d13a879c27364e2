"""Rule `refcoco_vlmevalkit`: RefCOCO boxes as VLMEvalKit reads them, the harness behind published RefCOCO numbers.

Source: `vlmeval/dataset/refcoco.py` at open-compass/VLMEvalKit@e8e78f0; there is no official text parser. The first
bracketed group of four numbers counts, else the first four numbers anywhere, and the frame is guessed from the largest
of them: up to 1.5 fractions, up to 1000 thousandths, else pixels. A pixel box on a small image is thus misread.
"""

import math
import re

from bakeoff.geometry import frame_size, intersection_over_union, is_half_overlap, normalize_box
from bakeoff.records import BoxTarget, Score, Target
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect

VERSION = "1"
_N = r"[-+]?(?:\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?"
_NUMBER = re.compile(_N)
_GROUP = re.compile(r"[\[(]([^\[\]()]*+)[\])]")
_LARGEST_FRACTION = 1.5
_LARGEST_THOUSANDTH = 1000.0


def refcoco_vlmevalkit(output: str, target: Target) -> Score:
    """Score the raw output by IoU of at least 0.5; metric `iou`.

    Raises:
        TypeError: when the target is not a box.
        ValueError: when a box in pixels meets a target without an image size.
    """
    gold = expect(target, BoxTarget)
    values = _read_four(output)
    if values is None:
        return unparsed({"iou": 0.0})
    largest = max(abs(value) for value in values)
    if largest <= _LARGEST_FRACTION:
        size = frame_size("norm1", None)
    else:
        size = frame_size("norm1000" if largest <= _LARGEST_THOUSANDTH else "pixel", gold.image_size)
    iou = intersection_over_union(normalize_box(values, size), gold.box)
    answer = "[" + ", ".join(f"{value:.10g}" for value in values) + "]"
    return graded(answer, is_correct=is_half_overlap(iou), metrics={"iou": iou})


def _read_four(output: str) -> tuple[float, float, float, float] | None:
    """Return the first bracketed group of four numbers, else the first four numbers."""
    groups = (_NUMBER.findall(match[1]) for match in _GROUP.finditer(output))
    found = next((numbers for numbers in groups if len(numbers) == 4), None)  # noqa: PLR2004 -- a box
    if found is None:
        found = [match.group() for match, _ in zip(_NUMBER.finditer(output), range(4), strict=False)]
    if len(found) < 4:  # noqa: PLR2004 -- a box
        return None
    x1, y1, x2, y2 = (float(number) for number in found)
    return (x1, y1, x2, y2) if all(math.isfinite(value) for value in (x1, y1, x2, y2)) else None
