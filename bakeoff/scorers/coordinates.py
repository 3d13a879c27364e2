"""Reads the first box or point from an answer, in the numbers it is written in.

JSON comes first, then a few written patterns; the first candidate counts, never the best one, and no reading depends
on the target. A range that a prompt echoes (`[0, 1000]`), percentages, fractions, numbers with units, and a box or an
object that was cut before its last number ended are not coordinates.
"""

import functools
import math
import re
from collections.abc import Iterator, Sequence

import msgspec

from bakeoff.geometry import Box, Frame, Point
from bakeoff.scorers.json_values import Json, Number, read_values
from bakeoff.text import fold_answer, without_fences

_LIST_KEYS = frozenset(
    (
        *("bbox_2d", "bbox", "box", "box_2d", "bounding_box", "boundingbox", "rect", "coordinates"),
        *("point_2d", "point", "click", "click_point", "position", "center", "coordinate"),
    )
)
_BOX_KEYS = (("x1", "y1", "x2", "y2"), ("xmin", "ymin", "xmax", "ymax"), ("left", "top", "right", "bottom"))
_POINT_KEYS = (("x", "y"),)
_ECHOES = {(0.0, 1000.0), (0.0, 999.0), (0.0, 1.0)}

_N = r"([-+]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][-+]?[0-9]++)?)"
_GAP = r"(?:\s*+[,;]\s*+|\s++)"
_PAIR = rf"[\[({{]\s*+{_N}{_GAP}{_N}\s*+[\])}}]"
_NEXT = r"\s*+(?:[,;]\s*+)?+"


def _named(*names: str) -> str:
    """Return a pattern of `name = number` for each name in turn."""
    return _NEXT.join(
        rf"(?<![A-Za-z0-9_])[\"']?{name}[\"']?\s*+[=:]\s*+{_N}(?![0-9.]*+\s*+(?:[%/]|px))" for name in names
    )


_TWO_PAIRS = re.compile(rf"{_PAIR}\s*+(?:(?:,|(?i:to)\b)\s*+)?+{_PAIR}")
_BOX_PATTERNS = (
    re.compile(rf"[\[({{]\s*+{_N}{_GAP}{_N}{_GAP}{_N}{_GAP}{_N}\s*+[\])}}]"),
    _TWO_PAIRS,
    re.compile(_named("x1", "y1", "x2", "y2"), re.IGNORECASE),
)
_POINT_PATTERNS = (re.compile(_named("x", "y"), re.IGNORECASE), re.compile(_PAIR))
_BARE_BOX = re.compile(rf"{_N}{_GAP}{_N}{_GAP}{_N}{_GAP}{_N}")
_BARE_POINT = re.compile(rf"{_N}{_GAP}{_N}")
_WRAPPING = " \t\r\n\"'`*_$"
_QUOTES = frozenset("\"'")


class Coordinates(msgspec.Struct, frozen=True):
    """Four numbers of a box or two of a point, as written; `is_decimal` when each has a decimal point."""

    values: tuple[float, ...]
    is_decimal: bool

    @property
    def is_box(self) -> bool:
        """True for a box, False for a point."""
        return len(self.values) == 4  # noqa: PLR2004 -- x1, y1, x2, y2

    def in_frame(self, frame: Frame) -> tuple[float, ...]:
        """Return the numbers in the frame the prompt asked for.

        One exception to "as declared": under 0 to 1000, numbers from 0 to 1 that all have a decimal point are read
        as fractions. `[0, 0, 1, 1]` stays a tiny box.
        """
        if frame == "norm1000" and self.is_decimal and all(0.0 <= value <= 1.0 for value in self.values):
            return tuple(value * 1000.0 for value in self.values)
        return self.values

    def box_in(self, frame: Frame) -> Box:
        """Return the four numbers of a box in `frame`."""
        x1, y1, x2, y2 = self.in_frame(frame)
        return x1, y1, x2, y2

    def point_in(self, frame: Frame) -> Point:
        """Return the two numbers of a point in `frame`."""
        x, y = self.in_frame(frame)
        return x, y

    def __str__(self) -> str:
        return "[" + ", ".join(f"{value:.10g}" for value in self.values) + "]"


