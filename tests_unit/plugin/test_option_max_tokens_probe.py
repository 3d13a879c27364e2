from collections.abc import Callable

from tests_unit.plugin.conftest import BenchRun, calibration

Bench = Callable[..., BenchRun]
Script = Callable[..., str]


def test_a_probed_budget_is_twice_the_longest_answer_and_is_recorded(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    talker = script("talker", answers={sample.id: "word " * 150 for sample in calibration()})
    run = bench("--model", talker, "--limit", "4", "--max-tokens", "probe", *mode)
    assert run.code == 0, run.text
    assert "the longest of 4 answers takes 150 tokens" in run.text
    manifest = run.run.manifest()
    assert manifest.tracks["calibration"].max_tokens == 300
    assert manifest.options["max_tokens"] == ["calibration:300"]
    assert manifest.options["budget_probe"]["calibration"]["longest"] == 150


def test_a_budget_that_is_enough_stays(bench: Bench, script: Script) -> None:
    run = bench("--model", script("brief"), "--limit", "4", "--max-tokens", "probe")
    assert run.code == 0, run.text
    assert "which is enough" in run.text
    plain = bench("--model", script("brief"), "--limit", "4", "--run-dir", "other/plain")
    assert plain.code == 0
    assert "probe" not in str(plain.text)


def test_a_resumed_run_takes_the_number_over(bench: Bench, script: Script) -> None:
    name = script("talker", answers={sample.id: "word " * 150 for sample in calibration()})
    first = bench("--model", name, "--limit", "2", "--max-tokens", "probe", "--run-dir", "reports/r")
    again = bench("--resume=reports/r", "--limit", "2")
    assert (first.code, again.code) == (0, 0), again.text
    assert again.run.manifest().tracks["calibration"].max_tokens == 300
