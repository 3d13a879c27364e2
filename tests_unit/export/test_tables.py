"""The tidy table, read back by pyarrow, pandas and the standard library."""

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from bakeoff.errors import UsageProblem
from bakeoff.export import survey, write_csv, write_parquet
from bakeoff.export.columns import columns
from bakeoff.report import build
from bakeoff.runs import RunDirectory
from tests_unit.export.conftest import HOSTILE, NAMED
from tests_unit.report.synthetic import RunMaker

Expected = Callable[[], dict[str, str]]
ARMS, SAMPLES = 2, 120

COLUMNS = (
    *("run", "arm", "model", "backend", "weights_sha256", "inputs_sha256", "track", "track_version", "dataset"),
    *("dataset_revision", "max_tokens", "protocol", "sample_id", "status", "score", "correct", "answer", "output"),
    *("scorer", "scorer_version", "prompt_sha256", "image_sha256", "image_changes", "seed", "attempt"),
    *("finish_reason", "thinking"),
    *(
        "prompt_tokens",
        "image_tokens",
        "completion_tokens",
        "thinking_tokens",
        "cached_tokens",
        "queue_s",
        "load_s",
        "ttft_s",
    ),
    *("prefill_s", "decode_s", "total_s", "peak_memory_bytes", "error_type", "error_message", "started_at"),
    *("group.family", "group.size", "metric.iou", "metric.parsed"),
)


@pytest.fixture
def parquet(mixed: RunDirectory, tmp_path: Path) -> Path:
    (path,) = write_parquet(survey(mixed), tmp_path / "records.parquet")
    return path


@pytest.fixture
def csv_path(mixed: RunDirectory, tmp_path: Path) -> Path:
    (path,) = write_csv(survey(mixed), tmp_path / "records.csv")
    return path


def _outputs(frame: pd.DataFrame) -> dict[str, str]:
    first = frame[frame["arm"] == "tiny-bf16"]
    return dict(zip(first["sample_id"], first["output"], strict=True))


def test_columns_have_a_fixed_order_with_groups_and_metrics_behind(mixed: RunDirectory) -> None:
    names = tuple(column.name for column in columns(survey(mixed)))
    assert names[: len(COLUMNS) - 2] == COLUMNS[:-2]
    assert all(name.startswith("metric.") for name in names[len(COLUMNS) - 2 :])
    assert list(names[len(COLUMNS) - 4 :]) == sorted(names[len(COLUMNS) - 4 :])


def test_pandas_reads_one_row_an_arm_and_sample_from_parquet(parquet: Path) -> None:
    frame = pd.read_parquet(parquet)
    assert len(frame) == ARMS * SAMPLES
    assert not frame.duplicated(["arm", "sample_id"]).any()
    assert set(frame["status"]) == {"ok", "truncated", "error"}


def test_types_are_the_same_whatever_the_values(parquet: Path) -> None:
    types = {field.name: str(field.type) for field in pq.read_schema(parquet)}
    assert types["score"] == types["total_s"] == types["metric.iou"] == "double"
    assert types["seed"] == types["cached_tokens"] == types["peak_memory_bytes"] == "int64"
    assert types["correct"] == types["thinking"] == "bool"
    assert types["output"] == types["group.family"] == types["image_sha256"] == "string"


def test_an_error_has_no_score_and_a_reason(parquet: Path) -> None:
    row = next(row for row in pq.read_table(parquet).to_pylist() if row["status"] == "error")
    assert (row["score"], row["correct"], row["output"]) == (None, None, None)
    assert (row["error_type"], row["error_message"]) == ("BackendDied", 'the runtime died, "quoted",\nand more')


def test_the_mean_of_the_column_is_the_number_of_the_report(mixed: RunDirectory, parquet: Path) -> None:
    frame = pd.read_parquet(parquet)
    for name, arm in build(mixed).arms.items():
        mean = frame[frame["arm"] == name]["score"].mean()
        assert mean == pytest.approx(arm.tracks["toy"].metrics["micro"].value)


