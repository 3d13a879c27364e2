"""What `python -m tools.fleet` asks, and how it tells that two runs are alike."""

from pathlib import Path

import msgspec
import pytest

from bakeoff.errors import BackendDied
from bakeoff.tracks import TRACKS, samples_of
from bakeoff.tracks.baselines import oracle_output
from tests_unit.commands.calibration import records, write_run
from tools.fleet.cases import write_cases
from tools.fleet.sameness import differences


def test_the_cases_are_new_samples_that_the_custom_track_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_cases(tmp_path, 265)
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path))
    custom = TRACKS["custom"]
    samples = samples_of(custom)
    calibration = samples_of(TRACKS["calibration"])
    assert len({sample.id for sample in samples}) == 265
    assert {sample.groups["category"] for sample in samples} == {sample.groups["family"] for sample in calibration}
    known = {image.sha256 for sample in calibration for image in sample.images}
    assert not known & {image.sha256 for sample in samples for image in sample.images}
    (protocol,) = custom.protocols
    golds = [(protocol.scorer(s), oracle_output(s, protocol), s.target) for s in samples]
    assert all(scorer.score(gold, target).correct for scorer, gold, target in golds)


def test_runs_are_alike_when_every_record_says_the_same(tmp_path: Path) -> None:
    found = records()
    later = [msgspec.structs.replace(record, total_s=9.0) for record in reversed(found)]
    write_run(tmp_path / "one", {"a": found})
    write_run(tmp_path / "two", {"a": later})
    assert differences(tmp_path / "one", tmp_path / "two") == []


def test_a_lost_record_another_output_and_an_error_are_told(tmp_path: Path) -> None:
    found = records()
    other = msgspec.structs.replace(found[1], output="something else")
    (error, *_) = records(lambda _: BackendDied("gone"))
    write_run(tmp_path / "one", {"a": found})
    write_run(tmp_path / "two", {"a": [error, other, *found[3:]]})
    told = [(difference.sample, difference.field) for difference in differences(tmp_path / "one", tmp_path / "two")]
    ids = [f"a/{record.sample_id}" for record in found[:3]]
    assert told == sorted(zip(ids, ("output", "output", "record"), strict=True))
