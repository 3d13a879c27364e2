"""Boxes, points, and the frames that their coordinates are written in.

A box is `(x1, y1, x2, y2)` and a point `(x, y)`; x runs to the right and y down. Areas are continuous: no pixel is
added to a width. Golds are fractions of the image and are never rounded to a grid.
"""

from typing import Literal

Point = tuple[float, float]
Box = tuple[float, float, float, float]
Frame = Literal["norm1000", "norm1", "pixel"]
"""What a prompt asked coordinates to be: thousandths of the image, fractions of it, or pixels."""

TOLERANCE = 1e-9
"""Slack for edges and thresholds, so that an IoU of exactly one half is not lost to rounding."""


def frame_size(frame: Frame, image_size: tuple[int, int] | None) -> tuple[float, float]:
    """Return the largest x and y of a frame.

    Raises:
        ValueError: when the frame is `pixel` and the image's size is not known.
    """
    if frame == "norm1000":
        return 1000.0, 1000.0
    if frame == "norm1":
        return 1.0, 1.0
    if image_size is None:
        raise ValueError("coordinates in pixels need the target's image_size")
    return float(image_size[0]), float(image_size[1])


def normalize_box(box: Box, size: tuple[float, float]) -> Box:
    """Return `box` in fractions of `size`, its corners in order, clipped to the frame."""
    x1, x2 = sorted((_clip(box[0] / size[0]), _clip(box[2] / size[0])))
    y1, y2 = sorted((_clip(box[1] / size[1]), _clip(box[3] / size[1])))
    return x1, y1, x2, y2


def normalize_point(point: Point, size: tuple[float, float]) -> Point:
    """Return `point` in fractions of `size`; one outside the frame stays outside."""
    return point[0] / size[0], point[1] / size[1]


def box_center(box: Box) -> Point:
    """Return the middle of a box."""
    return (box[0] + box[2]) / 2.0, (box[1] + box[3]) / 2.0


def is_inside(point: Point, box: Box) -> bool:
    """Return whether a point lies in a box, edges included."""
    return box[0] - TOLERANCE <= point[0] <= box[2] + TOLERANCE and box[1] - TOLERANCE <= point[1] <= box[3] + TOLERANCE


def box_area(box: Box) -> float:
    """Return the area of a box with ordered corners."""
    return (box[2] - box[0]) * (box[3] - box[1])


def intersection_over_union(a: Box, b: Box) -> float:
    """Return the IoU of two boxes with ordered corners, in [0, 1]; 0 when their union has no area."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0.0 or height <= 0.0:
        return 0.0
    common = width * height
    union = box_area(a) + box_area(b) - common
    return min(max(common / union, 0.0), 1.0) if union > 0.0 else 0.0


def is_half_overlap(iou: float) -> bool:
    """Return whether an IoU counts as a hit at 0.5, the threshold of referring-expression benchmarks."""
    return iou >= 0.5 - TOLERANCE


def _clip(value: float) -> float:
    """Return the nearest number in [0, 1]."""
    return min(max(value, 0.0), 1.0)