def test_hostile_outputs_come_back_equal_from_parquet(parquet: Path, expected: Expected) -> None:
    found = {row["sample_id"]: row["output"] for row in pq.read_table(parquet).to_pylist() if row["arm"] == "tiny-bf16"}
    for sample, text in expected().items():
        assert found[sample] == text


def test_hostile_outputs_come_back_equal_from_csv_through_the_standard_library(
    csv_path: Path, expected: Expected
) -> None:
    csv.field_size_limit(sys.maxsize)
    with csv_path.open(encoding="utf-8", newline="") as file:
        found = {row["sample_id"]: row["output"] for row in csv.DictReader(file) if row["arm"] == "tiny-bf16"}
    for sample, text in expected().items():
        assert found[sample] == text


def test_pandas_reads_texts_of_csv_as_they_are(csv_path: Path, expected: Expected) -> None:
    found = _outputs(pd.read_csv(csv_path, dtype={"output": str}, keep_default_na=False, lineterminator="\n"))
    for sample, text in expected().items():
        assert found[sample] == text


def test_csv_and_parquet_hold_the_same_table(csv_path: Path, parquet: Path) -> None:
    table = pq.read_table(parquet)
    assert _read_csv(csv_path, table.schema).to_pylist() == table.to_pylist()


def test_an_empty_output_is_not_a_missing_one(csv_path: Path, parquet: Path) -> None:
    for table in (_read_csv(csv_path, pq.read_schema(parquet)), pq.read_table(parquet)):
        outputs = table.column("output").to_pylist()
        assert outputs.count("") == 1
        assert outputs.count(None) == 1


def test_a_text_that_is_a_formula_to_a_spreadsheet_is_not_changed(csv_path: Path) -> None:
    assert HOSTILE[0].replace('"', '""') in csv_path.read_text("utf-8")


def test_a_lone_surrogate_is_named_because_utf_8_cannot_hold_it(csv_path: Path) -> None:
    assert NAMED in csv_path.read_text("utf-8")


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_the_same_files_give_the_same_bytes(
    mixed: RunDirectory, tmp_path: Path, write: Callable[..., tuple[Path, ...]]
) -> None:
    (first,) = write(survey(mixed), tmp_path / "a")
    (second,) = write(survey(mixed), tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()


def test_long_outputs_end_a_row_group_early(
    mixed: RunDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bakeoff.export.parquet.TEXT", 50_000)
    (path,) = write_parquet(survey(mixed), tmp_path / "records.parquet")
    assert pq.ParquetFile(path).num_row_groups > 1
    assert pq.read_table(path).num_rows == ARMS * SAMPLES


def test_a_record_that_was_never_selected_is_left_out_as_in_the_report(
    maker: RunMaker, answered: Callable[..., list[Any]]
) -> None:
    run = maker.arm("one", answered(), selected={"toy": ["toy-boxes-000"]}).write()
    assert sum(1 for _ in survey(run).entries()) == 1


def test_a_torn_last_line_is_passed_over(mixed: RunDirectory, tmp_path: Path) -> None:
    with mixed.journal_path("tiny-gguf").open("ab") as journal:
        journal.write(b'{"type":"record","sample_id":"toy-')
    (path,) = write_parquet(survey(mixed), tmp_path / "records.parquet")
    assert pq.read_table(path).num_rows == ARMS * SAMPLES


def test_a_broken_line_is_named_and_nothing_is_written(mixed: RunDirectory, tmp_path: Path) -> None:
    with mixed.journal_path("tiny-gguf").open("ab") as journal:
        journal.write(b"not a record\n")
    with pytest.raises(UsageProblem, match=r"tiny-gguf.jsonl:\d+ is not readable"):
        write_csv(survey(mixed), tmp_path / "out" / "records.csv")
    assert not (tmp_path / "out").exists()


def test_a_run_without_records_says_so(maker: RunMaker) -> None:
    with pytest.raises(UsageProblem, match="holds no record to export"):
        survey(maker.arm("one", None).write())


def _read_csv(path: Path, schema: Any) -> Any:
    options = pacsv.ConvertOptions(
        column_types=schema, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]
    )
    return pacsv.read_csv(path, parse_options=pacsv.ParseOptions(newlines_in_values=True), convert_options=options)