@functools.lru_cache(maxsize=16)  # constant answers and the drawing of an answer ask for the same text again
def read_coordinates(output: str, *, boxes_only: bool = False) -> Coordinates | None:
    """Return the first candidate in `output`, or None; `boxes_only` looks past points."""
    text = without_fences(fold_answer(output))

    def is_wanted(found: Coordinates | None) -> bool:
        return found is not None and (found.is_box or not boxes_only)

    for value in read_values(text):
        for found in _walk(value):
            if is_wanted(found):
                return found
    bare = text.lstrip(_WRAPPING).rstrip(_WRAPPING + ".")  # not a comma: more may have followed it
    return _earliest(text, _BOX_PATTERNS, bare, _BARE_BOX) or (
        None if boxes_only else _earliest(text, _POINT_PATTERNS, bare, _BARE_POINT)
    )


def _walk(value: Json) -> Iterator[Coordinates]:
    """Yield the candidates inside a JSON value in document order."""
    if isinstance(value, list):
        found = _from_list(value)
        if found is not None:
            yield found
            return
        for item in value:
            yield from _walk(item)
    elif isinstance(value, dict):
        yield from _walk_object(value)


def _walk_object(value: dict[str, Json]) -> Iterator[Coordinates]:
    """Yield the candidates of a JSON object; key case is ignored."""
    keys = {key.lower(): key for key in value}
    groups = {group[0]: group for group in (*_BOX_KEYS, *_POINT_KEYS) if all(name in keys for name in group)}
    has_coordinates = bool(groups) or not _LIST_KEYS.isdisjoint(keys)
    for name, key in keys.items():
        item = value[key]
        if name in groups:
            found = _from_numbers([value[keys[part]] for part in groups[name]])
            if found is not None:
                yield found
        elif isinstance(item, list) and name not in _LIST_KEYS and has_coordinates and _from_list(item) is not None:
            continue  # such as the size of the image beside its box
        else:
            yield from _walk(item)


def _from_list(items: list[Json]) -> Coordinates | None:
    """Read four numbers or two pairs as a box, two numbers as a point."""
    pairs = [item for item in items if isinstance(item, list)]
    if len(items) == len(pairs) == 2:  # noqa: PLR2004 -- two corners
        corners = [_from_numbers(pair) for pair in pairs]
        is_box = all(corner is not None and not corner.is_box for corner in corners)
        return _from_numbers([*pairs[0], *pairs[1]]) if is_box else None
    return _from_numbers(items)


def _from_numbers(items: list[Json]) -> Coordinates | None:
    """Read four numbers as a box or two as a point."""
    numbers = [item.text for item in items if isinstance(item, Number)]
    return _checked(numbers) if len(numbers) == len(items) and len(items) in {2, 4} else None


def _checked(texts: Sequence[str]) -> Coordinates | None:
    """Return the numbers of `texts` unless one is not finite or they echo a range."""
    values = tuple(float(text) for text in texts)
    if not all(math.isfinite(value) for value in values) or values in _ECHOES:
        return None
    return Coordinates(values, all("." in text for text in texts))


def _earliest(
    text: str, patterns: tuple[re.Pattern[str], ...], bare: str, whole: re.Pattern[str]
) -> Coordinates | None:
    """Return the candidate that begins first in `text`, or the one that `bare` text consists of."""
    found = [hit for pattern in patterns if (hit := _first_hit(pattern, text)) is not None]
    if found:
        return min(found, key=lambda hit: hit[0])[1]
    match = whole.fullmatch(bare)
    return _checked(match.groups()) if match else None


def _first_hit(pattern: re.Pattern[str], text: str) -> tuple[int, Coordinates] | None:
    """Return position and coordinates of the first match that is a candidate."""
    position = 0
    while (match := pattern.search(text, position)) is not None:
        numbers = match.groups()
        found = _checked(numbers)
        is_echo = pattern is _TWO_PAIRS and (_checked(numbers[:2]) is None or _checked(numbers[2:]) is None)
        # A last member with nothing after it may have been cut: {"x": 525, "y": 5
        is_cut = match.end() == len(text) and not _QUOTES.isdisjoint(match.group())
        if found is not None and not is_echo and not is_cut:
            return match.start(), found
        position = match.start() + 1  # the second pair of a match may begin a box of its own
    return None
