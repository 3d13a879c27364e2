import json
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest

from bakeoff.commands.rescore import _refuse_unread
from bakeoff.commands.scoring import TrackScoring
from bakeoff.errors import BackendDied, UsageProblem
from bakeoff.journal import read_journal
from bakeoff.records import Record
from bakeoff.runs import RunDirectory
from bakeoff.scorers import SCORERS
from bakeoff.tracks import TRACKS
from tests_unit.commands.calibration import TRACK, misread, plan, records, write_run
from tests_unit.commands.conftest import Cli


@pytest.fixture
def old_run(tmp_path: Path) -> RunDirectory:
    """A run in which an older rule read nothing from the first five answers, of which all are right."""
    lines = [misread(r) if number < 5 else r for number, r in enumerate(records())]
    return write_run(tmp_path / "old", {"one": lines})


def results(path: Path) -> dict[str, Any]:
    return dict(json.loads((path / "results.json").read_text("utf-8")))


def journal_lines(run: RunDirectory) -> list[bytes]:
    return run.journal_path("one").read_bytes().splitlines()


def test_todays_rules_are_appended_and_history_stays(cli: Cli, old_run: RunDirectory) -> None:
    before = journal_lines(old_run)
    done = cli("rescore", old_run.path)
    assert done.exit_code == 0, done.exception
    assert "one on calibration: 5 of " in done.stdout
    first = next(iter(read_journal(old_run.journal_path("one")).records.values()))
    assert f"{first.sample_id}: 0 -> 1, answer none -> " in done.stdout
    after = journal_lines(old_run)
    assert after[: len(before)] == before
    assert len(after) == len(before) + 5
    assert (first.score, first.correct, first.attempt) == (1.0, True, 2)
    assert first.scorer_version == SCORERS[first.scorer].version
    value = results(old_run.path)["arms"]["one"]["tracks"]["calibration"]["metrics"]["accuracy"]["value"]
    assert value == 1.0


def test_a_new_line_says_what_it_replaces_and_the_log_says_how(cli: Cli, old_run: RunDirectory) -> None:
    cli("rescore", old_run.path)
    note = json.loads(journal_lines(old_run)[-1])["rescored"]
    assert (note["scorer_version"], note["score"]) == ("0", 0.0)
    (entry,) = [json.loads(line) for line in (old_run.path / "rescored.jsonl").read_text("ascii").splitlines()]
    assert entry["scorers"] == {}
    assert len(entry["arms"][0]["changed"]) == 5


def test_rescoring_twice_changes_nothing_more(cli: Cli, old_run: RunDirectory) -> None:
    cli("rescore", old_run.path)
    before = {p: p.read_bytes() for p in old_run.path.rglob("*") if p.is_file()}
    done = cli("rescore", old_run.path)
    assert "one on calibration: 0 of " in done.stdout
    assert {p: p.read_bytes() for p in old_run.path.rglob("*") if p.is_file()} == before


def test_a_named_scorer_stands_in_the_fingerprint_so_that_resuming_is_refused(cli: Cli, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"one": records()})
    inputs = plan().inputs()
    assert run.manifest().arms["one"].fingerprint["tracks.calibration.scorers"] == inputs["tracks.calibration.scorers"]
    done = cli("rescore", run.path, "--scorer", "option_text")
    assert done.exit_code == 0, done.exception
    assert "with targets that the named scorer does not read: their rule is kept" in done.stdout
    stored = run.manifest().arms["one"].fingerprint["tracks.calibration.scorers"]
    assert f"option_text@{SCORERS['option_text'].version}" in stored
    assert stored != inputs["tracks.calibration.scorers"]


def test_a_run_that_was_copied_by_hand_is_rescored(cli: Cli, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"one": records()})
    shutil.copytree(run.path, tmp_path / "copy")
    done = cli("rescore", tmp_path / "copy", "--scorer", "option_text")
    assert done.exit_code == 0, done.exception
    again = cli("rescore", tmp_path / "copy")
    assert again.exit_code == 0, again.exception


@pytest.mark.parametrize("named", ["box_iou", "calibration=box_iou"])
def test_a_rule_that_reads_nothing_is_refused(cli: Cli, tmp_path: Path, named: str) -> None:
    letters = [record for record in records() if record.groups["family"] == "choice"]
    run = write_run(tmp_path / "run", {"one": letters})
    done = cli("rescore", run.path, "--scorer", named)
    assert f"--scorer {named}: no sample of calibration has a target that it reads" in str(done.exception)


