"""What every track's `build` needs to read a row: named refusals and cleaned texts."""

from collections.abc import Iterable
from typing import Any

from bakeoff.errors import DataMissing
from bakeoff.records import Image
from bakeoff.tracks.source import Row

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def refuse(row: Row, column: str, expected: str) -> DataMissing:
    """Return the error for a value that is not what the dataset is known to hold; it names row, column and value."""
    return DataMissing(
        f"row {row.index} of {row.split}: column {column} holds {row.values.get(column)!r}, expected {expected}.\n"
        "The dataset has changed: prepare the pinned revision, or report this as a bug."
    )


def first_image(row: Row, images: tuple[Image, ...]) -> Image:
    """Return the only image of a row.

    Raises:
        DataMissing: when there is none.
    """
    if not images:
        raise DataMissing(f"row {row.index} of {row.split} has no image")
    return images[0]


def texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a list column that are not blank, as they are written; none for a null."""
    items: Iterable[Any] = value or ()
    return tuple(item for item in items if isinstance(item, str) and item.strip())


def four_numbers(row: Row, column: str) -> tuple[float, float, float, float]:
    """Return the four numbers of a box column in double precision.

    Raises:
        DataMissing: when there are not four numbers.
    """
    value = row.values[column]
    if value is None or len(value) != 4:  # noqa: PLR2004 -- a box
        raise refuse(row, column, "four numbers")
    a, b, c, d = (float(number) for number in value)
    return a, b, c, d
