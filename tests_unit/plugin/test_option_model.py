from collections.abc import Callable

import pytest

from tests_unit.plugin.conftest import BenchRun

Bench = Callable[..., BenchRun]
Script = Callable[..., str]


def test_an_unknown_model_is_a_usage_error_with_suggestions(bench: Bench, mode: tuple[str, ...]) -> None:
    run = bench("--model", "tiny-bf61", *mode)
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "unknown model 'tiny-bf61'. Did you mean one of: tiny-bf16" in run.text
    assert "Traceback" not in run.text
    assert not run.runs


def test_the_default_is_the_embedded_pair(bench: Bench) -> None:
    run = bench("--collect-only", "-q", "-k", "grounding-001")
    run.result.stdout.fnmatch_lines(["*[[]tiny-bf16-grounding-001[]]", "*[[]tiny-gguf-bf16-grounding-001[]]"])


def test_several_arms_run_one_after_the_other_into_one_report(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    one, two = script("one"), script("two")
    run = bench("--model", f"{one},{two}", "--limit", "3", *mode)
    assert run.code == 0
    assert len(run.results["arms"]) == 2
    journals = run.run.journals()
    assert len(journals) == 2
    assert len({tuple(sorted(content.records)) for content in journals.values()}) == 1


def test_a_script_that_is_not_there_ends_with_its_message(bench: Bench, mode: tuple[str, ...]) -> None:
    run = bench("--model", "fake:absent.json", "--limit", "2", *mode)
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "absent.json is not a script" in run.text


def test_weights_in_this_process_refuse_workers_and_say_what_to_do(bench: Bench) -> None:
    run = bench("--model", "tiny-bf16", "-n2")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "--concurrency N" in run.text
    assert not run.runs


def test_two_servers_refuse_workers(bench: Bench) -> None:
    run = bench("--model", "tiny-gguf-bf16,tiny-gguf-q8", "-n2")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "one model at a time" in run.text


def test_workers_that_would_all_ask_everything_are_refused(bench: Bench) -> None:
    run = bench("--model", "fake:oracle", "-n2", "--dist", "each")
    assert run.code == 4
    assert "--dist each would ask every sample once per worker" in run.text


def test_a_missing_gguf_file_is_named(bench: Bench) -> None:
    run = bench("--model", "absent.gguf", "--limit", "2")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "there is no model at absent.gguf" in run.text


@pytest.mark.parametrize("name", ["nowhere.gguf", "./no/such/folder", "mlx:/no/such/folder"])
def test_a_model_that_is_not_on_this_disk_is_refused_before_there_is_a_run(bench: Bench, name: str) -> None:
    run = bench("--model", name)
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "there is no model at" in run.text
    assert not run.runs
