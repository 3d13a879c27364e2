"""Where a name may stand beside its mark in a drawing, so that nothing is written over."""

from collections.abc import Sequence

import msgspec

Box = tuple[float, float, float, float]
"""Left, bottom, right, top in pixels, y upward."""

_CHARACTER = 7.2  # width of a 13 px semibold character, on the safe side


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a name starts (ends for "right", has its middle for "center"), and the box that it takes."""

    x: float
    y: float
    align: str
    box: Box


def place(name: str, mark: tuple[float, float], own: Box, taken: Sequence[Box], frame: Box) -> Place | None:
    """Return a free place for the name of a mark, or None without any.

    Tried are right below, right above, left below and left above of the mark, then over and under its interval.

    Args:
        name: the name to write.
        mark: where the mark lies.
        own: the box of the mark and its interval.
        taken: boxes that must stay free, `own` among them.
        frame: the box to stay inside.
    """
    x, y = mark
    width = len(name) * _CHARACTER
    over, under = own[3] + 5, own[1] - 14
    for align, at, baseline in (
        ("left", x + 10, y - 16),
        ("left", x + 10, y + 10),
        ("right", x - 10, y - 16),
        ("right", x - 10, y + 10),
        *(("center", x, end) for end in (over, under)),
        *(("right", x + 6, end) for end in (over, under)),
        *(("left", x - 6, end) for end in (over, under)),
    ):
        left = at - {"left": 0.0, "center": width / 2, "right": width}[align]
        box = (left, baseline - 4, left + width, baseline + 12)
        is_inside = box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
        if is_inside and not any(overlap(box, other) for other in taken):
            return Place(x=at, y=baseline, align=align, box=box)
    return None


def overlap(a: Box, b: Box) -> bool:
    """Return whether two boxes share any area."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
