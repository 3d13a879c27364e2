"""The table of runs: statuses, scores, and five hundred runs read once."""

import shutil
from pathlib import Path

import msgspec
import pytest

from bakeoff.report import build
from bakeoff.runs import RunDirectory
from bakeoff.validity.gates import write_gates
from bakeoff.validity.results import GateResult
from bakeoff.web import index as module
from bakeoff.web.index import RunIndex
from bakeoff.web.place import Place
from tests_unit.commands.calibration import records, write_run
from tests_unit.web.conftest import Client


def row_of(place: Place, name: str) -> module.RunRow:
    return next(row for row in RunIndex(place).rows() if row.run == name)


def test_a_complete_run_with_its_scores(place: Place) -> None:
    run = write_run(place.reports / "r", {"a": records(), "b": records(lambda _: "nothing")})
    build(run)
    row = row_of(place, "r")
    assert (row.status, row.arms, row.tracks, row.has_report) == ("complete", ("a", "b"), ("calibration",), True)
    assert [(s.arm, s.metric, s.value, s.n, s.right) for s in row.scores] == [
        ("a", "accuracy", 1.0, 265, 265),
        ("b", "accuracy", 0.0, 265, 0),
    ]
    assert row.badge in {"comparable", "differs", "not comparable"}
    assert row.answered == row.selected == 530


def test_its_tracks_are_those_that_it_asks_and_not_all_that_are_prepared(place: Place) -> None:
    run = write_run(place.reports / "r", {"a": records()[:12]})
    manifest = run.manifest()
    calibration = manifest.tracks["calibration"]
    run.write_manifest(msgspec.structs.replace(manifest, tracks={"blink": calibration, "calibration": calibration}))
    assert row_of(place, "r").tracks == ("calibration",)
    (run.path / "selection.json").unlink()  # it has just begun, and what it will ask is not known yet
    assert row_of(place, "r").tracks == ("blink", "calibration")


def test_a_run_without_a_report_counts_its_journal(place: Place) -> None:
    write_run(place.reports / "r", {"a": records()[:12]})
    row = row_of(place, "r")
    assert (row.status, row.answered, row.selected, row.has_report) == ("partial", 12, 265, False)


def test_a_run_that_is_written_now_is_running(place: Place) -> None:
    run = write_run(place.reports / "r", {"a": records()[:12]})
    run.lock()
    assert row_of(place, "r").status == "running"
    run.unlock()
    assert row_of(place, "r").status == "partial"


@pytest.mark.parametrize(
    ("outcome", "undecided", "status"),
    [
        ("fail", "fail", "failed gate"),
        ("not enough data", "fail", "failed gate"),
        ("not enough data", "pass", "complete"),
    ],
)
def test_a_gate_that_fails_is_told(place: Place, outcome: str, undecided: str, status: str) -> None:
    run = write_run(place.reports / "r", {"a": records()}, undecided=undecided)
    write_gates(run, [GateResult(gate="g", outcome=outcome, detail="d")])  # type: ignore[arg-type] # given as words
    build(run)
    row = row_of(place, "r")
    assert (row.status, row.gates) == (status, ("g",) if status == "failed gate" else ())


def test_five_hundred_runs_are_read_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_run(place.reports / "r000", {"a": records()[:4]})
    run.write_selection({"a": {"calibration": [record.sample_id for record in records()[:4]]}})
    build(run)
    for number in range(1, 500):
        shutil.copytree(run.path, place.reports / f"r{number:03}")
    reads: list[Path] = []
    read = module._read

    def counted(path: Path, journals: list[Path]) -> module.RunRow:
        reads.append(path)
        return read(path, journals)

    monkeypatch.setattr(module, "_read", counted)
    found = RunIndex(place)
    assert len(found.rows()) == len(reads) == 500
    found.rows()
    assert len(reads) == 500
    RunDirectory(place.reports / "r007").write_selection({})
    found.rows()
    assert len(reads) == 501
    shutil.rmtree(place.reports / "r007")
    assert len(found.rows()) == 499


def test_the_apps_own_folder_is_no_run(place: Place) -> None:
    (place.own / "x").mkdir(parents=True)
    (place.own / "run.json").write_text("{}", "utf-8")
    assert RunIndex(place).rows() == []


@pytest.mark.parametrize("form", ["csv", "parquet", "inspect", "hf", "markdown"])
def test_a_run_is_exported_or_the_refusal_is_the_commands_own(client: Client, form: str) -> None:
    build(write_run(client.place.reports / "r", {"a": records()}))
    answer = client.post("/api/runs/r/export", {"form": form})
    done = answer.json()
    if form == "hf" and answer.status_code == 409:  # it refuses runs whose model has no card to write into
        assert len(done["error"]) > 20
        assert "Traceback" not in done["error"]
        return
    assert answer.status_code == 200, done
    assert done["files"]
    for file in done["files"]:
        sent = client.get(f"/files/{client.access.file_key}/exports/{done['folder']}/{file}")
        assert (sent.status_code, "attachment" in sent.headers["Content-Disposition"]) == (200, True)


def test_a_run_that_cannot_be_rescored_says_why(client: Client) -> None:
    (client.place.reports / "r").mkdir()
    (client.place.reports / "r" / "run.json").write_text("{}", "utf-8")
    answer = client.post("/api/runs/r/rescore", {"dry": True})
    assert answer.status_code == 409
    assert "run.json is not readable" in answer.json()["error"]
    assert "Traceback" not in answer.text
