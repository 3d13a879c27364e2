"""`--shard I/N`: a part of the samples, the same part in every way to run, and resumed as that part."""

from collections.abc import Callable
from pathlib import Path

from bakeoff.journal import read_journal
from bakeoff.runs import RunDirectory
from tests_unit.plugin.conftest import BenchRun, calibration

Bench = Callable[..., BenchRun]


def answered(path: Path) -> set[str]:
    return set(read_journal(RunDirectory(path).journal_path("fake-oracle")).records)


def test_all_parts_are_the_whole_and_none_is_in_two(bench: Bench, tmp_path: Path, mode: tuple[str, ...]) -> None:
    found = []
    for part in ("1/2", "2/2"):
        path = tmp_path / part.replace("/", "-of-")
        run = bench("--model", "fake:oracle", "--limit", "20", "--shard", part, "--run-dir", str(path), *mode)
        assert run.code == 0, run.text
        found.append(answered(path))
    assert found[0].isdisjoint(found[1])
    assert len(found[0] | found[1]) == 20
    clusters = {sample.id: sample.cluster for sample in calibration()}
    assert {clusters[name] for name in found[0]}.isdisjoint({clusters[name] for name in found[1]})


def test_a_part_is_resumed_as_that_part_and_as_no_other(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "part"
    options = ("--model", "fake:oracle", "--limit", "20", "--shard", "1/2", "--run-dir", str(path))
    assert bench(*options, "-x", "--maxfail=1").code == 0
    again = bench(f"--resume={path}")
    assert again.code == 0, again.text
    assert "resumed: 10 samples" in again.text
    other = bench(f"--resume={path}", "--shard", "2/2")
    assert other.code == 4
    assert "--shard was 1/2 and is now 2/2" in other.text


def test_a_part_that_cannot_be_is_a_usage_error(bench: Bench) -> None:
    run = bench("--model", "fake:oracle", "--shard", "3/2")
    assert run.code == 4
    assert "--shard 3/2: write I/N" in run.text
    assert not run.runs
