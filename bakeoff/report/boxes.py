"""Where an answer's box lies in the picture: read as the scorer read it, and drawn only if it is what was scored."""

import msgspec

from bakeoff.geometry import Frame, frame_size, intersection_over_union, normalize_box
from bakeoff.records import BoxTarget, Record
from bakeoff.report import numbers
from bakeoff.scorers.coordinates import read_coordinates

Box = tuple[float, float, float, float]


class Rectangle(msgspec.Struct, frozen=True, kw_only=True):
    """A box as an SVG rectangle in pixels of the image."""

    x: str
    y: str
    width: str
    height: str


FRAMES: dict[str, Frame] = {"": "norm1000", "norm1000": "norm1000", "norm1": "norm1", "pixel": "pixel"}
"""What follows the `@` of a scorer's name -> the frame it reads coordinates in."""
_SAME = 1e-6


def in_pixels(box: Box, size: tuple[int, int]) -> Box:
    """Return a box given as fractions in pixels of an image of `size`."""
    return box[0] * size[0], box[1] * size[1], box[2] * size[0], box[3] * size[1]


def rectangle(box: Box) -> Rectangle:
    """Return a box in pixels as a rectangle to draw."""
    x, y, width, height = (f"{edge:.2f}" for edge in (box[0], box[1], box[2] - box[0], box[3] - box[1]))
    return Rectangle(x=x, y=y, width=width, height=height)


def box_text(box: Box) -> str:
    """Return a box in pixels in words."""
    x1, y1, x2, y2 = (numbers.whole(edge) for edge in box)
    return f"x {x1} to {x2}, y {y1} to {y2} px"


def answer_box(record: Record, target: BoxTarget, size: tuple[int, int]) -> Box | None:
    """Return the box that an answer names, in pixels; None when it names none.

    The scorer's name says which frame it read coordinates in. A box whose IoU is not the recorded one is not drawn: a
    picture never contradicts its score.
    """
    frame = FRAMES.get(record.scorer.partition("@")[2])
    found = read_coordinates(record.output or "", boxes_only=True)
    if frame is None or found is None or record.answer != str(found):
        return None
    box = normalize_box(found.box_in(frame), frame_size(frame, target.image_size or size))
    iou = record.metrics.get("iou")
    if iou is not None and abs(intersection_over_union(box, target.box) - iou) > _SAME:
        return None
    return in_pixels(box, size)
