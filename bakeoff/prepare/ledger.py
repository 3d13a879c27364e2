"""Which cell of which dataset became which stored image: what lets a broken-off preparation go on."""

from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

import msgspec

from bakeoff.files import write_atomically
from bakeoff.prepare.dataset import Dataset
from bakeoff.records import Image, from_line, to_line


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One image cell: `place` is repository, commit, configuration and split; `image` is None where it is null."""

    place: str
    row: int
    column: str
    image: Image | None


Key = tuple[str, int, str]


def place_of(dataset: Dataset) -> str:
    """Return the place of a dataset's cells."""
    split = dataset.split
    return f"{split.repository}@{dataset.commit}/{split.config}/{split.split}"


class Ledger:
    """The cells of one track, a line each in `folder/images.jsonl`; added to as images are stored."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "images.jsonl"
        self._cells = {_key(cell): cell for cell in _read(self.path)}
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        """Make the file ready for more lines: a torn last line is dropped."""
        self.rewrite(set(self._cells))
        self._file = self.path.open("a", encoding="utf-8", newline="\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def find(self, key: Key) -> Cell | None:
        """Return what is known of a cell."""
        return self._cells.get(key)

    def keys_of(self, places: set[str]) -> set[Key]:
        """Return the keys of all cells of `places`."""
        return {key for key in self._cells if key[0] in places}

    def paths(self) -> set[str]:
        """Return the paths of all images."""
        return {cell.image.path for cell in self._cells.values() if cell.image is not None}

    def add(self, cells: list[Cell]) -> None:
        """Write `cells` down at once."""
        if self._file is None:
            raise ValueError("a ledger is added to while it is open")
        self._file.writelines(to_line(cell) + "\n" for cell in cells)
        self._file.flush()
        self._cells.update({_key(cell): cell for cell in cells})

    def rewrite(self, keep: set[Key]) -> None:
        """Keep the cells of `keep` only."""
        self._cells = {key: cell for key, cell in self._cells.items() if key in keep}
        write_atomically(self.path, "".join(to_line(cell) + "\n" for cell in self._cells.values()).encode("ascii"))


def _key(cell: Cell) -> Key:
    return cell.place, cell.row, cell.column


def _read(path: Path) -> list[Cell]:
    """Read the lines that can be read: one that cannot is a cell to be fetched again."""
    found: list[Cell] = []
    if path.is_file():
        for line in path.read_text("utf-8", errors="replace").splitlines():
            try:
                found.append(from_line(line, Cell))
            except ValueError:
                continue
    return found
