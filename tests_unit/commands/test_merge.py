"""Parts of a run on several machines, joined: equal to the run in one piece, and honest about what is missing."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.commands.merge import merge
from bakeoff.errors import RunMismatch, UsageProblem
from bakeoff.records import Record
from bakeoff.runs import RunDirectory, ShardManifest
from bakeoff.speed.settings import SETTINGS
from bakeoff.speed.store import Pass, Speed, read_speed, write_speed
from bakeoff.validity.audit import Audit, read_audits, write_audit
from bakeoff.validity.controls import Controls, TrackControl, read_controls, write_controls
from bakeoff.validity.retold import Retold, RetoldArm, read_retold, write_retold
from tests_unit.commands.calibration import records, write_run
from tests_unit.plugin.conftest import BenchRun, calibration, writer

Bench = Callable[..., BenchRun]
Script = Callable[..., str]
WRONG = tuple(sample.id for sample in calibration()[::3])


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where parts lie that several tests begin with, and their model."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def model(kept: Path) -> str:
    return writer(kept)(wrong=WRONG)


@pytest.fixture
def parts(bench: Bench, kept: Path, model: str, tmp_path: Path) -> Callable[..., list[Path]]:
    """Run the parts of a whole, or copy them where a test before has, and return their directories."""

    def run(*arguments: str, count: int = 3, of: str = "part", skip: tuple[int, ...] = ()) -> list[Path]:
        paths = []
        for index in (index for index in range(1, count + 1) if index not in skip):
            made = kept / "-".join((*arguments, str(count))) / f"{of}-{index}"
            if not made.exists():
                done = bench("--model", model, "--shard", f"{index}/{count}", "--run-dir", str(made), *arguments)
                assert done.code == 0, done.text
            paths.append(Path(shutil.copytree(made, tmp_path / made.name)))
        return paths

    return run


CONTROL = TrackControl(n=4, score=1.0, controls={"blank": 0.0}, unmoved={"blank": 0.0}, lift=1.0, error=0.1)


def retold(arm: str, sample: str) -> RetoldArm:
    return RetoldArm(arm=arm, answers={sample: Retold(repeats=True, text_ids=(), tokens=())})


def numbers(path: Path) -> Mapping[str, Any]:
    """All of a run's results that do not tell of time; sums in another order differ in the sixteenth digit."""
    text = (path / "results.json").read_text("utf-8")
    arms = json.loads(text, parse_float=lambda number: round(float(number), 12))["arms"]
    return {name: arm["tracks"] for name, arm in arms.items()}


def test_the_parts_of_a_run_give_the_results_of_the_run_in_one_piece(
    bench: Bench, model: str, parts: Callable[..., list[Path]], tmp_path: Path
) -> None:
    directories, whole = parts("--limit", "60"), tmp_path / "whole"
    single = bench("--model", model, "--limit", "60", "--run-dir", str(whole))
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


@pytest.fixture(scope="module")
def lines() -> list[Record]:
    return records()[:9]


@pytest.fixture
def written(tmp_path: Path, lines: list[Record]) -> Callable[..., Path]:
    """Write a run with some records, which is part `index` of three, or a whole where there is no index."""

    def write(name: str, chosen: slice, index: int | None = None, arm: str = "a") -> Path:
        run = write_run(tmp_path / name, {arm: lines[chosen]})
        shard = None if index is None else ShardManifest(index=index, count=3, whole={"calibration": "0123"})
        run.write_manifest(msgspec.structs.replace(run.manifest(), shard=shard))
        run.write_selection({arm: {"calibration": [record.sample_id for record in lines[chosen]]}})
        return run.path

    return write


