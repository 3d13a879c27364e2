"""Rule `refcoco_vlmevalkit`: RefCOCO boxes as VLMEvalKit reads them, the harness behind published RefCOCO numbers.

Source: `vlmeval/dataset/refcoco.py` at open-compass/VLMEvalKit@e8e78f0; there is no official text parser. The first
four numbers that stand in square brackets, with only commas and blanks between them, count; else the first four numbers
anywhere. The frame is guessed from the largest of them: up to 1.5 fractions, up to 1000 thousandths, else pixels, so
that a pixel box on a small image is misread. The IoU is measured in pixels, and one half is demanded without tolerance.
"""

import re

from bakeoff.geometry import Box, frame_size, intersection_over_union
from bakeoff.records import BoxTarget, Score, Target
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect

VERSION = "2"
_N = r"[-+]?(?:\d*+\.\d++|\d++)(?:[eE][-+]?\d++)?"
_NUMBER = re.compile(_N)
_GROUP = re.compile(r"\[\s*+" + r"(?:\s*+,\s*+|\s++)".join([f"({_N})"] * 4) + r"\s*+\]")
_HALF = 0.5
_LARGEST_FRACTION = 1.5
_LARGEST_THOUSANDTH = 1000.0
_PIXEL_DIGITS = 9  # what a gold's pixels lost in fractions comes back at this many decimals


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
    size = frame_size("norm1" if gold.image_size is None else "pixel", gold.image_size)
    largest = max(abs(value) for value in values)
    if largest <= _LARGEST_FRACTION:
        box = _scaled(values, size)
    elif largest <= _LARGEST_THOUSANDTH:
        box = _scaled(values, size, 1000.0)
    else:
        size = frame_size("pixel", gold.image_size)
        box = values
    x1, y1, x2, y2 = (round(value, _PIXEL_DIGITS) for value in _scaled(gold.box, size))
    iou = intersection_over_union(_clipped(box, size), (x1, y1, x2, y2))
    answer = "[" + ", ".join(f"{value:.10g}" for value in values) + "]"
    return graded(answer, is_correct=iou >= _HALF, metrics={"iou": iou})


def _read_four(output: str) -> Box | None:
    """Return the first four numbers in square brackets, else the first four; infinite where one is too large."""
    group = _GROUP.search(output)
    if group:
        found = list(group.groups())
    else:
        found = [match.group() for match, _ in zip(_NUMBER.finditer(output), range(4), strict=False)]
    if len(found) < 4:  # noqa: PLR2004 -- a box
        return None
    x1, y1, x2, y2 = (float(number) for number in found)
    return x1, y1, x2, y2


def _scaled(box: Box, size: tuple[float, float], whole: float = 1.0) -> Box:
    """Return a box in pixels, when `whole` is the image's width and height."""
    width, height = size
    return box[0] / whole * width, box[1] / whole * height, box[2] / whole * width, box[3] / whole * height


def _clipped(box: Box, size: tuple[float, float]) -> Box:
    """Return a box cut to the picture, its corners in order."""
    x1, x2 = sorted(min(max(x, 0.0), size[0]) for x in (box[0], box[2]))
    y1, y2 = sorted(min(max(y, 0.0), size[1]) for y in (box[1], box[3]))
    return x1, y1, x2, y2
