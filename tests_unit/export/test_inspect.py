"""Inspect logs, read back by Inspect."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest
from inspect_ai.log import (
    EvalLog,
    EvalSample,
    list_eval_logs,
    read_eval_log,
    read_eval_log_sample,
    read_eval_log_sample_summaries,
)
from inspect_ai.model import ContentImage, ContentText

from bakeoff.evaluate import Asking, TrackPlan, prompt_of
from bakeoff.export import survey, write_inspect
from bakeoff.records import Record, Sample, Sampling
from bakeoff.report import build
from bakeoff.runs import RunDirectory
from bakeoff.scorers import SCORERS
from bakeoff.tracks import TRACKS, Protocol, images_then_text
from tests_unit.report.synthetic import RunMaker, record

Expected = Callable[[], dict[str, str]]


@pytest.fixture
def logs(mixed: RunDirectory, tmp_path: Path) -> dict[str, EvalLog]:
    """The logs of both arms, samples included, by model."""
    paths = write_inspect(survey(mixed), tmp_path / "logs")
    found = [read_eval_log(str(path)) for path in paths]
    return {log.eval.model: log for log in found}


@pytest.fixture
def bf16(logs: Mapping[str, EvalLog]) -> EvalLog:
    return logs["mlx/tiny-bf16"]


def _sample(log: EvalLog, wanted: Callable[[EvalSample], bool]) -> EvalSample:
    return next(sample for sample in log.samples or [] if wanted(sample))


def test_inspect_lists_one_log_an_arm_and_track(logs: Mapping[str, EvalLog], tmp_path: Path) -> None:
    listed = list_eval_logs(str(tmp_path / "logs"))
    assert [info.task for info in listed] == ["toy", "toy"]
    assert {info.task_id for info in listed} == {log.eval.task_id for log in logs.values()}
    assert set(logs) == {"mlx/tiny-bf16", "gguf/tiny-gguf"}


def test_the_header_says_dataset_model_packages_and_inputs(bf16: EvalLog) -> None:
    spec = bf16.eval
    assert (spec.dataset.name, spec.dataset.samples, spec.task_version) == ("drawn", 120, "1")
    assert spec.model_args["identity"]["weights_sha256"]
    assert spec.packages["mlx"] == "0.32.4"
    assert spec.model_generate_config.max_tokens == 64
    assert spec.model_generate_config.temperature == 0.0
    assert (spec.metadata or {})["fingerprint"]["thinking"] == "default"


def test_metrics_are_the_values_of_the_report(mixed: RunDirectory, logs: Mapping[str, EvalLog]) -> None:
    for name, arm in build(mixed).arms.items():
        assert logs[f"{arm.backend}/{name}"].results is not None
        (score,) = logs[f"{arm.backend}/{name}"].results.scores  # type: ignore[union-attr] # asserted above
        told = arm.tracks["toy"]
        assert {key: metric.value for key, metric in score.metrics.items()} == {
            key: metric.value for key, metric in told.metrics.items()
        }
        assert next(iter(score.metrics)) == "accuracy"
        assert score.scored_samples == told.n
        assert score.unscored_samples == told.errors


def test_an_unfinished_run_is_not_a_success(logs: Mapping[str, EvalLog]) -> None:
    assert logs["gguf/tiny-gguf"].status == "success"
    assert logs["mlx/tiny-bf16"].status == "cancelled"


def test_hostile_outputs_come_back_equal(bf16: EvalLog, expected: Expected) -> None:
    found = {str(sample.id): sample.output.completion for sample in bf16.samples or []}
    for sample, text in expected().items():
        assert found[sample] == text


def test_a_score_has_answer_explanation_and_metadata(bf16: EvalLog) -> None:
    score = (_sample(bf16, lambda sample: sample.id == "toy-choices-038").scores or {})["score"]
    assert (score.value, score.answer) == (1.0, "B")
    assert score.explanation == "exact version 1: the answer was read from the output"
    assert (score.metadata or {})["correct"] is True


def test_an_unparsed_answer_scores_0_without_an_answer(bf16: EvalLog) -> None:
    unparsed = _sample(bf16, lambda sample: "no answer" in str((sample.scores or {}).get("score")))
    assert (unparsed.scores or {})["score"].answer is None
    assert (unparsed.scores or {})["score"].value == 0.0


def test_an_error_is_no_score(bf16: EvalLog) -> None:
    failed = _sample(bf16, lambda sample: sample.error is not None)
    assert failed.scores is None
    assert failed.error is not None
    assert failed.error.message.startswith("BackendDied: the runtime died")


def test_a_cut_off_answer_has_a_limit_and_a_stop_reason(bf16: EvalLog) -> None:
    cut = _sample(bf16, lambda sample: sample.limit is not None)
    assert cut.limit is not None
    assert (cut.limit.type, cut.limit.limit) == ("token", 11)
    assert cut.output.choices[0].stop_reason == "max_tokens"


def test_usage_is_counted_by_sample_and_in_all(bf16: EvalLog) -> None:
    samples = [sample for sample in bf16.samples or [] if sample.error is None]
    assert all(sample.model_usage["mlx/tiny-bf16"].output_tokens == 11 for sample in samples)
    assert bf16.stats.model_usage["mlx/tiny-bf16"].output_tokens == 11 * len(samples)


def test_the_list_of_samples_is_thin(mixed: RunDirectory, tmp_path: Path) -> None:
    path = write_inspect(survey(mixed), tmp_path / "logs")[0]
    summaries = read_eval_log_sample_summaries(str(path))
    assert len(summaries) == 120
    assert sum(summary.error is not None for summary in summaries) == 1
    assert max(len(str(summary)) for summary in summaries) < 6_000


def test_a_prompt_that_is_not_known_here_is_not_made_up(bf16: EvalLog) -> None:
    assert all("not prepared here" in str(sample.input) for sample in bf16.samples or [])


def test_input_refers_to_images_and_target_holds_the_answers(
    maker: RunMaker, samples: tuple[Sample, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = maker.arm("one", _asked(samples, monkeypatch)).write()
    (path,) = write_inspect(survey(run), tmp_path / "logs")
    words = read_eval_log_sample(str(path), "toy-words-000")
    assert not isinstance(words.input, str)
    (message,) = words.input
    assert not isinstance(message.content, str)
    image, text = message.content
    assert isinstance(image, ContentImage)
    assert isinstance(text, ContentText)
    assert (image.image, text.text) == ("toy/images/000.png", "What does it say?")
    assert words.target == ["hello", "hallo"]
    assert read_eval_log_sample(str(path), "toy-choices-000").target == ["B"]
    assert json.loads(read_eval_log_sample(str(path), "toy-boxes-000").target[0]) == [4 / 96, 4 / 64, 28 / 96, 20 / 64]
    assert read_eval_log_sample(str(path), "toy-choices-000").choices == ["red", "green", "blue"]
    assert str(tmp_path) not in str(words)


def test_the_same_files_give_the_same_bytes(mixed: RunDirectory, tmp_path: Path) -> None:
    first, second = (write_inspect(survey(mixed), tmp_path / name) for name in ("a", "b"))
    assert [path.name for path in first] == [path.name for path in second]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def _asked(samples: tuple[Sample, ...], monkeypatch: pytest.MonkeyPatch) -> list[Record]:
    """Give the toy track a protocol, and return records with the hashes of its prompts."""
    protocol = Protocol(name="default", render=images_then_text, max_tokens=64, scorer=lambda _: SCORERS["exact"])
    track = msgspec.structs.replace(TRACKS["toy"], protocols=(protocol,))
    monkeypatch.setitem(TRACKS, "toy", track)
    plan = TrackPlan(track=track, protocol=protocol, max_tokens=64, samples=samples, prepared=len(samples))
    asking = Asking(sampling=Sampling(), seed=0, thinking="default")
    return [record(sample, prompt_sha256=prompt_of(sample, plan, asking).sha256) for sample in samples]
