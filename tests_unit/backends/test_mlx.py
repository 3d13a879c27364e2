"""The MLX backend on the embedded checkpoint: what an answer comes with, and what is an error."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest

from bakeoff.backends import open_backend
from bakeoff.backends.mlx import backend as mlx
from bakeoff.backends.mlx.backend import MlxBackend
from bakeoff.errors import BackendDied, BackendError, UsageProblem
from bakeoff.models import resolve
from bakeoff.records import Prompt, Sampling
from tests_unit.backends.conftest import calibration, prompt_for, spoiled, text_prompt
from tests_unit.backends.mlx_cases import Make, drawn_image, opened, questions_on_one_image

pytestmark = pytest.mark.real_runtime


@pytest.fixture
def backend(settings: Make) -> Iterator[MlxBackend]:
    with opened(settings()) as model:
        yield model


def test_an_answer_comes_with_its_counts_and_times(backend: MlxBackend) -> None:
    output = backend.submit(prompt_for(calibration()[0])).result()
    assert output.text
    assert output.finish_reason == "stop"
    assert output.prompt_tokens is not None
    assert output.image_tokens is not None
    assert 0 < output.image_tokens < output.prompt_tokens
    assert output.total_s is not None
    assert output.ttft_s is not None
    assert 0 < output.ttft_s <= output.total_s
    assert output.thinking_tokens == 0


def test_a_second_question_on_an_image_reuses_what_came_before(backend: MlxBackend) -> None:
    first, second = (backend.submit(prompt_for(s)).result() for s in questions_on_one_image(2))
    assert first.cached_tokens == 0
    assert second.cached_tokens is not None
    assert second.cached_tokens > 0


def test_answers_do_not_depend_on_order_or_reuse(settings: Make) -> None:
    samples = questions_on_one_image(2)
    texts = []
    for reuse, order in ((True, samples), (True, samples[::-1]), (False, samples)):
        with opened(settings(image_reuse=reuse), "tiny-8bit") as model:
            texts.append({s.id: model.submit(prompt_for(s)).result().text for s in order})
    assert texts[0] == texts[1] == texts[2]


def test_tokens_of_a_thought_are_counted_apart(backend: MlxBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded model does not think, so its words are called a thought but for the last one."""
    monkeypatch.setattr("bakeoff.backends.mlx.work.thought", lambda text: text[:-1])
    output = backend.submit(prompt_for(calibration()[0])).result()
    assert output.thinking_tokens is not None
    assert output.completion_tokens is not None
    assert 0 < output.thinking_tokens <= output.completion_tokens


def test_a_budget_that_ends_an_answer_is_said_to_be_its_length(backend: MlxBackend) -> None:
    output = backend.submit(prompt_for(calibration()[0], max_tokens=3)).result()
    assert (output.finish_reason, output.completion_tokens) == ("length", 3)


def test_the_same_seed_gives_the_same_text_and_another_one_may_not(backend: MlxBackend) -> None:
    sample, warm = calibration()[0], Sampling(temperature=3.0, top_k=20)

    def text(seed: int) -> str:
        return backend.submit(prompt_for(sample, sampling=warm, seed=seed)).result().text

    assert text(1) == text(1)
    assert len({text(seed) for seed in range(5)}) > 1


def test_a_system_prompt_is_part_of_the_prompt(backend: MlxBackend) -> None:
    with_system = next(s for s in calibration() if s.system)
    without = prompt_for(with_system)
    bare = without.messages[1:]
    short = backend.submit(type(without)(**{**_fields(without), "messages": bare})).result()
    whole = backend.submit(without).result()
    assert whole.prompt_tokens is not None
    assert short.prompt_tokens is not None
    assert whole.prompt_tokens > short.prompt_tokens


def _fields(prompt: Any) -> dict[str, Any]:
    return {name: getattr(prompt, name) for name in prompt.__struct_fields__}


def test_an_image_that_is_not_the_prepared_one_is_an_error(backend: MlxBackend, tmp_path: Path) -> None:
    image = spoiled(calibration()[0].images[0], tmp_path)
    with pytest.raises(BackendError, match="is not the one that was prepared"):
        backend.submit(text_prompt("what?", image)).result()
    assert backend.submit(text_prompt("hello")).result().image_tokens == 0


def test_a_closed_model_answers_nothing(settings: Make) -> None:
    with opened(settings(), "tiny-4bit") as model:
        pass
    with pytest.raises(BackendDied):
        model.submit(text_prompt("hello")).result()


def test_a_closed_model_leaves_nothing_in_memory(settings: Make, tmp_path: Path) -> None:
    gc.collect()  # whatever earlier tests left
    before = mx.get_active_memory()
    with opened(settings(), "tiny-4bit") as model:
        model.submit(text_prompt("what?", drawn_image(tmp_path, 1))).result()
        needed = mx.get_active_memory() - before
    assert needed > 1_000_000
    assert mx.get_active_memory() - before < needed / 100


def test_the_peak_of_an_arm_is_not_that_of_the_arm_before(settings: Make) -> None:
    def peak(prompt: Prompt) -> int:
        with opened(settings(), "tiny-4bit") as model:
            return model.submit(prompt).result().peak_memory_bytes or 0

    alone = peak(text_prompt("hello"))
    larger = peak(prompt_for(calibration()[0]))
    assert larger > 1.5 * alone
    assert peak(text_prompt("hello")) == pytest.approx(alone, rel=0.1)


def test_a_model_that_cannot_be_set_up_is_a_usage_problem(settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("image_processor")

    monkeypatch.setattr(mlx, "Preparer", broken)
    with pytest.raises(UsageProblem, match=r"mlx-vlm cannot load .*image_processor"):
        open_backend(resolve("tiny-4bit"), settings())


def test_a_folder_that_is_no_model_is_a_usage_problem(tmp_path: Path, settings: Make) -> None:
    with pytest.raises(UsageProblem, match="mlx-vlm cannot load"):
        open_backend(resolve(f"mlx:{tmp_path}"), settings())
    with pytest.raises(UsageProblem, match="there is no folder"):
        open_backend(resolve(f"mlx:{tmp_path}/absent"), settings())
