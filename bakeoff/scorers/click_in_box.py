"""Rule `click_in_box`: the point that is clicked lies in the gold box.

An answer may be a point or a box, whose centre is then clicked. Boxes are clipped to the frame first, points are not:
a click outside the image is a miss. Edges count as inside. Source: SeeClick (Cheng et al. 2024, arXiv:2401.10935),
ScreenSpot's click accuracy; the reading of coordinates is this suite's (`coordinates`), because the authors' parser
accepts one output form only (`seeclick`).
"""

from bakeoff.geometry import Frame, box_center, frame_size, is_inside, normalize_box, normalize_point
from bakeoff.records import BoxTarget, Score, Target
from bakeoff.scorers.coordinates import read_coordinates
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect

VERSION = "2"
_WHOLE_IMAGE = (0.0, 0.0, 1.0, 1.0)


def click_in_box(output: str, target: Target, frame: Frame = "norm1000") -> Score:
    """Score a click; metrics `point`, `box` and `whole_image` say what kind of answer it was.

    Raises:
        TypeError: when the target is not a box.
        ValueError: when the frame is `pixel` and the target has no image size.
    """
    gold = expect(target, BoxTarget)
    size = frame_size(frame, gold.image_size)
    found = read_coordinates(output)
    if found is None:
        return unparsed({"point": 0.0, "box": 0.0, "whole_image": 0.0})
    is_whole = False
    if found.is_box:
        box = normalize_box(found.box_in(frame), size)
        click, is_whole = box_center(box), box == _WHOLE_IMAGE
    else:
        click = normalize_point(found.point_in(frame), size)
    kind = {"point": float(not found.is_box), "box": float(found.is_box), "whole_image": float(is_whole)}
    return graded(str(found), is_correct=is_inside(click, gold.box), metrics=kind)
