"""Where a name may stand beside its mark in a drawing, so that nothing is written over."""

from collections.abc import Sequence

import msgspec

Box = tuple[float, float, float, float]
"""Left, bottom, right, top in pixels, y upward."""

_CHARACTER = 7.2  # width of a 13 px semibold character, on the safe side


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a name starts (or ends, for "right"), the box that it takes."""

    x: float
    y: float
    align: str
    box: Box


def place(name: str, x: float, y: float, taken: Sequence[Box], frame: Box) -> Place | None:
    """Return a free place for a label of a mark: right below, right above, left below, left above; None without any."""
    width = len(name) * _CHARACTER
    for is_right, dy in ((True, -16.0), (True, 10.0), (False, -16.0), (False, 10.0)):
        at = x + 10 if is_right else x - 10
        left, right = (at, at + width) if is_right else (at - width, at)
        box = (left, y + dy - 4, right, y + dy + 12)
        is_inside = box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
        if is_inside and not any(overlap(box, other) for other in taken):
            return Place(x=at, y=y + dy, align="left" if is_right else "right", box=box)
    return None


def overlap(a: Box, b: Box) -> bool:
    """Return whether two boxes share any area."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