def test_runs_that_were_not_split_are_refused_whatever_they_share(written: Callable[..., Path], tmp_path: Path) -> None:
    part, whole = written("part", slice(0, 3), 1), written("whole", slice(0, 6))
    same, disjoint = written("same", slice(0, 6)), written("disjoint", slice(6, 9))
    for named in ([whole, same], [whole, disjoint], [part, whole], [whole, part]):
        with pytest.raises(UsageProblem, match=r"both ran a on calibration, and .* is no part") as no:
            merge(named, tmp_path / "merged")
        assert f"Compare them with: bakeoff compare {named[0]} {named[1]}" in str(no.value)
    with pytest.raises(UsageProblem, match=r"whole is a whole run, and no part .* nothing to merge"):
        merge([whole], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_runs_of_other_models_are_merged_without_having_been_split(
    written: Callable[..., Path], tmp_path: Path
) -> None:
    merged = merge([written("one", slice(0, 3)), written("two", slice(0, 3), arm="b")], tmp_path / "merged")
    assert merged.is_complete
    assert numbers(tmp_path / "merged").keys() == {"a", "b"}


def test_a_part_that_comes_late_is_merged_with_what_was_merged_before(
    written: Callable[..., Path], tmp_path: Path
) -> None:
    one, two, three = (written(f"part-{n}", slice(3 * n - 3, 3 * n), n) for n in (1, 2, 3))
    assert "gap: 1 of 3 parts are missing: 3/3" in merge([one, two], tmp_path / "early").text
    late = merge([tmp_path / "early", three], tmp_path / "late")
    assert late.is_complete, late.text
    assert "doubles" not in late.text
    assert [part.run for part in RunDirectory(tmp_path / "late").manifest().parts] == ["part-1", "part-2", "part-3"]
    merge([one, two, three], tmp_path / "at-once")
    assert numbers(tmp_path / "late") == numbers(tmp_path / "at-once")


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


def test_parts_that_the_first_has_nothing_in_common_with_are_held_against_each_other(
    bench: Bench, script: Script, tmp_path: Path
) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    for path, name in ((one, "a"), (two, "b")):
        done = bench("--model", script(name), "--limit", "3", "--shard", "1/1", "--run-dir", str(path))
        assert done.code == 0, done.text
    shutil.copytree(two, three)
    changed(three, "sampling.temperature", 1.0)
    with pytest.raises(RunMismatch, match=r"b\.json: sampling\.temperature differs .* and is now 1\.0") as refused:
        merge([one, two, three], tmp_path / "merged")
    assert f"{two} and {three} are no parts of one run" in str(refused.value)


def test_a_merge_that_fails_leaves_nothing_in_the_way_of_the_next(
    parts: Callable[..., list[Path]], tmp_path: Path
) -> None:
    directories, out = parts("--limit", "6", count=2), tmp_path / "merged"
    torn = directories[1] / "probes" / "torn.json"
    torn.parent.mkdir(exist_ok=True)
    torn.write_text("{", "utf-8")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UsageProblem, match=r"torn\.json is not readable"):
        merge(directories, out)
    assert sorted(tmp_path.iterdir()) == before
    torn.unlink()
    assert merge(directories, out).is_complete
    assert sorted(tmp_path.iterdir()) == sorted([*before, out])
    written = [path.read_text("utf-8") for path in out.rglob("*") if path.suffix in {".json", ".jsonl", ".md", ".html"}]
    assert json.loads((out / "run.json").read_text("utf-8"))["run"] == "merged"
    assert len(written) > 4
    assert not [text for text in written if f".merged.{os.getpid()}" in text]


def test_what_lies_beside_the_answers_is_carried_along_or_told(
    parts: Callable[..., list[Path]], tmp_path: Path
) -> None:
    directories = [RunDirectory(path) for path in parts("--limit", "12", count=2)]
    (arm,) = directories[0].manifest().arms
    setting = next(iter(SETTINGS)).name
    chosen = [run.selection()[arm]["calibration"] for run in directories]
    for number, (run, ids) in enumerate(zip(directories, chosen, strict=True)):
        write_retold(run, retold(arm, ids[0]))
        write_audit(run, Audit(arm=arm, n=number + 8, concurrency=2, flips=0))
        write_controls(run, Controls(arm=arm, tracks={f"track-{number}": CONTROL}))
        values: dict[str, tuple[float, ...]] = {"total_s": (1.0 + number,)}
        write_speed(run, Speed(passes=(Pass(arm=arm, setting=setting, number=1, values=values),)))
    merged = merge([run.path for run in directories], tmp_path / "merged")
    run = RunDirectory(tmp_path / "merged")
    assert set(read_retold(run)[arm].answers) == {ids[0] for ids in chosen}
    assert set(read_controls(run)[arm].tracks) == {"track-0", "track-1"}
    assert read_audits(run)[arm].n == 8
    assert f"audit of {arm}: that of part-1; left behind: part-2" in merged.text
    assert read_speed(run) == read_speed(directories[0])
    assert "speed: that of part-1, since sessions do not compare; left behind: part-2" in merged.text
    assert json.loads((run.path / "results.json").read_text("utf-8"))["speed"][arm]


def test_of_a_sample_in_two_parts_only_what_belongs_to_its_answer_is_carried_along(
    parts: Callable[..., list[Path]], tmp_path: Path
) -> None:
    directories = [*parts("--limit", "6", count=1), *parts("--limit", "6", count=1, of="again")]
    second = RunDirectory(directories[1])
    (arm,) = second.manifest().arms
    write_retold(second, retold(arm, second.selection()[arm]["calibration"][0]))
    merge(directories, tmp_path / "merged")
    assert not read_retold(RunDirectory(tmp_path / "merged"))[arm].answers
