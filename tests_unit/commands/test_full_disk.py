"""Commands whose disk is full: what, where, what to type next, nothing half made, and the run as it was."""

import sys
from pathlib import Path

import pytest

from bakeoff.cli import main
from bakeoff.journal import read_journal
from bakeoff.runs import RunDirectory
from tests_unit.commands.calibration import misread, records, write_run
from tests_unit.doubles.full_disk import no_file_above

MOST_BYTES = 20_000


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs without a report, with answers of two arms that an older rule read."""
    folder = tmp_path_factory.mktemp("runs")
    lines = [misread(record) for record in records()]
    return [write_run(folder / name, {name: lines, f"{name}-2": lines}).path for name in ("one", "two")]


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("merge", "ONE", "TWO", "-o", "OUT"), "or name another place with -o DIR"),
        (("compare", "ONE", "TWO", "-o", "OUT"), "then type the same again"),
        (("rescore", "ONE", "-o", "OUT"), "then type the same again"),
        (("export", "ONE", "--format", "csv", "-o", "OUT"), "Name another place with -o PATH"),
        (("export", "ONE", "--format", "parquet", "-o", "OUT"), "Name another place with -o PATH"),
        (("export", "ONE", "--format", "inspect", "-o", "OUT"), "Name another place with -o PATH"),
    ],
    ids=lambda value: "-".join(word for word in value if word.islower()) if isinstance(value, tuple) else "",
)
def test_a_command_says_what_and_where_and_leaves_nothing_half_made(
    runs: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    words: tuple[str, ...],
    advice: str,
) -> None:
    out = tmp_path / "out"
    places = {"ONE": str(runs[0]), "TWO": str(runs[1]), "OUT": str(out)}
    monkeypatch.setattr(sys, "argv", ["bakeoff", *(places.get(word, word) for word in words)])
    before = content(runs[0].parent)
    with no_file_above(MOST_BYTES), pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 4
    told = capsys.readouterr().err
    assert "File too large" in told
    assert str(tmp_path) in told
    assert advice in told
    assert "Traceback" not in told
    assert content(runs[0].parent) == before
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]
    assert not RunDirectory(out).exists()
    assert not out.is_file()


def test_a_run_that_is_scored_again_keeps_its_old_records_and_is_done_by_a_second_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", {"one": [misread(record) for record in records()[:9]]})
    journal = run.journal_path("one")
    before = journal.read_bytes()
    monkeypatch.setattr(sys, "argv", ["bakeoff", "rescore", str(run.path)])
    with no_file_above(len(before) + 2000), pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 4
    told = capsys.readouterr().err
    assert f"cannot write to {journal}" in told
    assert "Make room, then type the same again" in told
    assert journal.read_bytes().startswith(before)
    assert read_journal(journal).records.keys() == {record.sample_id for record in records()[:9]}
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert all(record.score == 1.0 for record in read_journal(journal).records.values())


def test_a_report_that_does_not_fit_leaves_the_records_alone(
    runs: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bakeoff", "report", str(runs[1])])
    before = content(runs[1] / "records")
    with no_file_above(MOST_BYTES), pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 4
    told = capsys.readouterr().err
    assert f"bakeoff: cannot write {runs[1]}/" in told
    assert "then type the same again" in told
    assert content(runs[1] / "records") == before
    assert not (runs[1] / "report.html").exists()
