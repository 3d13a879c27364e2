"""The speed track under a real pytest: when it runs, in which order, and where its figures go."""

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests_unit.bare import BARE
from tests_unit.plugin.conftest import BENCH, BenchRun

SPEED = """
TRACK = "speed"
def test_speed(speed, benchmark): speed.measure(benchmark)
"""
SETTINGS = ["load", "text", "512", "1080p", "two-pages", "four-images"]

Run = Callable[..., BenchRun]


@pytest.fixture
def speed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `pytest` on a folder with the speed test and the calibration track; one round a pass unless told."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)  # by which pytest-benchmark knows a worker, and rests
    pytester.makepyfile(test_speed=SPEED, test_calibration=BENCH)
    pytester.makeini("[pytest]\nstrict = true\n")

    def run(*arguments: str) -> BenchRun:
        told = (*BARE, "--benchmark-min-rounds", "2", *arguments)
        return BenchRun(pytester.run(sys.executable, "-m", "pytest", *told), pytester.path)

    return run


def ids(run: BenchRun) -> list[str]:
    return [line.partition("[")[2][:-1] for line in run.result.outlines if "::test_speed[" in line]


def test_arms_are_measured_forwards_and_then_backwards(speed: Run) -> None:
    run = speed("test_speed.py", "--model", "fake:echo,fake:oracle", "--collect-only", "-q")
    forwards = [f"{arm}-{setting}" for arm in ("fake-echo", "fake-oracle") for setting in SETTINGS]
    assert ids(run) == [*forwards, *(f"{name}-again" for name in reversed(forwards))]


def test_one_arm_is_measured_in_one_pass(speed: Run) -> None:
    run = speed("test_speed.py", "--model", "fake:echo", "--collect-only", "-q")
    assert ids(run) == [f"fake-echo-{setting}" for setting in SETTINGS]


@pytest.mark.parametrize(
    ("arguments", "is_in"),
    [
        ((), False),
        (("-k", "grounding-00"), False),
        (("-m", "not speed"), False),
        (("-m", "speed"), True),
        (("test_speed.py",), True),
    ],
    ids=["folder", "other-word", "not", "mark", "file"],
)
def test_it_runs_only_where_it_is_named(speed: Run, arguments: tuple[str, ...], is_in: bool) -> None:  # noqa: FBT001 -- a parameter of the table above
    run = speed(*arguments, "--model", "fake:echo", "--collect-only", "-q")
    assert bool(ids(run)) == is_in
    assert run.code == 0


def test_figures_join_results_pages_and_what_pytest_benchmark_saves(speed: Run) -> None:
    saved = ("--benchmark-json=saved.json", "--benchmark-autosave")
    run = speed("test_speed.py", "--model", "fake:echo,fake:oracle", "-k", "text or load", *saved)
    assert run.code == 0
    found: dict[str, Any] = run.results["speed"]
    assert set(found) == {"fake-echo", "fake-oracle"}
    total = found["fake-echo"]["text"]["total_s"]
    assert total["rounds"] == 2
    assert len(total["passes"]) == 2
    assert total["least"] <= total["median"] <= total["most"]
    assert set(found["fake-echo"]["load"]) == {"load_s"}
    assert "Speed track" in (run.run.path / "report.html").read_text("utf-8")
    assert "## Speed track" in (run.run.path / "report.md").read_text("utf-8")
    kept = json.loads((run.folder / "saved.json").read_text("utf-8"))
    assert {entry["extra_info"]["setting"] for entry in kept["benchmarks"]} == {"text", "load"}
    assert "node" not in kept["machine_info"]
    again = speed("test_speed.py", "--model", "fake:echo,fake:oracle", "-k", "text", "--benchmark-compare")
    assert again.code == 0
    again.result.stdout.fnmatch_lines(["speed track*First token*Total*", "*test_speed*fake-echo-text* (0001*"])


def test_samples_and_speed_can_share_a_session(speed: Run) -> None:
    run = speed(
        "test_speed.py", "test_calibration.py", "--model", "fake:echo", "--limit", "3", "--benchmark-min-rounds=1"
    )
    assert run.code == 0
    assert len(run.records) == 3
    assert set(run.results["speed"]["fake-echo"]) == set(SETTINGS)


def test_a_setting_without_an_answer_fails_alone_and_is_told(speed: Run, script: Callable[..., str]) -> None:
    run = speed("test_speed.py", "--model", script(fail=["speed-text"]), "-k", "text or 512")
    assert run.code == 1
    (figures,) = run.results["speed"].values()
    assert figures["text"] == {}
    assert figures["512"]["total_s"]["rounds"] == 2
    (error,) = run.results["speed_about"]["errors"]
    assert "could not be measured on Text: BackendError: the script says: fail" in error


def test_workers_are_refused(speed: Run) -> None:
    run = speed("test_speed.py", "--model", "fake:echo", "-n2")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "speed is not measured while workers share the machine. Leave -n out" in run.text


def test_without_pytest_benchmark_at_work_nothing_is_measured(speed: Run) -> None:
    run = speed("test_speed.py", "--model", "fake:echo", "-k", "text", "--benchmark-disable")
    run.result.stdout.fnmatch_lines(["*1 skipped*"])
    assert run.results["speed"] == {}
