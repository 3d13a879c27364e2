"""Reading parquet files in part."""

import io
import random
from pathlib import Path

import pyarrow as pa
import pytest

from bakeoff.prepare.shards import GAP_BYTES, PartialFile, Shard, merged
from tests_unit.doubles.data_hub import write_shards

SCHEMA = pa.schema([("a", pa.string()), ("image", pa.struct([("bytes", pa.binary())])), ("b", pa.list_(pa.int64()))])
ROWS = [
    {"a": f"text {i}", "image": {"bytes": random.Random(i).randbytes(20_000)}, "b": [i]}  # noqa: S311 - noise to repeat
    for i in range(40)
]
TAIL = 65_536


class Counted:
    """A file that counts what is fetched from it."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.ranges: list[tuple[int, int]] = []

    def __call__(self, start: int, end: int) -> bytes:
        self.ranges.append((start, end))
        return self.content[start:end]

    @property
    def fetched(self) -> int:
        return sum(end - start for start, end in self.ranges)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counted:
    monkeypatch.setattr("bakeoff.prepare.shards.GAP_BYTES", 0)
    (path,) = write_shards(tmp_path, "x", ROWS, SCHEMA, group_rows=10)
    return Counted(path.read_bytes())


@pytest.fixture
def shard(file: Counted) -> Shard:
    return Shard("x.parquet", len(file.content), file)


def test_a_row_group_gives_its_rows_and_only_the_columns_asked_for(shard: Shard) -> None:
    assert shard.rows == 40
    assert shard.group_rows == [10, 10, 10, 10]
    assert shard.read(2, ["b", "a"]).select(["a", "b"]).to_pylist() == [
        {"a": f"text {i}", "b": [i]} for i in range(20, 30)
    ]
    assert shard.read(3, ["image.bytes"]).to_pylist() == [{"image": row["image"]} for row in ROWS[30:]]


def test_what_reading_costs_is_known_before_and_kept_to(shard: Shard, file: Counted) -> None:
    assert shard.rows == 40
    assert file.ranges == [(len(file.content) - TAIL, len(file.content))]
    for group, columns in ((0, ["a"]), (1, ["a", "b"]), (2, ["image.bytes"])):
        file.ranges.clear()
        shard.read(group, columns)
        assert file.fetched == shard.cost(group, columns)
    assert shard.cost(0, ["a", "b"]) < 1000 < shard.cost(0, ["image.bytes"])


def test_no_byte_of_a_file_smaller_than_its_tail_is_fetched_twice(
    file: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bakeoff.prepare.shards._FOOTER_BYTES", len(file.content))
    small = Shard("x.parquet", len(file.content), file)
    for group in range(4):
        small.read(group, ["a", "b", "image.bytes"])
    assert file.ranges == [(0, len(file.content))]


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        ([], []),
        ([(10, 20), (0, 10)], [(0, 20)]),
        ([(0, 100), (10, 20)], [(0, 100)]),
        ([(0, 10), (10 + GAP_BYTES, 10 + GAP_BYTES + 5)], [(0, GAP_BYTES + 15)]),
        ([(0, 10), (11 + GAP_BYTES, 20 + GAP_BYTES)], [(0, 10), (11 + GAP_BYTES, 20 + GAP_BYTES)]),
    ],
)
def test_ranges_that_touch_or_nearly_do_are_one(ranges: list[tuple[int, int]], expected: list[tuple[int, int]]) -> None:
    assert merged(ranges) == expected


def test_a_partial_file_reads_as_a_file_does() -> None:
    content = bytes(range(100))
    source = Counted(content)
    whole, partial = io.BytesIO(content), PartialFile(100, source, [(10, content[10:30]), (60, content[60:90])])
    for offset, whence, size in (
        (10, 0, 20),
        (-40, 2, 10),
        (5, 1, 3),
        (25, 0, 10),
        (95, 0, 50),
        (0, 0, -1),
        (200, 0, 5),
    ):
        assert partial.seek(offset, whence) == whole.seek(offset, whence)
        assert partial.read(size) == whole.read(size)
        assert partial.tell() == whole.tell()
    assert (10, 30) not in source.ranges
    assert partial.readable()
    assert partial.seekable()
