"""The MLX backend on the embedded checkpoint: what it does before decoding changes no bit."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bakeoff.backends import Settings, open_backend
from bakeoff.backends.mlx import MlxBackend
from bakeoff.errors import BackendDied, BackendError, UsageProblem
from bakeoff.models import resolve
from bakeoff.records import Sample, Sampling
from tests_unit.backends.conftest import calibration, prompt_for, spoiled, text_prompt

pytestmark = pytest.mark.real_runtime

Make = Callable[..., Settings]


@pytest.fixture
def backend(settings: Make) -> Iterator[MlxBackend]:
    opened = open_backend(resolve("tiny-bf16"), settings())
    assert isinstance(opened, MlxBackend)
    yield opened
    opened.close()


def questions_on_one_image(count: int) -> list[Sample]:
    everything = calibration()
    for sample in everything:
        shared = [s for s in everything if (s.cluster, s.system) == (sample.cluster, sample.system)]
        if len(shared) >= count:
            return shared[:count]
    pytest.fail(f"no image has {count} questions")


def one_of_each_size() -> list[Sample]:
    return list({(s.groups["size"], len(s.images)): s for s in calibration()}.values())


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


def test_trimming_and_reuse_change_neither_text_nor_log_probabilities(settings: Make) -> None:
    """Ours against mlx-vlm's own path from files, for every image size; equal to the last bit."""
    plain, reused = (_log_probabilities(settings(image_reuse=reuse), raw=not reuse) for reuse in (False, True))
    assert plain == reused
    assert len(plain) > 3


def _log_probabilities(settings: Settings, *, raw: bool) -> dict[str, list[tuple[int, float]]]:
    """Greedy tokens with their log-probabilities, from a thread of the backend's own."""
    import mlx.core as mx  # noqa: PLC0415 - the runtime is loaded only where it is tested
    from mlx_vlm import load, stream_generate  # noqa: PLC0415

    from bakeoff.backends.mlx_vision import PrefixStore, prepare  # noqa: PLC0415

    model, processor = load(resolve("tiny-bf16").location)
    template: Any = processor if getattr(processor, "chat_template", None) else processor.tokenizer
    found: dict[str, list[tuple[int, float]]] = {}
    store = PrefixStore()
    for sample in [*one_of_each_size(), *questions_on_one_image(2)]:
        content = [*({"type": "image"} for _ in sample.images), {"type": "text", "text": sample.question}]
        messages = [{"role": "user", "content": content}]
        text = template.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        if raw:
            paths = [image.path for image in sample.images]
            steps = stream_generate(model, processor, text, paths, max_tokens=12, temperature=0.0)
        else:
            prepared = prepare(model, processor, text, sample.images)
            cached = store.continue_from(model, prepared)
            assert cached is not None
            inputs = {"input_ids": cached.suffix_ids, "prompt_cache": cached.state}
            steps = stream_generate(model, processor, "", **inputs, max_tokens=12, temperature=0.0)
        found[sample.id] = [
            (int(s.token), float(np.asarray(s.logprobs.astype(mx.float32)).max()))
            for s in steps
            if s.logprobs is not None
        ]
    assert settings.log_path
    return found


def test_a_second_question_on_an_image_reuses_what_came_before(backend: MlxBackend) -> None:
    first, second = (backend.submit(prompt_for(s)).result() for s in questions_on_one_image(2))
    assert first.cached_tokens == 0
    assert second.cached_tokens is not None
    assert second.cached_tokens > 0


def test_answers_do_not_depend_on_order_or_reuse(settings: Make) -> None:
    samples = questions_on_one_image(2)
    texts = []
    for reuse, order in ((True, samples), (True, samples[::-1]), (False, samples)):
        opened = open_backend(resolve("tiny-8bit"), settings(image_reuse=reuse))
        try:
            texts.append({s.id: opened.submit(prompt_for(s)).result().text for s in order})
        finally:
            opened.close()
    assert texts[0] == texts[1] == texts[2]


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
    opened = open_backend(resolve("tiny-4bit"), settings())
    opened.close()
    with pytest.raises(BackendDied):
        opened.submit(text_prompt("hello")).result()


def test_a_folder_that_is_no_model_is_a_usage_problem(tmp_path: Path, settings: Make) -> None:
    with pytest.raises(UsageProblem, match="mlx-vlm cannot load"):
        open_backend(resolve(f"mlx:{tmp_path}"), settings())
    with pytest.raises(UsageProblem, match="there is no folder"):
        open_backend(resolve(f"mlx:{tmp_path}/absent"), settings())
