"""What is said of an arm's precision: measured bits, never the label."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from bakeoff.records import Record
from bakeoff.report import numbers, summarize, tables
from bakeoff.report.arms import bits_per_weight
from bakeoff.report.reading import Run, read_run
from tests_unit.report.synthetic import RunMaker

Answered = Callable[..., list[Record]]


@pytest.mark.parametrize(
    ("identity", "bits"),
    [
        ({"bits_per_weight": 4.9, "weights_bytes": 1}, 4.9),
        ({"weights_bytes": 850, "parameters": 800}, 8.5),
        ({"weights_bytes": 850}, None),
        ({"weights_bytes": 850, "parameters": 0}, None),
        ({}, None),
    ],
)
def test_bits_are_as_stated_or_bytes_by_parameters_or_not_known(identity: dict[str, Any], bits: float | None) -> None:
    assert bits_per_weight(identity) == bits


def test_bits_are_a_column_only_where_some_arm_has_them(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).arm("two", answered(), backend="gguf").write()
    read = read_run(run)
    assert "Weights" not in tables.time_table(summarize(read))[0]
    known = _with_identity(read, "two", {"bits_per_weight": 4.94})
    head, rows = tables.time_table(summarize(known))
    assert head[-1] == "Weights"
    assert [row[-1] for row in rows] == [numbers.NO_DATA, "4.9\u202fbpw"]


def _with_identity(run: Run, name: str, identity: dict[str, Any]) -> Run:
    arm = run.arms[name]
    manifest = msgspec.structs.replace(arm.manifest, identity=identity)
    return msgspec.structs.replace(run, arms={**run.arms, name: msgspec.structs.replace(arm, manifest=manifest)})
