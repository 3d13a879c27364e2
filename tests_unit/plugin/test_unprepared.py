"""A track whose data is not there stops those who asked for it, and nobody else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.plugin.choosing import names_track
from bakeoff.tracks import TRACKS
from tests_unit.plugin.conftest import BenchRun

Bench = Callable[..., BenchRun]
Script = Callable[..., str]

OTHERS = sorted(name for name, track in TRACKS.items() if track.source is not None)


@pytest.fixture(autouse=True)
def nothing_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path / "empty"))


@pytest.fixture
def other(pytester: pytest.Pytester) -> str:
    """The name of a track without data, with a module of its own beside the calibration's."""
    name = OTHERS[0]
    pytester.makepyfile(**{f"test_{name}": f'TRACK = "{name}"\ndef test_sample(case): case.check()\n'})
    return name


def test_others_run_and_the_header_names_what_is_missing(
    bench: Bench, script: Script, other: str, mode: tuple[str, ...]
) -> None:
    run = bench("--model", script(), "--limit", "3", *mode)
    assert run.code == 0
    assert len(run.records) == 3
    assert f"not prepared: {other} (bakeoff prepare)" in run.text


def test_cases_of_ones_own_are_not_said_to_be_prepared(bench: Bench, script: Script, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_custom='TRACK = "custom"\ndef test_sample(case): case.check()\n')
    run = bench("--model", script(), "--limit", "2")
    assert run.code == 0
    assert "no cases of your own: custom (docs/custom-cases.md)" in run.text
    assert "bakeoff prepare" not in run.text


@pytest.mark.parametrize("how", ["word", "marker", "file"])
def test_asking_for_it_is_a_usage_error_that_says_what_to_type(
    bench: Bench, script: Script, other: str, how: str
) -> None:
    arguments = {"word": ["-k", other], "marker": ["-m", other], "file": [f"test_{other}.py"]}[how]
    run = bench("--model", script(), *arguments)
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert f"bakeoff prepare {other}" in run.text


def test_asking_for_it_with_workers_ends_with_the_same_code(bench: Bench, script: Script, other: str) -> None:
    run = bench("--model", script(), "-k", other, "-n2")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert f"bakeoff prepare {other}" in run.text


NAMING = [
    ["-k", "blink"],
    ["-k", "Blink or docvqa"],
    ["-k", "(test_blink) and counting"],
    ["-m", "blink"],
    ["tests_bench/test_blink.py"],
    ["tests_bench/test_blink.py::test_sample"],
]
OTHERWISE = [
    ["-k", "docvqa"],
    ["-k", "not docvqa"],
    ["-k", "not (docvqa or mmmu) and not custom"],
    ["-m", "not docvqa"],
    ["tests_bench/test_docvqa.py", "tests_bench"],
    [],
]


@pytest.mark.parametrize("arguments", [*NAMING, *OTHERWISE], ids=" ".join)
def test_a_track_is_named_by_a_word_a_marker_or_its_file(pytester: pytest.Pytester, arguments: list[str]) -> None:
    config = pytester.parseconfig(*arguments)
    assert names_track(config, "blink", "test_blink.py") is (arguments in NAMING)


def test_leaving_out_one_track_asks_for_no_other(
    bench: Bench, script: Script, other: str, mode: tuple[str, ...]
) -> None:
    run = bench("--model", script(), "--limit", "3", "-k", "not custom", *mode)
    assert run.code == 0, run.text
    assert len(run.records) == 3
    assert f"not prepared: {other} (bakeoff prepare)" in run.text


def test_where_nothing_else_is_left_it_is_told_what_to_type(bench: Bench, script: Script, other: str) -> None:
    run = bench("--model", script(), "-k", "not calibration")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert f"bakeoff prepare {other}" in run.text


def test_a_module_that_names_no_track_of_ours_is_told_so(bench: Bench, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_mine='TRACK = "mine"\ndef test_sample(case): case.check()\n')
    run = bench("--model", "fake:echo")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "a test module names the track 'mine'; tracks: calibration" in run.text
