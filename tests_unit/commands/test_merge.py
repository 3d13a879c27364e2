"""Parts of a run on several machines, joined: equal to the run in one piece, and honest about what is missing."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bakeoff.commands.merge import merge
from bakeoff.errors import RunMismatch, UsageProblem
from bakeoff.runs import RunDirectory
from tests_unit.plugin.conftest import BenchRun, calibration

Bench = Callable[..., BenchRun]
Script = Callable[..., str]
WRONG = tuple(sample.id for sample in calibration()[::3])


@pytest.fixture
def parts(bench: Bench, script: Script, tmp_path: Path) -> Callable[..., list[Path]]:
    """Run the parts of a whole and return their directories."""

    def run(*arguments: str, count: int = 3, of: str = "part", skip: tuple[int, ...] = ()) -> list[Path]:
        model = script(wrong=WRONG)
        paths = []
        for index in (index for index in range(1, count + 1) if index not in skip):
            path = tmp_path / f"{of}-{index}"
            done = bench("--model", model, "--shard", f"{index}/{count}", "--run-dir", str(path), *arguments)
            assert done.code == 0, done.text
            paths.append(path)
        return paths

    return run


def numbers(path: Path) -> Mapping[str, Any]:
    """All of a run's results that do not tell of time; sums in another order differ in the sixteenth digit."""
    text = (path / "results.json").read_text("utf-8")
    arms = json.loads(text, parse_float=lambda number: round(float(number), 12))["arms"]
    return {name: arm["tracks"] for name, arm in arms.items()}


def test_the_parts_of_a_run_give_the_results_of_the_run_in_one_piece(
    bench: Bench, script: Script, parts: Callable[..., list[Path]], tmp_path: Path
) -> None:
    directories, whole = parts("--limit", "60"), tmp_path / "whole"
    single = bench("--model", script(wrong=WRONG), "--limit", "60", "--run-dir", str(whole))
    assert single.code == 0, single.text
    merged = merge(directories, tmp_path / "merged")
    assert merged.is_complete
    assert "no gaps" in merged.text
    assert numbers(tmp_path / "merged") == numbers(whole)
    (tracks,) = numbers(whole).values()
    assert 0 < tracks["calibration"]["metrics"]["accuracy"]["value"] < 1
    chosen = [RunDirectory(path).selection() for path in (tmp_path / "merged", whole)]
    (arm,) = chosen[1]
    assert set(chosen[0][arm]["calibration"]) == set(chosen[1][arm]["calibration"])


def test_each_part_is_recorded_and_the_merged_run_names_all(parts: Callable[..., list[Path]], tmp_path: Path) -> None:
    directories = parts("--limit", "12")
    shards = [RunDirectory(path).manifest().shard for path in directories]
    assert [(shard.index, shard.count) for shard in shards if shard] == [(1, 3), (2, 3), (3, 3)]
    merge(directories, tmp_path / "merged")
    manifest = RunDirectory(tmp_path / "merged").manifest()
    assert manifest.shard is None
    assert [part.run for part in manifest.parts] == ["part-1", "part-2", "part-3"]
    assert [part.shard for part in manifest.parts] == shards


def test_a_part_that_is_missing_is_a_gap_and_exit_code_1(parts: Callable[..., list[Path]], tmp_path: Path) -> None:
    directories = parts("--limit", "12", skip=(2,))
    command = [sys.executable, "-m", "bakeoff", "merge", *map(str, directories), "-o", str(tmp_path / "merged")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "gap: 1 of 3 parts are missing: 2/3" in done.stdout
    assert (tmp_path / "merged" / "report.html").is_file()


def test_a_sample_without_an_answer_is_a_gap_that_resume_closes(
    bench: Bench, parts: Callable[..., list[Path]], tmp_path: Path
) -> None:
    directories = parts("--limit", "12", count=2)
    (journal,) = (directories[0] / "records").glob("*.jsonl")
    lines = journal.read_text("ascii").splitlines(keepends=True)
    lost = next(json.loads(line)["sample_id"] for line in lines if '"record"' in line)
    journal.write_text("".join(line for line in lines if lost not in line), "ascii")
    merged = merge(directories, tmp_path / "merged")
    assert not merged.is_complete
    assert "gap: 1 of 12 samples of fake-" in merged.text
    assert lost in merged.text
    resumed = bench(f"--resume={tmp_path / 'merged'}")
    assert resumed.code == 0, resumed.text
    assert "resumed: 11 samples" in resumed.text


def test_samples_that_an_arm_is_not_asked_are_no_gaps(bench: Bench, script: Script, tmp_path: Path) -> None:
    model, directories = script(traits={"max_images": 1}), [tmp_path / "part-1", tmp_path / "part-2"]
    for index, path in enumerate(directories, start=1):
        done = bench("--model", model, "-k", "two-images", "--shard", f"{index}/2", "--run-dir", str(path))
        assert done.code == 0, done.text
    merged = merge(directories, tmp_path / "merged")
    assert merged.is_complete
    (tracks,) = numbers(tmp_path / "merged").values()
    found = tracks["calibration"]
    assert found["skipped"] == found["selected"] > 0
    assert found["complete"] is True


def test_samples_of_two_parts_are_told_and_counted_once(parts: Callable[..., list[Path]], tmp_path: Path) -> None:
    directories = [*parts("--limit", "12", count=1), *parts("--limit", "12", count=1, of="again")]
    merged = merge(directories, tmp_path / "merged")
    assert "doubles: 12 samples of fake-" in merged.text
    assert all(track["calibration"]["n"] == 12 for track in numbers(tmp_path / "merged").values())


def changed(path: Path, field: str, value: object) -> None:
    """Change one input of a stored run: of its arm's fingerprint, or of what it is a part of."""
    manifest = json.loads((path / "run.json").read_text("utf-8"))
    (arm,) = manifest["arms"].values()
    place = manifest["shard"] if field in manifest["shard"] else arm["fingerprint"]
    place[field] = value
    (path / "run.json").write_text(json.dumps(manifest), "utf-8")


def test_parts_of_other_inputs_are_refused_by_the_name_of_the_field(
    parts: Callable[..., list[Path]], tmp_path: Path
) -> None:
    one, two = parts("--limit", "6", count=2)
    for field, value, told in (
        ("sampling.temperature", 0.7, "sampling.temperature differs .* was 0.2 and is now 0.7"),
        ("tracks.calibration.max_tokens", 7, "tracks.calibration.max_tokens"),
        ("whole", {"calibration": "0123"}, "samples of calibration before the split"),
        ("count", 3, "shard count"),
    ):
        other = tmp_path / field
        shutil.copytree(two, other)
        changed(other, field, value)
        with pytest.raises(RunMismatch, match=told):
            merge([one, other], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_names_that_cannot_be_merged_are_usage_problems(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="named twice"):
        merge([tmp_path, tmp_path], tmp_path / "merged")
    with pytest.raises(UsageProblem, match="is there already"):
        merge([tmp_path / "a"], tmp_path)
    with pytest.raises(UsageProblem, match="is not a run directory"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "merged")
