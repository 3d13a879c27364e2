"""The same answers to the last bit, on the CPU device: whatever is reused, whoever is in the batch, however drawn."""

import copy
import itertools
import shutil
from pathlib import Path
from typing import Any

import pytest

from bakeoff.backends.mlx import reuse as mlx_reuse
from bakeoff.records import Prompt, Sample
from bakeoff.validity.sameness import Sameness, ask, compare
from tests_unit.backends.conftest import calibration, prompt_for
from tests_unit.backends.mlx_cases import (
    MIXED,
    QUESTIONS,
    Make,
    asked,
    by_id,
    drawn_image,
    many_questions,
    one_of_each_size,
    opened,
    questions_on_one_image,
    small_images,
    stored,
    traced,
)
from tests_unit.whole import IS_WHOLE

pytestmark = pytest.mark.real_runtime


def answers(settings: Any, prompts: list[Prompt], in_flight: int, model: str = "tiny-bf16") -> dict[str, Any]:
    with opened(settings, model) as backend:
        return ask(backend, by_id([traced(prompt) for prompt in prompts]), in_flight)


@pytest.mark.slow
def test_hundreds_of_samples_are_the_same_with_and_without_reuse_alone_and_together(
    settings: Make, tmp_path: Path
) -> None:
    prompts = by_id([traced(prompt) for prompt in many_questions(tmp_path, images=102 if IS_WHOLE else 21)])
    assert len(prompts) >= (500 if IS_WHOLE else 100)
    few = dict(list(prompts.items())[: len(prompts) // 5])

    def of(part: dict[str, Prompt], *, reuse: bool, rows: int) -> dict[str, Any]:
        with opened(settings(image_reuse=reuse, concurrency=rows)) as backend:
            small_images(backend)
            return ask(backend, part, rows + 1)

    plain = of(prompts, reuse=False, rows=1)
    found = compare(plain, of(prompts, reuse=True, rows=8))
    assert found == Sameness(n=len(prompts), largest=0.0)
    for reuse, rows in ((True, 1), (False, 8)):
        assert compare({name: plain[name] for name in few}, of(few, reuse=reuse, rows=rows)).is_exact


@pytest.mark.slow
def test_every_size_of_image_answers_as_in_mlx_vlms_own_loop(settings: Make) -> None:
    """Ours, with trimming, reuse and a batch, against `stream_generate` from the files."""
    samples = [*one_of_each_size(), *questions_on_one_image(2)]
    prompts = [prompt_for(sample, max_tokens=8) for sample in samples]
    found = answers(settings(), prompts, 8)
    for prompt in prompts:
        output = found[prompt.sample_id]
        assert [(token.id, token.top[0][1]) for token in output.trace.tokens] == _raw(prompt)


@pytest.mark.slow
def test_draws_are_those_of_mlx_vlms_own_loop_in_any_company(settings: Make) -> None:
    prompts = mixed_prompts()
    together = answers(settings(concurrency=8), prompts, 9)
    alone = answers(settings(concurrency=1), prompts[::-1], 1)
    assert compare(alone, together) == Sameness(n=len(prompts), largest=0.0)
    for prompt in prompts[:6]:
        assert [token.id for token in alone[prompt.sample_id].trace.tokens] == [token for token, _ in _raw(prompt)]


def mixed_prompts() -> list[Prompt]:
    samples = calibration()[:12]
    ways = [MIXED[place % len(MIXED)] for place in range(len(samples))]
    return [
        prompt_for(sample, sampling=way, seed=place, max_tokens=4 + place)
        for place, (sample, way) in enumerate(zip(samples, ways, strict=True))
    ]


_LOADED: list[Any] = []


def _raw(prompt: Prompt) -> list[tuple[int, float]]:
    """Tokens and the largest log-probability of each, by mlx-vlm alone, images read from their files."""
    import mlx.core as mx  # noqa: PLC0415 - the runtime is loaded only where it is tested
    from mlx_vlm import load, stream_generate  # noqa: PLC0415

    from bakeoff.backends.backend import REPEAT_WINDOW  # noqa: PLC0415
    from bakeoff.backends.mlx.prompts import Preparer  # noqa: PLC0415
    from bakeoff.models import resolve  # noqa: PLC0415

    if not _LOADED:
        _LOADED.extend(load(resolve("tiny-bf16").location))
    model, processor = _LOADED
    text = Preparer(model.config, processor, Path(), None).render(prompt)
    sampling = prompt.sampling
    mx.random.seed(prompt.seed)
    steps = stream_generate(
        model,
        processor,
        text,
        [image.path for image in prompt.images] or None,
        max_tokens=prompt.max_tokens,
        seed=prompt.seed,
        temperature=sampling.temperature,
        top_k=sampling.top_k,
        top_p=sampling.top_p,
        min_p=sampling.min_p,
        repetition_penalty=sampling.repetition_penalty,
        repetition_context_size=REPEAT_WINDOW,
    )
    told = [step for step in steps if step.finish_reason != "length"]
    rows = [step.logprobs.astype(mx.float32) for step in told]
    return [(int(step.token), float((row - mx.logsumexp(row)).max())) for step, row in zip(told, rows, strict=True)]


def conv_shared(state: list[Any]) -> list[Any]:
    """A copy of attention and the very list of the convolutions."""
    return [copy.deepcopy(entry) if hasattr(entry, "keys") else copy.copy(entry) for entry in state]


def entries_copied(state: list[Any]) -> list[Any]:
    return [copy.copy(entry) for entry in state]


def nothing_copied(state: list[Any]) -> list[Any]:
    return state


@pytest.mark.parametrize("way", [conv_shared, entries_copied, nothing_copied])
def test_a_copy_that_shares_state_is_found_out_by_log_probabilities(
    settings: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Any
) -> None:
    image = drawn_image(tmp_path, 3)
    prompts = [asked(str(place), question, image) for place, question in enumerate(QUESTIONS)]
    plain = answers(settings(image_reuse=False, concurrency=1), prompts, 1)
    assert compare(plain, answers(settings(), prompts, 5)).is_exact
    monkeypatch.setattr(mlx_reuse, "copied", way)
    assert compare(plain, answers(settings(), prompts, 5)).shifted


def test_two_images_with_one_name_size_and_prompt_get_their_own_answers(settings: Make, tmp_path: Path) -> None:
    first, second = canaries()
    prompts = []
    for place, sample in enumerate((first, second, first)):
        (tmp_path / str(place)).mkdir()
        path = Path(shutil.copy(sample.images[0].path, tmp_path / str(place) / "image.png"))
        prompts.append(asked(str(place), first.question, stored(path), max_tokens=32))
    plain = answers(settings(image_reuse=False, concurrency=1), prompts, 1)
    found = answers(settings(), prompts, 3)
    assert compare(plain, found).is_exact
    texts = [found[prompt.sample_id].text for prompt in prompts]
    assert texts[0] == texts[2] != texts[1]


def test_another_image_behind_a_path_gets_its_own_answer(settings: Make, tmp_path: Path) -> None:
    texts = []
    with opened(settings()) as backend:
        for sample in canaries():
            path = Path(shutil.copy(sample.images[0].path, tmp_path / "image.png"))
            prompt = asked("again", canaries()[0].question, stored(path), max_tokens=32)
            texts.append(backend.submit(prompt).result().text)
    assert texts[0] != texts[1]


def canaries() -> tuple[Sample, Sample]:
    """Two samples with one question and one size of image, and right answers of their own."""
    single = [sample for sample in calibration() if len(sample.images) == 1 and not sample.system]
    for one, other in itertools.combinations(single, 2):
        sizes = [(sample.images[0].width, sample.images[0].height) for sample in (one, other)]
        if one.question == other.question and sizes[0] == sizes[1] and one.target != other.target:
            return one, other
    pytest.fail("no two samples share question and size")


@pytest.mark.parametrize("model", ["tiny-8bit", "tiny-4bit"])
def test_quantised_weights_answer_the_same_together_as_alone(settings: Make, model: str) -> None:
    prompts = [prompt_for(sample, max_tokens=4) for sample in [*questions_on_one_image(2), calibration()[5]]]
    plain = answers(settings(image_reuse=False, concurrency=1), prompts, 1, model)
    assert compare(plain, answers(settings(), prompts, 3, model)).is_exact
