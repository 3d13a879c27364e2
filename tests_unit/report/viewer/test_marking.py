"""Where an answer stands in its output, and where in the picture."""

import pytest

from bakeoff.records import BoxTarget
from bakeoff.report.viewer.marking import Spot, answer_spot, split_at_answer
from tests_unit.report.synthetic import RunMaker, record

TARGET = BoxTarget(box=(0.1, 0.2, 0.3, 0.4), image_size=(100, 50))
SIZE = (100, 50)


@pytest.mark.parametrize(
    ("output", "answer", "parts"),
    [
        ("It is B.", "B", ("It is ", "B", ".")),
        ("A bar is B", "B", ("A bar is ", "B", "")),
        ("Answer: A, as in Apple", "A", ("Answer: ", "A", ", as in Apple")),
        ("Apple, so A", "A", ("Apple, so ", "A", "")),
        ('{"bbox_2d":[1,2,3,4]}', "[1, 2, 3, 4]", ('{"bbox_2d":', "[1,2,3,4]", "}")),
        ("so it says HELLO there", "hello", ("so it says ", "HELLO", " there")),
        ("B or B", "B", ("B or B", "", "")),
        ("nothing", None, ("nothing", "", "")),
        ("nothing", "", ("nothing", "", "")),
        ("x" * 900, "x" * 900, ("x" * 900, "", "")),
        ("a.*b", ".*", ("a", ".*", "b")),
    ],
)
def test_an_answer_is_marked_where_its_place_is_plain(
    output: str, answer: str | None, parts: tuple[str, str, str]
) -> None:
    found = split_at_answer(output, answer)
    assert found == parts
    assert "".join(found) == output


@pytest.mark.parametrize(
    ("output", "answer", "correct", "spot"),
    [
        ("[200, 300]", "[200, 300]", True, Spot(point=(20.0, 15.0))),
        ("[100, 200, 300, 400]", "[100, 200, 300, 400]", True, Spot(box=(10.0, 10.0, 30.0, 20.0), point=(20.0, 15.0))),
        ("[900, 300]", "[900, 300]", False, Spot(point=(90.0, 15.0))),
        ("[900, 300]", "[900, 300]", True, None),
        ("nowhere", None, False, None),
    ],
)
def test_a_click_is_drawn_at_the_point_that_was_scored(
    maker: RunMaker, output: str, answer: str | None, correct: int, spot: Spot | None
) -> None:
    said = record(
        maker.samples[0],
        output=output,
        answer=answer,
        correct=bool(correct),
        scorer="click_in_box",
        metrics={"point": 1.0},
    )
    found = answer_spot(said, TARGET, SIZE)
    assert (found and found.drawn()) == (spot and spot.drawn())


def test_a_click_in_another_frame_is_read_in_that_frame(maker: RunMaker) -> None:
    said = record(maker.samples[0], output="[20, 15]", answer="[20, 15]", correct=True, scorer="click_in_box@pixel")
    assert answer_spot(said, TARGET, SIZE) == Spot(point=(20.0, 15.0))


@pytest.mark.parametrize(("scorer", "point"), [("box_iou", None), ("box_center", [20.0, 15.0])])
def test_a_box_is_drawn_and_its_centre_where_that_was_scored(
    maker: RunMaker, scorer: str, point: list[float] | None
) -> None:
    text = "[100, 200, 300, 400]"
    found = answer_spot(
        record(maker.samples[0], output=text, answer=text, scorer=scorer, metrics={"iou": 1.0}), TARGET, SIZE
    )
    assert found is not None
    assert found.drawn() == [[10.0, 10.0, 20.0, 10.0], point]