def test_a_rule_named_for_all_is_taken_where_it_reads_something_and_elsewhere_left_out() -> None:
    def track(name: str, *, kept: int) -> TrackScoring:
        return TrackScoring(
            track=name, metric="m", n=5, kept=kept, value_before=None, value_after=None, inputs={}, rewritten=()
        )

    some, none = track("screenspot", kept=0), track("blink", kept=5)
    _refuse_unread([some, none], {"": "seeclick_official"})
    _refuse_unread([some, none], {"screenspot": "seeclick_official"})
    with pytest.raises(UsageProblem, match="--scorer seeclick_official: no sample of blink has"):
        _refuse_unread([some, none], {"": "seeclick_official", "screenspot": "click_in_box"})
    with pytest.raises(UsageProblem, match="--scorer blink=seeclick_official: no sample of blink has"):
        _refuse_unread([some, none], {"blink": "seeclick_official"})


def test_todays_rules_make_an_old_run_resumable(cli: Cli, old_run: RunDirectory) -> None:
    manifest = old_run.manifest()
    arm = manifest.arms["one"]
    fingerprint = {**arm.fingerprint, "tracks.calibration.scorers": ["anls@0"], "tracks.calibration.version": "0"}
    old = msgspec.structs.replace(manifest, arms={"one": msgspec.structs.replace(arm, fingerprint=fingerprint)})
    old_run.write_manifest(old)
    cli("rescore", old_run.path)
    found = old_run.manifest().arms["one"].fingerprint
    assert {name: found[name] for name in plan().inputs()} == plan().inputs()
    entry = json.loads((old_run.path / "rescored.jsonl").read_text("ascii"))
    assert entry["arms"][0]["inputs"]["tracks.calibration.version"] == ["0", TRACK.version]


def test_a_copy_leaves_the_run_as_it_is(cli: Cli, old_run: RunDirectory, tmp_path: Path) -> None:
    before = {p: p.read_bytes() for p in old_run.path.rglob("*") if p.is_file() and p.name != "run.lock"}
    done = cli("rescore", old_run.path, "-o", tmp_path / "new")
    assert done.exit_code == 0, done.exception
    assert {p: p.read_bytes() for p in old_run.path.rglob("*") if p.is_file() and p.name != "run.lock"} == before
    assert results(tmp_path / "new")["run"] == "new"
    assert read_journal(tmp_path / "new" / "records" / "one.jsonl").header.run == "new"


def test_a_dry_run_writes_nothing(cli: Cli, old_run: RunDirectory) -> None:
    before = {p: p.read_bytes() for p in old_run.path.rglob("*") if p.is_file()}
    done = cli("rescore", old_run.path, "--dry-run")
    assert "one on calibration: 5 of " in done.stdout
    assert "nothing was written" in done.stdout
    assert {p: p.read_bytes() for p in old_run.path.rglob("*") if p.is_file()} == before


def test_gates_are_held_again_over_the_new_scores(cli: Cli, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"one": [misread(r) for r in records()]}, min_score=["calibration=0.5"])
    (run.path / "gates.json").write_text('[{"gate": "min-score", "outcome": "fail", "detail": "old"}]')
    cli("rescore", run.path)
    gates = {gate["gate"]: gate["outcome"] for gate in results(run.path)["gates"]}
    assert gates["min-score calibration=0.5 for one"] == "pass"


def test_errors_stay_errors(cli: Cli, tmp_path: Path) -> None:
    failing = plan().samples[0].id
    lines = records(lambda s: BackendDied("gone") if s.id == failing else "nothing")
    run = write_run(tmp_path / "run", {"one": lines})
    cli("rescore", run.path)
    assert read_journal(run.journal_path("one")).records[failing].score is None


def test_a_question_that_is_asked_otherwise_today_is_refused(cli: Cli, tmp_path: Path) -> None:
    lines: list[Record] = records()
    lines[3] = msgspec.structs.replace(lines[3], prompt_sha256="0" * 64)
    run = write_run(tmp_path / "run", {"one": lines})
    before = journal_lines(run)
    done = cli("rescore", run.path)
    assert isinstance(done.exception, UsageProblem)
    assert "1 of " in str(done.exception)
    assert f"not prepared here as they were asked: {lines[3].sample_id}" in str(done.exception)
    assert journal_lines(run) == before


def test_a_track_that_is_gone_is_refused(cli: Cli, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"one": records()})
    with patch.dict(TRACKS):  # which gives it its place back afterwards; monkeypatch would put it last
        del TRACKS["calibration"]
        done = cli("rescore", run.path)
    assert "does not know the track 'calibration'" in str(done.exception)


@pytest.mark.parametrize(
    ("scorer", "says"),
    [
        ("beauty", "there is no scorer 'beauty'"),
        ("beauty=exact", "there is no track 'beauty'"),
    ],
)
def test_a_rule_or_track_that_does_not_exist_is_refused(
    cli: Cli, old_run: RunDirectory, scorer: str, says: str
) -> None:
    done = cli("rescore", old_run.path, "--scorer", scorer)
    assert says in str(done.exception)


def test_an_existing_place_for_the_copy_is_refused(cli: Cli, old_run: RunDirectory, tmp_path: Path) -> None:
    assert isinstance(cli("rescore", old_run.path, "-o", tmp_path).exception, UsageProblem)
