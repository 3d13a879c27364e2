import json
from collections.abc import Callable
from typing import Any

import pytest

from tests_unit.plugin.conftest import BenchRun, calibration

Bench = Callable[..., BenchRun]
Script = Callable[..., str]


def scores(run: BenchRun) -> dict[str, float | None]:
    return {name: record.score for name, record in run.records.items()}


def tracks(run: BenchRun) -> dict[str, Any]:
    return {name: arm["tracks"] for name, arm in run.results["arms"].items()}


def forget(run: BenchRun, keep: int) -> None:
    """Cut the journal after its first `keep` records, as if the session had been killed there."""
    (path,) = run.run.path.glob("records/*.jsonl")
    lines = path.read_text("ascii").splitlines(keepends=True)
    records = [number for number, line in enumerate(lines) if '"type":"record"' in line]
    path.write_text("".join(lines[: records[keep - 1] + 1]) + lines[records[keep]][:40], "ascii")


def test_a_resumed_run_answers_only_what_is_missing(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    first = bench("--model", script(), "--limit", "8", *mode)
    whole = scores(first)
    forget(first, keep=5)
    second = bench("--resume", *mode)
    assert second.code == 0
    assert scores(second) == whole
    assert "resumed: 5 samples already recorded" in second.text
    second.result.stdout.fnmatch_lines(["*3 passed*"])


def test_a_run_that_was_given_another_name_goes_on(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    first = bench("--model", script(), "--limit", "8", *mode)
    whole = scores(first)
    forget(first, keep=5)
    moved = first.run.path.rename(first.run.path.with_name("kept for later"))
    second = bench(f"--resume={moved}", *mode)
    assert second.code == 0, second.text
    assert scores(second) == whole
    assert second.run.path == moved


def test_a_run_that_is_done_resumes_to_exit_code_0(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    first = bench("--model", script(), "--limit", "3", *mode)
    before = tracks(first)
    again = bench(f"--resume={first.run.path}", *mode)
    assert again.code == 0
    assert tracks(again) == before


def test_without_an_unfinished_run_resume_says_so(bench: Bench, script: Script) -> None:
    bench("--model", script(), "--limit", "2")
    run = bench("--resume")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "no unfinished run in" in run.text


def test_a_test_path_behind_resume_is_explained(bench: Bench) -> None:
    run = bench("--resume", "test_calibration.py")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "put --resume behind the test paths" in run.text


def test_errors_are_tried_again_and_counted(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    culprit = calibration()[0].id
    name = script(fail=[culprit])
    first = bench("--model", name, "-k", "grounding-00")
    assert first.records[culprit].attempt == 1
    again = bench("--resume", *mode)
    assert again.code == 1
    assert again.records[culprit].attempt == 2
    assert len(again.journal().history) == len(again.records) + 1


def test_errors_can_be_left_alone(bench: Bench, script: Script) -> None:
    culprit = calibration()[0].id
    first = bench("--model", script(fail=[culprit]), "-k", "grounding-00")
    again = bench(f"--resume={first.run.path}", "--no-retry-errors")
    assert again.records[culprit].attempt == 1


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--temperature", "0.9", "sampling.temperature differs from the stored run: it was 0.2 and is now 0.9"),
        ("--seed", "5", "seed differs from the stored run: it was 0 and is now 5"),
        ("--max-tokens", "16", "tracks.calibration.max_tokens differs from the stored run: it was 64 and is now 16"),
        ("--thinking", "on", "thinking differs from the stored run: it was 'default' and is now 'on'"),
    ],
)
def test_other_inputs_are_refused_and_named(
    bench: Bench, script: Script, option: str, value: str, message: str
) -> None:
    first = bench("--model", script(), "--limit", "3")
    forget(first, keep=1)
    run = bench("--resume", option, value)
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert message in run.text
    assert len(run.records) == 1


def test_another_model_behind_the_same_name_is_refused(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    first = bench("--model", script(), "--limit", "3")
    forget(first, keep=1)
    script(default="changed")
    run = bench("--resume", *mode)
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "model.weights_sha256 differs from the stored run" in run.text


def test_changed_samples_are_refused(bench: Bench, script: Script) -> None:
    first = bench("--model", script(), "--limit", "3")
    forget(first, keep=1)
    path = first.run.path / "run.json"
    manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
    (arm,) = manifest["arms"].values()
    arm["fingerprint"]["tracks.calibration.samples_sha256"] = "0" * 64
    path.write_text(json.dumps(manifest), "utf-8")
    run = bench("--resume")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "tracks.calibration.samples_sha256 differs" in run.text


def test_an_arm_can_be_added_to_a_run(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    first = bench("--model", script("one"), "--limit", "3", *mode)
    run = bench(f"--resume={first.run.path}", "--model", f"{script('one')},{script('two')}", *mode)
    assert run.code == 0
    assert len(run.results["arms"]) == 2
    assert len({tuple(sorted(j.records)) for j in run.run.journals().values()}) == 1


def test_arms_that_are_not_named_again_are_not_forgotten(bench: Bench, script: Script) -> None:
    def answered(run: BenchRun) -> list[int]:
        return [len(journal.records) for journal in run.run.journals().values()]

    first = bench("--model", script("one"), "--limit", "3")
    forget(first, keep=1)
    added = bench(f"--resume={first.run.path}", "--model", script("two"))
    assert (added.code, answered(added)) == (0, [1, 3]), added.text
    last = bench("--resume")
    assert (last.code, answered(last)) == (0, [3, 3]), last.text


def test_an_added_arm_is_asked_what_the_run_asked(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    first = bench("--model", script("one"), "--limit", "9", "-k", "reading", *mode)
    asked = set(first.records)
    assert 0 < len(asked) < 9
    run = bench(f"--resume={first.run.path}", "--model", f"{script('one')},{script('two')}", *mode)
    assert run.code == 0
    assert [set(journal.records) for journal in run.run.journals().values()] == [asked] * 2


def test_naming_samples_extends_a_run(bench: Bench, script: Script) -> None:
    one, two = (sample.id for sample in calibration()[:2])
    first = bench("--model", script(), "-k", one)
    run = bench(f"--resume={first.run.path}", "-k", two)
    assert sorted(run.records) == sorted([one, two])


def test_two_processes_cannot_write_one_run(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    first = bench("--model", script(), "--limit", "3")
    forget(first, keep=1)
    held = first.run
    held.lock()
    try:
        run = bench("--resume", *mode)
    finally:
        held.unlock()
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "is being written by another process" in run.text


def test_gates_of_the_run_hold_in_a_resumed_session_too(bench: Bench, script: Script) -> None:
    gate = ("--min-score", "calibration:family:choice=0.99", "--undecided", "pass")
    first = bench("--model", script(wrong=tuple(s.id for s in calibration())), "--run-dir", "reports/r", *gate)
    assert first.code == 1
    again = bench("--resume=reports/r")
    assert again.code == 1
    assert [gate["gate"] for gate in again.results["gates"]] == [gate["gate"] for gate in first.results["gates"]]
    options = again.run.manifest().options
    assert (options["min_score"], options["undecided"]) == ([gate[1]], "pass")


@pytest.mark.parametrize("asked", [("--limit", "6"), ("--shard", "1/2")])
def test_a_resumed_run_keeps_its_samples(bench: Bench, script: Script, asked: tuple[str, str]) -> None:
    model = script()
    bench("--model", model, "--limit", "4", "--run-dir", "reports/r")
    again = bench("--resume=reports/r", *asked)
    assert again.code == pytest.ExitCode.USAGE_ERROR
    before = "4" if asked[0] == "--limit" else "not given"
    assert f"{asked[0]} was {before} and is now {asked[1]}" in again.text
    assert bench("--resume=reports/r", "--limit", "4").code == 0
