"""Where a track's samples come from: datasets on the hub, which rows are taken, and how a row becomes a Sample.

`bakeoff prepare` reads the cheap `columns` of every split, lets `choose` pick rows, reads `image_columns` of the chosen
rows only, stores every image's original bytes under its hash, and lets `build` make the Sample.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from bakeoff.records import Image, Sample


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """One split of one dataset, pinned; `label` names it within the track; `rows` is its size at that revision."""

    label: str
    repository: str
    config: str
    split: str
    revision: str
    rows: int


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One row: its split's label, its index in that split, and the values of the source's cheap columns."""

    split: str
    index: int
    values: Mapping[str, Any]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """How a track is prepared.

    `columns` maps each cheap column to the Python type its values must have; `image_columns` are read for chosen rows
    only, in the order in which a Sample shows them, null ones skipped; `default` is the size prepared when none is
    named: `"full"`, `"subset"`, or a number. `choose` is given all rows in dataset order and a size, and returns the
    rows to take in the order in which they are stored. `build` returns None for a row that the track leaves out.
    """

    splits: tuple[Split, ...]
    columns: Mapping[str, tuple[type, ...]]
    image_columns: tuple[str, ...]
    default: str | int
    choose: Callable[[Sequence[Row], str | int], list[Row]]
    build: Callable[[Row, tuple[Image, ...]], Sample | None]
