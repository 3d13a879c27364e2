"""Names in drawings: beside their mark, else over or under its interval, and never over anything."""

from bakeoff.report.labels import Box, overlap, place

FRAME: Box = (0.0, 0.0, 400.0, 300.0)


def bar(x: float, low: float, high: float) -> Box:
    """Return what a mark with its interval takes."""
    return (x - 6, low, x + 6, high)


def test_a_name_stands_right_below_its_mark_where_nothing_else_is() -> None:
    own = bar(100.0, 50.0, 250.0)
    found = place("arm", (100.0, 150.0), own, [own], FRAME)
    assert found is not None
    assert (found.x, found.y, found.align) == (110.0, 134.0, "left")


def test_a_name_between_two_intervals_goes_over_its_own() -> None:
    left, own, right = bar(180.0, 60.0, 240.0), bar(200.0, 50.0, 250.0), bar(220.0, 60.0, 240.0)
    found = place("long-name", (200.0, 150.0), own, [left, own, right], FRAME)
    assert found is not None
    assert (found.align, found.y) == ("center", 255.0)
    assert not any(overlap(found.box, other) for other in (left, own, right))


def test_a_name_goes_under_its_interval_where_the_top_is_full() -> None:
    left, own, right = bar(180.0, 60.0, 295.0), bar(200.0, 50.0, 295.0), bar(220.0, 60.0, 295.0)
    found = place("long-name", (200.0, 150.0), own, [left, own, right], FRAME)
    assert found is not None
    assert found.y < 50.0


def test_there_is_no_place_where_all_is_taken() -> None:
    own = bar(200.0, 50.0, 250.0)
    assert place("arm", (200.0, 150.0), own, [own, FRAME], FRAME) is None
