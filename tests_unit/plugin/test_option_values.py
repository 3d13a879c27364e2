"""Options that are refused, or that must arrive where they are used."""

from collections.abc import Callable

import pytest

from bakeoff.hashing import sample_seed
from bakeoff.runs import RunDirectory
from tests_unit.plugin.conftest import BenchRun, calibration

Bench = Callable[..., BenchRun]
Script = Callable[..., str]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--temperature", "-1"), "--temperature -1.0: must lie between 0 and 100"),
        (("--top-p", "1.5"), "--top-p 1.5: must lie between 0 and 1"),
        (("--limit", "0"), "--limit 0: 0 is not at least 1"),
        (("--limit", "some"), "--limit some: 'some' is no whole number; write --limit N, or --limit TRACK:N"),
        (("--limit", "docvqa"), "such as --limit docvqa:50. Did you mean docvqa:N?"),
        (("--limit", "calibration:many"), "--limit calibration:many: 'many' is no whole number; write --limit N"),
        (("--limit", "nowhere:3"), "there is no track 'nowhere'"),
        (("--limit", "docvaq:3"), "Did you mean docvqa?"),
        (("--max-tokens", "prob"), "Did you mean probe?"),
        (("--protocol", "shouting"), "track calibration has no protocol 'shouting'; it has default"),
        (("--protocol", "nativ"), "track calibration has no protocol 'nativ'; it has default. Did you mean native?"),
        (("--protocol", "calibration:defualt"), "it has default. Did you mean default?"),
        (("--limit", ""), "--limit: no value is given"),
        (("--protocol", " "), "--protocol: no value is given"),
        (("--max-tokens", ","), "--max-tokens: no value is given"),
        (("--max-tokens", "99999999999"), "99999999999 is more than 1000000; write --max-tokens N"),
        (("--repetition-penalty", "0"), "--repetition-penalty 0.0: must lie between 0.01 and 100"),
        (("--repetition-penalty", "nan"), "--repetition-penalty nan: must lie between"),
        (("--max-errors", "-1"), "--max-errors -1: must be 0 or more"),
        (("--concurrency", "0"), "--concurrency 0: must lie between 1 and 1024"),
        (("--min-score", "calibration"), "--min-score calibration: write --min-score TRACK=X"),
        (("--min-score", "calibration=85"), "with X between 0 and 1"),
        (("--min-score", "nowhere=0.5"), "there is no track 'nowhere'"),
        (("--min-score", "calibratoin=0.5"), "Did you mean calibration?"),
        (("--max-truncated", "101"), "must lie between 0 and 100"),
    ],
)
def test_a_value_that_cannot_be_meant_is_a_usage_error(bench: Bench, arguments: tuple[str, ...], message: str) -> None:
    run = bench("--model", "fake:echo", *arguments)
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert message in run.text
    assert not run.runs


def test_sampling_budget_seed_and_thinking_are_part_of_the_fingerprint(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    asked = ("--temperature", "0.7", "--top-k", "9", "--top-p", "0.8", "--min-p", "0.1", "--repetition-penalty", "1.2")
    more = ("--seed", "11", "--thinking", "off", "--max-tokens", "calibration:33")
    run = bench("--model", script(), "--limit", "2", *asked, *more, *mode)
    assert run.code == 0
    (arm,) = run.run.manifest().arms.values()
    wanted = {
        "sampling.temperature": 0.7,
        "sampling.top_k": 9,
        "sampling.top_p": 0.8,
        "sampling.min_p": 0.1,
        "sampling.repetition_penalty": 1.2,
        "seed": 11,
        "thinking": "off",
        "tracks.calibration.max_tokens": 33,
    }
    assert {name: arm.fingerprint[name] for name in wanted} == wanted


def test_the_seed_of_a_sample_follows_from_the_seed_of_the_run(bench: Bench, script: Script) -> None:
    first = calibration()[0].id

    def seed(run_seed: str, place: str) -> int:
        run = bench("--model", script(), "-k", first, "--seed", run_seed, "--run-dir", f"reports/{place}")
        (journal,) = RunDirectory(run.folder / "reports" / place).journals().values()
        return journal.records[first].seed

    assert seed("1", "a") == seed("1", "b") == sample_seed(1, first)
    assert seed("2", "c") == sample_seed(2, first) != sample_seed(1, first)


def test_limit_draws_a_stratified_sample_that_is_no_prefix(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    run = bench("--model", script(), "--limit", "calibration:10", *mode)
    families = {record.groups["family"] for record in run.records.values()}
    assert len(run.records) == 10
    assert families == {sample.groups["family"] for sample in calibration()}
    assert set(run.records) != {sample.id for sample in calibration()[:10]}
    assert run.results["arms"][next(iter(run.results["arms"]))]["tracks"]["calibration"]["selected"] == 10


def test_a_run_directory_is_not_written_over(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    name = script()
    first = bench("--model", name, "--limit", "2", "--run-dir", "reports/mine", *mode)
    assert first.run.name == "mine"
    before = (first.run.path / "run.json").read_bytes()
    second = bench("--model", name, "--limit", "2", "--run-dir", "reports/mine", *mode)
    assert second.code == pytest.ExitCode.USAGE_ERROR
    assert "holds a run already. Go on with it by --resume=reports/mine" in second.text
    assert (first.run.path / "run.json").read_bytes() == before


def test_wrong_answers_can_be_made_failures(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    first = calibration()[0].id
    run = bench("--model", script(wrong=(first,)), "-k", "grounding-00", "--fail-on-wrong", *mode)
    assert run.code == 1
    assert run.records[first].score == 0.0
    run.result.stdout.fnmatch_lines(["*1 failed*"])
