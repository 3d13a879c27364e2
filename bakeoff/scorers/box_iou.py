"""Rules `box_iou` and `box_center`: does the predicted box cover the gold one?

`box_iou` is right when the IoU is at least 0.5 on continuous areas (Precision@1 of RefCOCO, RefCOCO+ and RefCOCOg:
Yu et al. 2016, arXiv:1608.00272); `box_center` when the centre of the predicted box lies in the gold box, edges
included. Only boxes are read: a point is no answer. There is no official text parser for these benchmarks.
"""

from bakeoff.geometry import (
    Frame,
    box_center as center_of,
    frame_size,
    intersection_over_union,
    is_half_overlap,
    is_inside,
    normalize_box,
)
from bakeoff.records import BoxTarget, Score, Target
from bakeoff.scorers.coordinates import read_coordinates
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect

VERSION = "2"


def box_iou(output: str, target: Target, frame: Frame = "norm1000") -> Score:
    """Score 1 for an IoU of at least 0.5, else 0; metrics `iou` and `center` (0 or 1).

    Raises:
        TypeError: when the target is not a box.
        ValueError: when the frame is `pixel` and the target has no image size.
    """
    gold = expect(target, BoxTarget)
    size = frame_size(frame, gold.image_size)
    found = read_coordinates(output, boxes_only=True)
    if found is None:
        return unparsed({"iou": 0.0, "center": 0.0})
    box = normalize_box(found.box_in(frame), size)
    iou = intersection_over_union(box, gold.box)
    metrics = {"iou": iou, "center": float(is_inside(center_of(box), gold.box))}
    return graded(str(found), is_correct=is_half_overlap(iou), metrics=metrics)


def box_center(output: str, target: Target, frame: Frame = "norm1000") -> Score:
    """Score 1 when the centre of the box lies in the gold box; metrics and errors as `box_iou`."""
    found = box_iou(output, target, frame)
    if found.answer is None:
        return found
    return graded(found.answer, is_correct=found.metrics["center"] == 1.0, metrics=found.metrics)
