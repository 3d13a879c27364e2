"""Tables by group: one unit in every column, with n beside it."""

import re
from collections.abc import Callable

import msgspec
import pytest

from bakeoff.records import Record
from bakeoff.report import build
from bakeoff.report.groups import GroupTable, group_tables
from tests_unit.report.synthetic import RunMaker

Answered = Callable[..., list[Record]]


@pytest.fixture
def tables(maker: RunMaker, answered: Answered) -> dict[str, GroupTable]:
    """Two arms, the second with an unanswered sample; one size of sample is rare."""

    def sized(records: list[Record]) -> list[Record]:
        sizes = ["rare" if i < 6 else "usual" for i in range(len(records))]
        return [
            msgspec.structs.replace(r, groups={**r.groups, "size": size})
            for r, size in zip(records, sizes, strict=True)
        ]

    maker.arm("one", sized(answered(lambda i: i % 4 == 0)))
    maker.arm("two", sized(answered())[:-1], backend="gguf")
    return {table.dimension: table for table in group_tables(build(maker.write()))}


def test_every_score_is_in_percent_however_few_samples_there_are(tables: dict[str, GroupTable]) -> None:
    cells = [cell for table in tables.values() for row in table.rows for cell in row.cells]
    assert len(cells) > 6
    assert all(re.fullmatch(r"\d+(\.\d)?", cell.value) for cell in cells)


def test_n_stands_beside_and_in_a_cell_only_where_it_differs(tables: dict[str, GroupTable]) -> None:
    rows = {row.value: row for row in tables["size"].rows}
    assert [(row.n, [cell.n for cell in row.cells]) for row in rows.values()] == [
        ("6", ["", ""]),
        ("114", ["", "n 113"]),
    ]


def test_no_interval_is_printed_under_thirty_samples(tables: dict[str, GroupTable]) -> None:
    rare, usual = tables["size"].rows
    assert [cell.interval for cell in rare.cells] == ["", ""]
    assert all(re.fullmatch(r"[\d.]+–[\d.]+", cell.interval) for cell in usual.cells)


def test_a_group_that_an_arm_has_no_answer_in_is_no_zero(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered()).arm("two", [r for r in answered() if r.groups["family"] != "words"], backend="gguf")
    table = group_tables(build(maker.write()))[0]
    words = next(row for row in table.rows if row.value == "words")
    assert [cell.value for cell in words.cells] == ["100", "–"]
    assert words.n == "40"
