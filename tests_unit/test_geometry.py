"""Boxes and points: frames, clipping, hits, overlap."""

import math

import pytest
from hypothesis import given, strategies as st

from bakeoff.geometry import (
    Box,
    Frame,
    box_area,
    box_center,
    frame_size,
    intersection_over_union,
    is_half_overlap,
    is_inside,
    normalize_box,
    normalize_point,
)

NUMBER = st.floats(-2000, 2000)
BOX = st.tuples(NUMBER, NUMBER, NUMBER, NUMBER).map(lambda box: normalize_box(box, (1000.0, 1000.0)))


@pytest.mark.parametrize(("frame", "size"), [("norm1000", (1000, 1000)), ("norm1", (1, 1)), ("pixel", (640, 480))])
def test_frame_size_is_the_largest_coordinate(frame: Frame, size: tuple[float, float]) -> None:
    assert frame_size(frame, (640, 480)) == size


def test_pixels_need_the_size_of_the_image() -> None:
    with pytest.raises(ValueError, match="image_size"):
        frame_size("pixel", None)


@pytest.mark.parametrize(
    ("box", "normal"),
    [
        ((100, 200, 300, 400), (0.1, 0.2, 0.3, 0.4)),
        ((300, 400, 100, 200), (0.1, 0.2, 0.3, 0.4)),
        ((-50, 0, 1200, 500), (0, 0, 1, 0.5)),
        ((1100, 0, 1200, 500), (1, 0, 1, 0.5)),
    ],
)
def test_box_is_ordered_and_clipped(box: Box, normal: Box) -> None:
    assert normalize_box(box, (1000.0, 1000.0)) == normal


def test_a_point_outside_the_frame_stays_outside() -> None:
    assert normalize_point((1100.0, 500.0), (1000.0, 1000.0)) == (1.1, 0.5)


def test_box_center_is_the_middle() -> None:
    assert box_center((0.0, 0.2, 1.0, 0.4)) == pytest.approx((0.5, 0.3))


@pytest.mark.parametrize(
    ("point", "is_hit"),
    [((0.1, 0.1), True), ((0.2, 0.2), True), ((0.15, 0.1), True), ((0.2001, 0.15), False), ((0.15, 0.0999), False)],
)
def test_edges_are_inside(point: tuple[float, float], is_hit: bool) -> None:  # noqa: FBT001 -- a table column
    assert is_inside(point, (0.1, 0.1, 0.2, 0.2)) is is_hit


@pytest.mark.parametrize(
    ("a", "b", "iou"),
    [
        ((0, 0, 1, 1), (0, 0, 1, 1), 1.0),
        ((0, 0, 0.1, 0.1), (0.05, 0, 0.15, 0.1), 1 / 3),
        ((0, 0, 0.1, 0.1), (0.1, 0, 0.2, 0.1), 0.0),  # touching edges
        ((0, 0, 1, 1), (0.5, 0.5, 0.5, 0.5), 0.0),  # no area
        ((0.5, 0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 0.5), 0.0),
    ],
)
def test_overlap_is_a_ratio_of_continuous_areas(a: Box, b: Box, iou: float) -> None:
    assert intersection_over_union(a, b) == pytest.approx(iou)


@given(BOX, BOX)
def test_overlap_is_symmetric_and_in_range(a: Box, b: Box) -> None:
    iou = intersection_over_union(a, b)
    assert 0.0 <= iou <= 1.0
    assert iou == intersection_over_union(b, a)


@given(BOX)
def test_a_box_with_area_overlaps_itself_wholly(box: Box) -> None:
    assert intersection_over_union(box, box) == pytest.approx(1.0 if box_area(box) > 0 else 0.0)


def test_exactly_one_half_is_a_hit_in_spite_of_rounding() -> None:
    assert is_half_overlap(math.nextafter(0.5, 0.0))
    assert not is_half_overlap(0.499)
