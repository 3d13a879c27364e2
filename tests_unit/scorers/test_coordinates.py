"""Reading a box or a point: the first candidate, in the frame the prompt declared."""

import pytest

from bakeoff.geometry import Frame
from bakeoff.records import BoxTarget
from bakeoff.scorers import with_frame
from bakeoff.scorers.box_iou import box_iou
from bakeoff.scorers.click_in_box import click_in_box
from bakeoff.scorers.coordinates import read_coordinates
from bakeoff.scorers.json_values import MAX_DEPTH, read_values

GOLD = BoxTarget(box=(0.1, 0.1, 0.2, 0.2), image_size=(640, 480))


@pytest.mark.parametrize(
    ("output", "found"),
    [
        # JSON
        ('{"bbox_2d": [1, 2, 3, 4], "label": "x"}', "[1, 2, 3, 4]"),
        ('{"BBOX": [1, 2, 3, 4]}', "[1, 2, 3, 4]"),
        ('{"x1": 1, "y1": 2, "x2": 3, "y2": 4}', "[1, 2, 3, 4]"),
        ('{"left": 1, "top": 2, "right": 3, "bottom": 4}', "[1, 2, 3, 4]"),
        ('{"point": {"x": 5, "y": 6}}', "[5, 6]"),
        ('{"image_size": [640, 480], "point": [5, 6]}', "[5, 6]"),
        ("[[1, 2], [3, 4]]", "[1, 2, 3, 4]"),
        ("[5, 6] then [1, 2, 3, 4]", "[5, 6]"),
        ('[{"bbox_2d": [1, 2, 3, 4]}, {"bbox_2d": [5, 6, 7, 8]}]', "[1, 2, 3, 4]"),
        ("```json\n[1e2, 2.5, 3, 4]\n```", "[100, 2.5, 3, 4]"),
        ('{"bbox_2d": ["1", "2", "3", "4"]}', None),
        # patterns
        ("(1,2),(3,4)", "[1, 2, 3, 4]"),
        ("<box>(1,2),(3,4)</box>", "[1, 2, 3, 4]"),
        ("(1, 2) to (3, 4)", "[1, 2, 3, 4]"),
        ("(1, 2) TO (3, 4)", "[1, 2, 3, 4]"),
        ("from (1, 2) down to (3, 4)", "[1, 2]"),
        ("```1, 2, 3, 4```", "[1, 2, 3, 4]"),
        ("```x=5, y=6```", "[5, 6]"),
        ("{'x': 5, 'y': 6}", "[5, 6]"),
        ("x1=1, y1=2, x2=3, y2=4", "[1, 2, 3, 4]"),
        ("pyautogui.click(x=5, y=6)", "[5, 6]"),
        ("click(y=6, x=5)", None),
        ("[.1, .2, .3, .4]", "[0.1, 0.2, 0.3, 0.4]"),
        ("1 2 3 4", "[1, 2, 3, 4]"),
        ("5, 6.", "[5, 6]"),
        ("step 1, 2, 3, 4", None),
        # not coordinates
        ("[0, 1000]", None),
        ("[0, 1000] (5, 6)", "[5, 6]"),
        ("[NaN, 2, 3, 4]", None),
        ("[1, 2, null, 4]", None),
        ("[1e999, 2, 3, 4]", None),
        ("(5%, 6%)", None),
        ("x=5%, y=6%", None),
        ("(5 px, 6 px)", None),
        ("[1/2, 3/4]", None),
        ("[1, 2, 3", None),
        ('{"x": 5, "y": 6', None),  # the last number may have been cut
        ('{"x1": 1, "y1": 2, "x2": 3, "y2": 4', None),
        ('{"x": 5, "y": 6, "lab', "[5, 6]"),
        ("5, 6,", None),  # a third number may have followed
        ("[1, 2, 3, 4, 5]", None),
        ("", None),
    ],
)
def test_first_candidate_is_read(output: str, found: str | None) -> None:
    coordinates = read_coordinates(output)
    assert (None if coordinates is None else str(coordinates)) == found


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ("[5, 6] then [1, 2, 3, 4]", "[1, 2, 3, 4]"),
        ("(5, 6)", None),
        ('{"x": 5, "y": 6}', None),
        ("[0, 1000] [5, 6]", None),
        ("[0, 1000] (1,2),(3,4)", "[1, 2, 3, 4]"),
    ],
)
def test_boxes_only_looks_past_points_and_echoes(output: str, found: str | None) -> None:
    coordinates = read_coordinates(output, boxes_only=True)
    assert (None if coordinates is None else str(coordinates)) == found


