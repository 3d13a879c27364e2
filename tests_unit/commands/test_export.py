"""`bakeoff export` on the command line, on a run of the fake model."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from inspect_ai.log import read_eval_log
from typer.testing import CliRunner

from bakeoff.cli import app, main
from bakeoff.errors import UsageProblem
from tests_unit.bare import BARE
from tests_unit.plugin.conftest import BENCH


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    (folder / "test_calibration.py").write_text(BENCH, "utf-8")
    arguments = ["--model", "fake:oracle", "--limit", "6", "--run-dir", "run", "--parity", "off"]
    command = [sys.executable, "-m", "pytest", "-q", *BARE, *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "run"


def _export(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["export", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize(("form", "read"), [("csv", pd.read_csv), ("parquet", pd.read_parquet)])
def test_a_table_lies_in_the_run_by_default(run: Path, form: str, read: Callable[[Path], pd.DataFrame]) -> None:
    path = run / "exports" / f"records.{form}"
    assert _export(str(run), "--format", form).strip() == f"wrote {path}"
    assert len(read(path)) == 6


def test_out_names_a_file_or_a_folder(run: Path, tmp_path: Path) -> None:
    _export(str(run), "--format", "csv", "-o", str(tmp_path / "new" / "mine.csv"))
    _export(str(run), "--format", "csv", "-o", str(tmp_path))
    assert (tmp_path / "new" / "mine.csv").read_bytes() == (tmp_path / "records.csv").read_bytes()


def test_markdown_is_printed_unless_a_file_is_named(run: Path, tmp_path: Path) -> None:
    printed = _export(str(run), "--format", "markdown")
    assert "| fake-oracle |" in printed
    _export(str(run), "--format", "markdown", "-o", str(tmp_path / "table.md"))
    assert (tmp_path / "table.md").read_text("utf-8") == printed


def test_a_log_holds_prompts_with_images_by_reference(run: Path, tmp_path: Path) -> None:
    _export(str(run), "--format", "inspect", "-o", str(tmp_path))
    (path,) = tmp_path.glob("*.eval")
    log = read_eval_log(str(path))
    text = json.dumps([sample.model_dump(mode="json") for sample in log.samples or []])
    assert text.count('"image": "calibration/') >= 6
    assert str(Path.cwd()) not in text


def test_what_cannot_stand_on_a_model_card_is_a_message_and_exit_code_4(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bakeoff", "export", str(run), "--format", "hf"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 4
    assert "fake-oracle on calibration: its samples are not one dataset of the hub" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "xlsx"), "there is no such format; formats: csv, parquet"),
        (("--format", "csv", "--subset"), "are for --format hf, not for csv"),
        (("--format", "hf", "--task", "nowhere=x"), "write --task TRACK=ID with a track of"),
        (("--format", "csv", "-o", "/dev/null/x.csv"), "Name another place with -o PATH"),
    ],
)
def test_what_cannot_be_meant_is_said(run: Path, arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageProblem, match=message):
        CliRunner().invoke(app, ["export", str(run), *arguments], catch_exceptions=False)


def test_a_folder_that_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="is not a run directory"):
        CliRunner().invoke(app, ["export", str(tmp_path), "--format", "csv"], catch_exceptions=False)
