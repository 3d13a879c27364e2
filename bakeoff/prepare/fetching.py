"""Getting the images of chosen rows: what is stored already is left alone, the rest comes a row group at a time."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing

import msgspec

from bakeoff.pictures import Unusable
from bakeoff.prepare.dataset import Dataset, Group, images_of
from bakeoff.prepare.images import ImageStore
from bakeoff.prepare.ledger import Cell, Ledger, place_of
from bakeoff.prepare.parallel import in_order
from bakeoff.prepare.problems import megabytes
from bakeoff.prepare.screen import Task
from bakeoff.records import Image
from bakeoff.tracks.source import Row
from bakeoff.wording import some

RowKey = tuple[str, int]
"""A split's label and a row's index in it."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be fetched: row groups by split label, `cost` in bytes; and the `images` that are here already."""

    groups: dict[str, list[Group]]
    cost: int
    images: dict[RowKey, tuple[Image, ...]]

    def describe(self) -> str:
        """Say how much is to be fetched."""
        groups = sum(len(found) for found in self.groups.values())
        rows = sum(len(group.rows) for found in self.groups.values() for group in found)
        return f"images of {some(rows, 'row')} are in {some(groups, 'row group')}, {megabytes(self.cost)}"


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """The images of each row, and why a row has an image that cannot be used."""

    images: dict[RowKey, tuple[Image, ...]]
    unusable: dict[RowKey, str]

    @property
    def count(self) -> int:
        """How many images there are, one that several rows show counted for each."""
        return sum(map(len, self.images.values()))


class Fetcher:
    """Brings the images of one track's rows into its store."""

    def __init__(
        self, datasets: Mapping[str, Dataset], columns: Sequence[str], ledger: Ledger, store: ImageStore
    ) -> None:
        self._datasets, self._columns, self._ledger, self._store = datasets, columns, ledger, store

    def work_left(self, chosen: Sequence[Row]) -> Work:
        """Find out which rows need fetching: those of which an image is not stored, whole, from the same commit."""
        have: dict[RowKey, tuple[Image, ...]] = {}
        missing: dict[str, list[int]] = defaultdict(list)
        for row in chosen:
            known = self._known(row)
            if known is None:
                missing[row.split].append(row.index)
            else:
                have[row.split, row.index] = known
        groups = {label: self._datasets[label].groups(rows) for label, rows in missing.items()}
        wanted = [f"{column}.bytes" for column in self._columns]
        cost = sum(group.shard.cost(group.number, wanted) for found in groups.values() for group in found)
        return Work(groups=groups, cost=cost, images=have)

    def fetch(self, work: Work, task: Task, workers: int) -> Fetched:
        """Fetch and store what is left; what is stored is written down after every row group.

        Raises:
            DataMissing: when the hub fails; what is stored until then is found again by `work_left`.
            OSError: when an image cannot be written.
        """
        done = Fetched(images=dict(work.images), unusable={})
        groups = [(label, group) for label, found in work.groups.items() for group in found]
        with closing(in_order(lambda item: images_of(item[1], self._columns), groups, workers)) as read:
            for (label, _), rows in zip(groups, read, strict=True):
                self._store_group(label, rows, done)
                task.note(some(done.count, "image"))
        return done

    def _store_group(self, label: str, rows: Mapping[int, Mapping[str, bytes | None]], done: Fetched) -> None:
        place = place_of(self._datasets[label])
        cells: list[Cell] = []
        for index, contents in rows.items():
            try:
                stored = {column: None if b is None else self._store.put(b) for column, b in contents.items()}
            except Unusable as problem:
                done.unusable[label, index] = str(problem)
                continue
            cells += [Cell(place=place, row=index, column=c, image=image) for c, image in stored.items()]
            done.images[label, index] = tuple(image for image in stored.values() if image is not None)
        self._ledger.add(cells)

    def _known(self, row: Row) -> tuple[Image, ...] | None:
        """Return the images of a row when all of them are stored and whole, else None."""
        place = place_of(self._datasets[row.split])
        found: list[Image] = []
        for column in self._columns:
            cell = self._ledger.find((place, row.index, column))
            if cell is None or not (cell.image is None or self._store.holds(cell.image)):
                return None
            if cell.image is not None:
                found.append(cell.image)
        return tuple(found)