@pytest.mark.parametrize(
    ("output", "frame", "value"),
    [
        ("[150, 150]", "norm1000", 1.0),
        ("[0.15, 0.15]", "norm1000", 1.0),  # decimals from 0 to 1 are fractions
        ("[0, 0, 1, 1]", "norm1000", 0.0),  # integers are not
        ("[96, 72]", "pixel", 1.0),
        ("[150, 150]", "pixel", 0.0),
        ("[0.15, 0.15]", "norm1", 1.0),
        ("[150, 150]", "norm1", 0.0),
        ("[100, 100, 200, 200]", "norm1000", 1.0),
        ("[200, 200, 100, 100]", "norm1000", 1.0),
        ("[-100, -100, 400, 400]", "norm1000", 1.0),  # clipped before its centre is taken
        ("[100, 100]", "norm1000", 1.0),  # edges are inside
        ("[99, 150]", "norm1000", 0.0),
    ],
)
def test_click_in_declared_frame(output: str, frame: Frame, value: float) -> None:
    assert with_frame("click_in_box", frame).score(output, GOLD).value == value


def test_click_says_what_kind_of_answer_it_was() -> None:
    kinds = {
        "[5, 6]": {"point": 1.0, "box": 0.0, "whole_image": 0.0},
        "[5, 6, 7, 8]": {"point": 0.0, "box": 1.0, "whole_image": 0.0},
        "[0, 0, 1000, 1000]": {"point": 0.0, "box": 1.0, "whole_image": 1.0},
        "none": {"point": 0.0, "box": 0.0, "whole_image": 0.0},
    }
    assert {output: click_in_box(output, GOLD).metrics for output in kinds} == kinds


def test_box_iou_is_right_from_one_half_and_carries_iou_and_centre() -> None:
    score = box_iou("[100, 100, 200, 150]", GOLD)
    assert (score.value, score.answer) == (1.0, "[100, 100, 200, 150]")
    assert score.metrics == pytest.approx({"iou": 0.5, "center": 1.0})
    assert box_iou("[100, 100, 200, 149]", GOLD).value == 0.0
    assert box_iou("[150, 150]", GOLD).answer is None


def test_frames_other_than_the_default_are_named() -> None:
    assert with_frame("box_iou", "norm1000").name == "box_iou"
    assert with_frame("box_iou", "pixel").name == "box_iou@pixel"
    with pytest.raises(KeyError):
        with_frame("anls", "pixel")


def test_pixels_need_an_image_size() -> None:
    with pytest.raises(ValueError, match="image_size"):
        with_frame("click_in_box", "pixel").score("[1, 2]", BoxTarget(box=GOLD.box))


def test_json_is_read_to_a_bounded_depth() -> None:
    deepest = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert len(list(read_values(deepest))) == MAX_DEPTH
    assert len(list(read_values(f"[{deepest}]"))) == MAX_DEPTH  # the outermost is given up, its inside is not
    assert list(read_values("[" * 100_000)) == []


@pytest.mark.parametrize("text", ["[1, 2", "[1 2]", "[1,]", "{1: 2}", '{"a" 1}', "[01]", "]", '["a', "{,}"])
def test_what_is_not_json_is_skipped(text: str) -> None:
    assert list(read_values(text)) == []
