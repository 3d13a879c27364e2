"""Rules that stand for a benchmark's own script: its corner cases, kept where a tidier rule would differ.

The examples are made up; what each must give was read off the authors' code.
"""

import pytest

from bakeoff.records import BoxTarget, OptionTarget, TextTarget
from bakeoff.scorers.blink import blink_official
from bakeoff.scorers.mmmu import mmmu_open_official
from bakeoff.scorers.seeclick import seeclick_official
from bakeoff.scorers.vlmevalkit import refcoco_vlmevalkit


@pytest.mark.parametrize(
    ("output", "read"),
    [
        ("B", "B"),
        ("(B)", "B"),
        ("It is (A) here", "A"),
        ("(A) or (B)? The first.\n\n(B) it is", "B"),
        (" B", None),  # a bare letter must be the whole output, blanks included
        ("B\n", None),
        ("(B)\n", "B"),  # a label in brackets is a word of its own
        ("E", "E"),  # alone, a letter counts even where no option has it
        ("(E)", "E"),
        ("(A) beats (E)", "A"),  # among other words, a label without an option is none
        ("It is (E)", None),
        ("(A) or (B)", None),
        ("(A) or (B)\n\n(A)\n\n", None),  # the last paragraph is empty
        ("(A) or (B)\n\n(A) beats (C)", "A"),
    ],
)
def test_blink_reads_labels_of_the_options_that_there_are(output: str, read: str | None) -> None:
    assert blink_official(output, OptionTarget(letter="A", count=2, options=("left", "right"))).answer == read


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("(0.2, 0.6)", 1.0),
        ("(0.4, 0.7)", 1.0),  # edges are inside
        ("(0.4000000001, 0.7)", 0.0),  # and nothing beyond them is
        ("[0.2, 0.5, 0.4, 0.7]", 1.0),
        ("[-0.1, 0.4, 0.7, 0.8]", 1.0),  # only the middle of four numbers is looked at
        ("[0.1, 0.1, 0.5, 1.1]", 1.0),
        ("(300, 600)", 0.0),
        ("<box>(200,500),(400,700)</box>", 1.0),
        ("<box>(0,400),(600,800)</box> <box>(0,0),(1,1)</box>", 1.0),  # the first pair of corners
        ("box (0.3, 0.6)", 0.0),  # the word alone demands tags
    ],
)
def test_seeclick_looks_at_the_click_alone(output: str, value: float) -> None:
    assert seeclick_official(output, BoxTarget(box=(0.2, 0.5, 0.4, 0.7))).value == value


@pytest.mark.parametrize(
    ("output", "iou"),
    [
        ("[100, 200, 300, 400]", 1.0),
        ("(100, 200, 300, 400)", 1.0),  # the first four numbers
        ("(9) [100 200,300 400]", 1.0),  # square brackets go first; blanks or a comma between the numbers
        ("(9, 9, 9, 9) [100, 200, 300, 400]", 1.0),
        ("[9, 9, 9, 9, 9] [100, 200, 300, 400]", 1.0),  # five numbers are no group
        ("[1; 1; 1; 1] (100, 200, 300, 400)", 0.0),  # nor is anything with another mark between
        ("100 200 300 400 (9, 9, 9, 9)", 1.0),  # round brackets never go first
        ("100. 200. 300. 400.", 1.0),
        ("[100., 200., 300., 400.]", 1.0),
        ("0 [0, 0, 900, 900", 0.0),  # without its end, a bracket is like any other mark
        ("[0.1, 0.2, 0.3, 0.4]", 1.0),
        ("[300, 400, 100, 200]", 1.0),
        ("[0, 0, 1e999, 1e999]", 0.04),  # clipped to the picture
        ("[100, 200, 300]", 0.0),
    ],
)
def test_vlmevalkit_takes_the_first_four_numbers_in_square_brackets_or_anywhere(output: str, iou: float) -> None:
    target = BoxTarget(box=(0.1, 0.2, 0.3, 0.4), image_size=(640, 480))
    assert refcoco_vlmevalkit(output, target).metrics["iou"] == pytest.approx(iou)


def test_vlmevalkit_measures_in_pixels_and_forgives_nothing() -> None:
    # In fractions, the left half of this box comes out short of one half by rounding; in pixels it is one half exactly.
    box = (111 / 640, 129 / 480, 183 / 640, 203 / 480)
    target = BoxTarget(box=box, image_size=(640, 480))
    assert refcoco_vlmevalkit(f"[{box[0]}, {box[1]}, {147 / 640}, {box[3]}]", target).value == 1.0
    assert refcoco_vlmevalkit(f"[{box[0]}, {box[1]}, {147 / 640 - 1e-12}, {box[3]}]", target).value == 0.0


def test_vlmevalkit_needs_no_picture_size_for_fractions_and_thousandths() -> None:
    target = BoxTarget(box=(0.1, 0.2, 0.3, 0.4))
    assert refcoco_vlmevalkit("[0.1, 0.2, 0.3, 0.4]", target).value == 1.0
    assert refcoco_vlmevalkit("[100, 200, 300, 400]", target).value == 1.0
    with pytest.raises(ValueError, match="image_size"):
        refcoco_vlmevalkit("[100, 200, 300, 1400]", target)


@pytest.mark.parametrize(
    ("output", "gold", "value"),
    [
        ("so 1,234,567", "1234567", 1.0),
        ("so 1,234,5678 in all", "1234", 1.0),  # whole groups of three count up to where they end
        ("so 1,2345 in all", "1", 0.0),
        ("so 12.5, in all", "12", 1.0),  # a comma behind a fraction leaves its whole part
        ("so 4.2e3 J", "4200", 1.0),
        ("so 3.1.4", "0.4", 1.0),  # what follows a fraction begins with its point
        ("so 3.1.4", "4", 0.0),
    ],
)
def test_mmmu_finds_numbers_as_its_script_does(output: str, gold: str, value: float) -> None:
    assert mmmu_open_official(output, TextTarget(answers=(gold,))).value == value
