"""One split of a dataset, opened: its rows without their images, and the images of chosen rows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import msgspec

from bakeoff.prepare.layout import data_files
from bakeoff.prepare.link import Link
from bakeoff.prepare.listing import Listing, incomplete
from bakeoff.prepare.parallel import in_order
from bakeoff.prepare.problems import SchemaChanged
from bakeoff.prepare.shards import Shard
from bakeoff.tracks.source import Row, Split


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """A row group that holds wanted rows: the `rows` (indexes within the split) and the first row of the group."""

    shard: Shard
    number: int
    first: int
    rows: tuple[int, ...]


class Dataset:
    """An opened split; `commit` is what its revision resolved to.

    Raises:
        DataMissing, NothingWorks: as `Link.listing`, and when the hub's cache holds no such split.
        SchemaChanged: when the repository holds no such split.
    """

    def __init__(self, split: Split, link: Link) -> None:
        listing = link.listing(split.repository, split.revision)
        card = link.text(listing, "README.md")
        try:
            paths = data_files(listing.sizes, card, repository=split.repository, config=split.config, split=split.split)
        except SchemaChanged as error:
            raise incomplete(listing, split.revision) if listing.is_cached else error from error
        self.split = split
        self.listing = listing
        self.commit = listing.commit
        self._workers = link.workers
        self.shards = [_shard(link, listing, path) for path in paths]

    @property
    def name(self) -> str:
        """What messages call this split."""
        return f"{self.split.repository}@{self.commit[:12]}, {self.split.config}/{self.split.split}"

    @property
    def size(self) -> int:
        """Bytes of all shards."""
        return sum(shard.size for shard in self.shards)

    @property
    def row_count(self) -> int:
        """Rows of all shards."""
        return sum(shard.rows for shard in self.shards)

    def check_columns(self, columns: Iterable[str], image_columns: Iterable[str]) -> None:
        """Hold the declared columns against every shard.

        Raises:
            SchemaChanged: naming the column that is absent, or the image column that holds no image bytes.
        """
        for shard in self.shards:
            have = set(shard.schema.names)
            for column in (*columns, *image_columns):
                if column not in have:
                    raise SchemaChanged(
                        f"column {column!r} is not in {shard.path} of {self.name}; it has {', '.join(sorted(have))}.\n"
                        f"{_REMEDY}"
                    )
            for column in image_columns:
                kind = shard.schema.field(column).type
                fields = {kind.field(i).name for i in range(kind.num_fields)}
                if "bytes" not in fields:
                    raise SchemaChanged(
                        f"column {column!r} in {shard.path} of {self.name} should be images (a struct of bytes and "
                        f"path) and is {kind}.\n{_REMEDY}"
                    )

    def cost(self, columns: Sequence[str]) -> int:
        """Return the bytes that `rows` fetches."""
        return sum(shard.cost(g, columns) for shard in self.shards for g in range(len(shard.group_rows)))

    def rows(self, columns: Mapping[str, tuple[type, ...]]) -> Iterator[Row]:
        """Read `columns` of all rows, in order.

        Raises:
            SchemaChanged: naming row and column of a value that is not of a declared type.
        """
        names = list(columns)
        groups = [(shard, number) for shard in self.shards for number in range(len(shard.group_rows))]
        index = 0
        with closing(in_order(lambda group: group[0].read(group[1], names), groups, self._workers)) as tables:
            for table in tables:
                for values in table.select(names).to_pylist():
                    self._check_types(index, values, columns)
                    yield Row(split=self.split.label, index=index, values=values)
                    index += 1

    def groups(self, wanted: Iterable[int]) -> list[Group]:
        """Return the row groups that hold the `wanted` rows, in order."""
        rest = sorted(set(wanted))
        found: list[Group] = []
        first = 0
        for shard in self.shards:
            for number, rows in enumerate(shard.group_rows):
                inside = tuple(index for index in rest if first <= index < first + rows)
                if inside:
                    found.append(Group(shard=shard, number=number, first=first, rows=inside))
                    rest = rest[len(inside) :]
                first += rows
        return found

    def _check_types(self, index: int, values: Mapping[str, Any], columns: Mapping[str, tuple[type, ...]]) -> None:
        for column, types in columns.items():
            if type(values[column]) not in types:
                wanted = " or ".join("null" if t is type(None) else t.__name__ for t in types)
                found = "null" if values[column] is None else type(values[column]).__name__
                raise SchemaChanged(
                    f"column {column!r} holds {found} in row {index} of {self.name}, where {wanted} is expected.\n"
                    f"{_REMEDY}"
                )


def images_of(group: Group, columns: Sequence[str]) -> dict[int, dict[str, bytes | None]]:
    """Read the image columns of a row group; for each wanted row, give the bytes of each column, None where null.

    Bytes are empty where a row names a file and holds no bytes.
    """
    table = group.shard.read(group.number, [f"{column}.bytes" for column in columns])
    found: dict[int, dict[str, bytes | None]] = defaultdict(dict)
    for column in columns:
        cells = table.column(column)
        for index in group.rows:
            cell = cells[index - group.first].as_py()
            found[index][column] = None if cell is None else cell["bytes"] or b""
    return dict(found)


_REMEDY = "The dataset's form changed: name a revision of the expected form with --revision TRACK=SHA."


def _shard(link: Link, listing: Listing, path: str) -> Shard:
    return Shard(path, listing.sizes[path], lambda start, end: link.part(listing, path, start, end))
