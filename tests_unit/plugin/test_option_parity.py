from collections.abc import Callable

import pytest

from tests_unit.plugin.conftest import BenchRun

Bench = Callable[..., BenchRun]
Script = Callable[..., str]


def test_arms_are_probed_before_their_first_sample_and_the_page_says_that_they_agree(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    run = bench("--model", f"{script('one')},{script('two')}", "--limit", "2", *mode)
    assert run.code == 0
    parity = run.results["validity"]["parity"]
    assert (parity["state"], parity["findings"]) == ("same", [])
    assert len(list(run.run.path.glob("probes/*.json"))) == 2


def test_a_warning_is_printed_and_marks_the_comparison_and_the_run_goes_on(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    models = f"{script('one')},{script('two', traits={'template': '[INST]'})}"
    run = bench("--model", models, "--limit", "2", *mode)
    assert run.code == 0
    assert "parity: " in run.text
    assert "another chat template" in run.text
    validity = run.results["validity"]
    assert validity["parity"]["state"] == "differs"
    assert [finding["kind"] for finding in validity["parity"]["findings"]] == ["template"]
    assert any("another chat template" in reason for reason in validity["reasons"])
    assert "another chat template" in (run.run.path / "report.html").read_text("utf-8")


def test_strict_ends_before_the_arm_that_differs_with_a_usage_error(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    models = f"{script('one')},{script('two', traits={'weights': 1})}"
    run = bench("--model", models, "--limit", "2", "--parity", "strict", *mode)
    assert run.code == 4
    assert "--parity strict: " in run.text
    assert "other weights" in run.text
    assert "bakeoff doctor --model" in run.text
    answered = [len(content.records) for content in run.run.journals().values()]
    assert sum(answered) in {0, 2}  # the controller of workers asks all arms before any sample


def test_off_asks_nothing_and_says_that_nobody_looked(bench: Bench, script: Script) -> None:
    run = bench("--model", f"{script('one')},{script('two')}", "--limit", "2", "--parity", "off")
    assert run.code == 0
    assert run.results["validity"]["parity"]["state"] == "not checked"
    assert not (run.run.path / "probes").exists()


def test_journals_hold_nothing_of_a_probe(bench: Bench, script: Script) -> None:
    run = bench("--model", script("one"), "--limit", "2")
    text = next(run.run.path.glob("records/*.jsonl")).read_text("utf-8")
    assert "logprob" not in text
    assert "trace" not in text


@pytest.mark.parametrize("value", ["loud", ""])
def test_another_word_is_refused(bench: Bench, script: Script, value: str) -> None:
    run = bench("--model", script("one"), f"--parity={value}")
    assert run.code == 4
    assert "--parity" in run.text
