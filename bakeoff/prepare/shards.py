"""Parquet files read in part: the footer, then only the column chunks that are asked for."""

import io
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bakeoff.prepare.problems import SchemaChanged

Fetch = Callable[[int, int], bytes]
"""Returns the bytes of a file from a start to an end (exclusive)."""

GAP_BYTES = 16_384
"""Chunks that lie no further apart are fetched by one request: a request costs more time than these bytes."""

_FOOTER_BYTES = 65_536
"""What pyarrow reads at the end of a file to find the footer."""


class PartialFile(io.RawIOBase):
    """A read-only file of which some parts are at hand; anything else is fetched when it is read.

    Args:
        size: of the whole file, in bytes.
        fetch: gets what is not at hand.
        parts: start and bytes of what is, sorted.
    """

    def __init__(self, size: int, fetch: Fetch, parts: Sequence[tuple[int, bytes]] = ()) -> None:
        super().__init__()
        self._size, self._fetch, self._parts = size, fetch, parts
        self._starts = [start for start, _ in parts]
        self._position = 0

    def seekable(self) -> bool:
        """Return True."""
        return True

    def readable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move as any file does."""
        self._position = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        """Read up to `size` bytes, to the end with None or a negative number."""
        start = self._position
        end = self._size if size is None or size < 0 else min(start + size, self._size)
        if end <= start:
            return b""
        self._position = end
        at = bisect_right(self._starts, start) - 1
        if at >= 0:
            first, content = self._parts[at]
            if end <= first + len(content):
                return content[start - first : end - first]
        return self._fetch(start, end)


class Shard:
    """One parquet file of a split."""

    def __init__(self, path: str, size: int, fetch: Fetch) -> None:
        self.path = path
        self.size = size
        self._fetch = fetch
        self._tail_start = max(0, size - _FOOTER_BYTES)

    @cached_property
    def metadata(self) -> Any:
        """The file's footer as pyarrow reads it."""
        try:
            return pq.read_metadata(PartialFile(self.size, self._get))
        except (pa.ArrowException, OSError) as error:
            raise self._broken(error) from error

    @property
    def rows(self) -> int:
        """How many rows the file holds."""
        return int(self.metadata.num_rows)

    @cached_property
    def schema(self) -> Any:
        """The columns as an Arrow schema."""
        return self.metadata.schema.to_arrow_schema()

    @cached_property
    def group_rows(self) -> list[int]:
        """Rows of each row group."""
        return [int(self.metadata.row_group(g).num_rows) for g in range(self.metadata.num_row_groups)]

    def read(self, group: int, columns: Sequence[str]) -> Any:
        """Return the Arrow table of `columns` (nested ones by a dotted path) in one row group, and fetch no more."""
        parts = [(start, self._get(start, end)) for start, end in merged(self._chunks(group, columns))]
        source = PartialFile(self.size, self._get, parts)
        try:
            file = pq.ParquetFile(source, metadata=self.metadata, pre_buffer=False)
            return file.read_row_group(group, columns=list(columns), use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise self._broken(error) from error

    def cost(self, group: int, columns: Sequence[str]) -> int:
        """Return how many bytes `read` fetches."""
        ranges = merged(self._chunks(group, columns))
        return sum(max(0, min(end, self._tail_start) - start) for start, end in ranges)

    @cached_property
    def _tail(self) -> bytes:
        """The end of the file, which holds the footer and, of a small file, everything."""
        return self._fetch(self._tail_start, self.size)

    def _get(self, start: int, end: int) -> bytes:
        """Return bytes of the file; the tail is fetched once."""
        if end <= self._tail_start:
            return self._fetch(start, end)
        head = self._fetch(start, self._tail_start) if start < self._tail_start else b""
        return head + self._tail[max(0, start - self._tail_start) : end - self._tail_start]

    def _broken(self, error: Exception) -> SchemaChanged:
        return SchemaChanged(f"{self.path} cannot be read as parquet: {error}")

    def _chunks(self, group: int, columns: Sequence[str]) -> list[tuple[int, int]]:
        meta = self.metadata.row_group(group)
        leaves = (meta.column(number) for number in range(meta.num_columns))
        found = []
        for leaf in leaves:
            if any(leaf.path_in_schema == name or leaf.path_in_schema.startswith(f"{name}.") for name in columns):
                start = leaf.dictionary_page_offset or leaf.data_page_offset
                found.append((min(start, leaf.data_page_offset), start + leaf.total_compressed_size))
        return found


def merged(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return `ranges` sorted, with those joined that overlap or lie at most `GAP_BYTES` apart."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start - joined[-1][1] <= GAP_BYTES:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
