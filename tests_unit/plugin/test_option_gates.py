from collections.abc import Callable

import pytest

from tests_unit.plugin.conftest import BenchRun, calibration

Bench = Callable[..., BenchRun]
Script = Callable[..., str]


def test_a_gate_that_holds_passes_and_one_that_does_not_fails_and_says_by_how_much(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    name = script(wrong=tuple(s.id for s in calibration()[::3]))
    passed = bench("--model", name, "--min-score", "calibration=0.3", "--run-dir", "reports/a", *mode)
    assert passed.code == 0
    assert "gate min-score calibration=0.3 for" in passed.text
    assert ": pass:" in passed.text
    failed = bench("--model", name, "--min-score", "calibration=0.95", "--run-dir", "other/b", *mode)
    assert failed.code == 1
    assert "gate min-score calibration=0.95 for" in failed.text
    assert ": fail: accuracy" in failed.text
    assert "short of the bound by" in failed.text


@pytest.mark.parametrize(("choice", "code"), [("fail", 1), ("pass", 0)])
def test_too_little_data_is_said_and_decided_as_asked(bench: Bench, script: Script, choice: str, code: int) -> None:
    run = bench("--model", script(), "--limit", "5", "--min-score", "calibration=0.9", "--undecided", choice)
    assert "not enough data" in run.text
    assert run.code == code


def test_a_gate_on_a_named_metric(bench: Bench, script: Script) -> None:
    run = bench("--model", script(), "--min-score", "calibration:family:reading=0.5")
    assert run.code == 0
    assert ": pass: family:reading 100.0" in run.text


def test_an_unknown_metric_is_not_a_pass(bench: Bench, script: Script) -> None:
    run = bench("--model", script(), "--limit", "5", "--min-score", "calibration:beauty=0.5")
    assert run.code == 1
    assert "no metric 'beauty'; calibration has accuracy, " in run.text


def test_a_gate_on_a_track_that_was_not_asked_says_so(bench: Bench, script: Script) -> None:
    run = bench("--model", script(), "--limit", "5", "--min-score", "mmmu=0.5")
    assert run.code == 1
    assert "not enough data: no sample of mmmu has an answer" in run.text


def test_too_many_cut_answers_fail_the_run(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    everything = [sample.id for sample in calibration()]
    run = bench("--model", script(length=everything), "--limit", "4", *mode)
    assert run.code == 1
    assert "4 of 4 answers were cut off" in run.text
    assert run.results["gates"][0]["outcome"] == "fail"


def test_errors_beyond_the_allowed_number_are_named(bench: Bench, script: Script) -> None:
    first = calibration()[0].id
    run = bench("--model", script(fail=[first]), "-k", "grounding-00")
    assert run.code == 1
    assert "1 sample got no valid output" in run.text
