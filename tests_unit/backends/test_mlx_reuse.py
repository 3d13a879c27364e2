"""Work on images is done once for all questions on them, within a bound of memory."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.backends.mlx.reuse import Memory
from bakeoff.records import Output
from bakeoff.validity.sameness import ask, compare
from tests_unit.backends.mlx_cases import (
    QUESTIONS,
    Make,
    asked,
    by_id,
    drawn_image,
    many_questions,
    opened,
    small_images,
    traced,
)

pytestmark = pytest.mark.real_runtime


class Counted:
    """How often the images of prompts were encoded and preprocessed."""

    encoded = 0
    preprocessed = 0


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    from mlx_vlm.models.lfm2_vl.lfm2_vl import Model  # noqa: PLC0415 - the runtime is loaded only where it is tested
    from mlx_vlm.models.lfm2_vl.processing_lfm2_vl import Lfm2VlNumpyImageProcessor  # noqa: PLC0415

    counts = Counted()
    encode, preprocess = Model.encode_images, Lfm2VlNumpyImageProcessor.preprocess

    def encode_images(self: Any, *args: Any, **kwargs: Any) -> Any:
        counts.encoded += 1
        return encode(self, *args, **kwargs)

    def preprocess_images(self: Any, *args: Any, **kwargs: Any) -> Any:
        counts.preprocessed += 1
        return preprocess(self, *args, **kwargs)

    monkeypatch.setattr(Model, "encode_images", encode_images)
    monkeypatch.setattr(Lfm2VlNumpyImageProcessor, "preprocess", preprocess_images)
    return counts


def test_questions_in_flight_on_one_image_share_its_encoding_and_prefill(
    settings: Make, tmp_path: Path, counted: Counted
) -> None:
    images = (drawn_image(tmp_path, 1), drawn_image(tmp_path, 2))
    with opened(settings()) as backend:
        futures = [backend.submit(asked(question, question, *images)) for question in QUESTIONS]
        outputs = [future.result() for future in futures]
    assert (counted.encoded, counted.preprocessed) == (1, 1)
    assert outputs[0].cached_tokens == 0
    (shared,) = {output.cached_tokens or 0 for output in outputs[1:]}
    for output in outputs:
        assert output.prompt_tokens is not None
        assert output.image_tokens is not None
        assert output.image_tokens <= shared < output.prompt_tokens  # all images, and not the question


def test_other_text_before_an_image_reuses_its_features_and_not_its_state(
    settings: Make, tmp_path: Path, counted: Counted
) -> None:
    image = drawn_image(tmp_path, 1)
    prompts = [traced(asked(system, "what?", image, system=system)) for system in ("Be short.", "Be long.", "")]
    with opened(settings()) as backend:
        reused = ask(backend, by_id(prompts), 3)
    assert (counted.encoded, counted.preprocessed) == (1, 1)
    assert [output.cached_tokens for output in reused.values() if isinstance(output, Output)] == [0, 0, 0]
    with opened(settings(image_reuse=False)) as backend:
        plain = ask(backend, by_id(prompts), 3)
    assert compare(plain, reused).is_exact


def test_the_order_of_two_images_matters(settings: Make, tmp_path: Path, counted: Counted) -> None:
    one, other = drawn_image(tmp_path, 1), drawn_image(tmp_path, 2)
    with opened(settings()) as backend:
        backend.submit(asked("a", "what?", one, other)).result()
        output = backend.submit(asked("b", "what?", other, one)).result()
    assert (output.cached_tokens, counted.encoded) == (0, 2)


def test_without_reuse_every_question_does_its_own_work(settings: Make, tmp_path: Path, counted: Counted) -> None:
    image = drawn_image(tmp_path, 1)
    with opened(settings(image_reuse=False)) as backend:
        outputs = [backend.submit(asked(question, question, image)).result() for question in QUESTIONS[:3]]
    assert (counted.encoded, counted.preprocessed) == (3, 3)
    assert [output.cached_tokens for output in outputs] == [0, 0, 0]


def test_the_encoders_time_is_a_part_of_prefill_and_nothing_for_a_later_question(
    settings: Make, tmp_path: Path
) -> None:
    image = drawn_image(tmp_path, 1)
    with opened(settings()) as backend:
        first, later = (backend.submit(asked(question, question, image)).result() for question in QUESTIONS[:2])
        text = backend.submit(asked("text", "what?")).result()
    assert first.image_encode_s is not None
    assert first.prefill_s is not None
    assert 0 < first.image_encode_s < first.prefill_s
    assert later.image_encode_s == 0
    assert text.image_encode_s is None


@pytest.mark.parametrize("limit", [0, 500_000])
def test_a_bound_of_memory_drops_work_and_changes_no_answer(settings: Make, tmp_path: Path, limit: int) -> None:
    prompts = by_id([traced(prompt) for prompt in many_questions(tmp_path, images=3)])
    there_and_back = {**prompts, **{f"{name} again": prompt for name, prompt in prompts.items()}}
    with opened(settings()) as backend:
        small_images(backend)
        plain = ask(backend, there_and_back, 9)
    with opened(settings(reuse_bytes=limit)) as backend:
        small_images(backend)
        bounded = ask(backend, there_and_back, 9)
        assert backend._memory is not None
        assert backend._memory.held <= limit
    assert compare(plain, bounded).is_exact
    assert cached(bounded) < cached(plain)


def cached(outputs: dict[str, Any]) -> int:
    return sum(output.cached_tokens for output in outputs.values())


def test_memory_drops_what_was_not_used_for_longest() -> None:
    memory = Memory(100)
    memory.put(("a",), "A", 40)
    memory.put(("b",), "B", 40)
    assert memory.get(("a",)) == "A"
    memory.put(("c",), "C", 40)
    assert [key in memory for key in (("a",), ("b",), ("c",))] == [True, False, True]
    assert memory.held == 80


def test_memory_does_not_keep_what_is_larger_than_it() -> None:
    memory = Memory(100)
    memory.put(("a",), "A", 40)
    memory.put(("b",), "B", 101)
    assert (memory.get(("a",)), memory.get(("b",)), memory.held) == ("A", None, 40)


def test_memory_counts_a_thing_once_that_is_put_again() -> None:
    memory = Memory(100)
    memory.put(("a",), "A", 40)
    memory.put(("a",), "AA", 60)
    assert (memory.get(("a",)), memory.held) == ("AA", 60)
