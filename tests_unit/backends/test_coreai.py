"""The Core AI arm on the embedded checkpoint, through a double of the runtime's published interface."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from bakeoff.backends import Settings
from bakeoff.backends.coreai import backend as coreai
from bakeoff.backends.coreai.backend import CoreAiBackend
from bakeoff.backends.coreai.decoder import CHUNK
from bakeoff.errors import BackendDied, BackendError, BackendTimeout, ContextOverflow, UsageProblem
from bakeoff.records import Image, Output, Prompt, Sample, Sampling
from tests_unit.backends.conftest import calibration, spoiled, text_prompt
from tests_unit.backends.coreai_cases import as_view, compiler, model_in, opened
from tests_unit.backends.mlx_cases import asked, opened as opened_mlx
from tests_unit.doubles import coreai_runtime

pytestmark = pytest.mark.real_runtime

Make = Callable[..., Settings]
FAMILIES = ("h9", "h15g", "h20")


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A macOS 27 with a compiler and a cache of its own."""
    coreai_runtime.install(monkeypatch)
    monkeypatch.setenv("BAKEOFF_CACHE", str(tmp_path / "cache"))
    compiler(tmp_path / "bin", monkeypatch, families=FAMILIES)


@pytest.fixture
def arm(tmp_path: Path, settings: Make) -> Iterator[CoreAiBackend]:
    with opened(settings(), model_in(tmp_path / "model")) as backend:
        yield backend


def view(folder: Path) -> Image:
    return as_view(calibration()[0].images[0], folder)


def decoder_calls() -> list[tuple[int, int]]:
    """Tokens and last position of every call of the decoder so far."""
    return [(len(call["tokens"]), call["end"]) for call in coreai_runtime.calls if call["function"] == "decode"]


def real_questions(folder: Path, count: int) -> list[Prompt]:
    """Samples of the calibration track on their own images, stretched to the view, with their system prompts."""
    found: dict[tuple[str, str | None], Sample] = {}
    for sample in calibration():
        if len(sample.images) == 1:
            found.setdefault((sample.groups["family"], sample.system), sample)
    return [
        asked(s.id, s.question, as_view(s.images[0], folder), system=s.system or "", max_tokens=12, top_logprobs=3)
        for s in list(found.values())[:count]
    ]


@pytest.mark.slow
def test_greedy_answers_are_those_of_the_checkpoint_on_mlx_chunked_and_token_by_token(
    tmp_path: Path, settings: Make
) -> None:
    prompts = real_questions(tmp_path, 4)
    assert any(message.role == "system" for prompt in prompts for message in prompt.messages)
    with opened_mlx(settings(image_reuse=False, concurrency=1)) as mlx:
        expected = [mlx.submit(prompt).result() for prompt in prompts]
    assert len({output.text for output in expected}) > 1
    for name, most in (("chunked", 10**6), ("token by token", 1)):
        coreai_runtime.calls.clear()
        with opened(settings(), model_in(tmp_path / name, most=most)) as backend:
            found = [backend.submit(prompt).result() for prompt in prompts]
        for ours, theirs in zip(found, expected, strict=True):
            assert_same_answer(ours, theirs)
        assert (CHUNK in {count for count, _ in decoder_calls()[2:]}) == (most > 1)


def assert_same_answer(ours: Output, theirs: Output) -> None:
    for field in ("text", "finish_reason", "prompt_tokens", "image_tokens", "completion_tokens", "thinking_tokens"):
        assert getattr(ours, field) == getattr(theirs, field), field
    assert ours.trace is not None
    assert theirs.trace is not None
    for field in ("rendered", "text_ids", "bos", "image_tokens", "tiles"):
        assert getattr(ours.trace, field) == getattr(theirs.trace, field), field
    for a, b in zip(ours.trace.tokens, theirs.trace.tokens, strict=True):
        assert a.id == b.id
        assert a.logprob == pytest.approx(b.logprob, abs=0.05)  # the decoder's logits are halves


def test_twenty_tokens_are_read_in_three_calls_and_each_new_one_in_its_own(arm: CoreAiBackend) -> None:
    filler = next(n for n in range(1, 40) if length_of(arm, "a" * n) == 20)
    coreai_runtime.calls.clear()
    arm.submit(text_prompt("a" * filler, max_tokens=1)).result()
    assert decoder_calls() == [(9, 8), (9, 17), (2, 19)]
    coreai_runtime.calls.clear()
    output = arm.submit(text_prompt("a" * filler, max_tokens=3)).result()
    assert output.completion_tokens is not None
    steps = [(1, 20 + n) for n in range(output.completion_tokens - 1)]  # the last token is not read again
    assert decoder_calls() == [(9, 8), (9, 17), (2, 19), *steps]


def length_of(arm: CoreAiBackend, text: str) -> int | None:
    return arm.submit(text_prompt(text, max_tokens=1)).result().prompt_tokens


def test_after_a_refused_chunk_the_prompt_begins_anew_and_chunks_are_not_tried_again(
    tmp_path: Path, settings: Make
) -> None:
    with opened(settings(), model_in(tmp_path / "model", most=1)) as backend:
        prompt = msgspec.structs.replace(text_prompt("Which number is larger?"), top_logprobs=3)
        first = backend.submit(prompt).result()
        calls = decoder_calls()
        assert calls[:3] == [(CHUNK, CHUNK - 1), (1, 0), (1, 1)]
        again = backend.submit(prompt).result()
        assert again.trace == first.trace  # to the last digit: nothing of the refused chunk is left
        assert {count for count, _ in decoder_calls()[len(calls) :]} == {1}


def test_a_decoder_that_states_one_token_is_not_asked_for_more(tmp_path: Path, settings: Make) -> None:
    with opened(settings(), model_in(tmp_path / "model", width=1)) as backend:
        backend.submit(text_prompt("Hello")).result()
        assert {count for count, _ in decoder_calls()} == {1}
        assert backend.identity["chunk"] == 1


@pytest.mark.slow
def test_image_rows_are_tokens_behind_the_vocabulary(arm: CoreAiBackend, tmp_path: Path) -> None:
    arm.submit(text_prompt("What is it?", view(tmp_path), max_tokens=1)).result()
    tokens = list(itertools.chain.from_iterable(c["tokens"] for c in coreai_runtime.calls if "tokens" in c))
    assert [token for token in tokens if token >= 640] == list(range(640, 640 + 256))


@pytest.mark.slow
def test_the_encoder_runs_once_for_questions_on_one_image(arm: CoreAiBackend, tmp_path: Path) -> None:
    image = view(tmp_path)
    first, second = (arm.submit(text_prompt("What is it?", image, max_tokens=2)).result() for _ in range(2))
    assert [call["function"] for call in coreai_runtime.calls].count("vision") == 1
    assert first.text == second.text
    assert first.image_encode_s is not None
    assert second.image_encode_s is not None
    assert first.image_encode_s > second.image_encode_s


@pytest.mark.slow
def test_times_add_up(arm: CoreAiBackend, tmp_path: Path) -> None:
    output = arm.submit(text_prompt("What is it?", view(tmp_path))).result()
    assert output.total_s is not None
    assert output.ttft_s is not None
    assert output.prefill_s is not None
    assert output.decode_s is not None
    assert output.total_s == pytest.approx(output.ttft_s + output.decode_s)
    assert output.ttft_s > output.prefill_s > 0
    assert output.peak_memory_bytes is None


@pytest.mark.slow
def test_draws_depend_on_the_seed_alone(arm: CoreAiBackend) -> None:
    hot = Sampling(temperature=2.0, top_k=20)
    prompts = [asked(str(seed), "Say a word.", sampling=hot, seed=seed, max_tokens=8) for seed in range(5)]
    first = [arm.submit(prompt).result().text for prompt in prompts]
    again = [arm.submit(prompt).result().text for prompt in reversed(prompts)][::-1]
    assert first == again
    assert len(set(first)) > 1


@pytest.mark.slow
def test_given_words_are_weighed_as_they_are_when_said(arm: CoreAiBackend, tmp_path: Path) -> None:
    prompt = msgspec.structs.replace(
        text_prompt("What is it?", view(tmp_path)), top_logprobs=3, sampling=Sampling(temperature=0)
    )
    said = arm.submit(prompt).result().trace
    assert said is not None
    given = arm.force(prompt, tuple(token.id for token in said.tokens)).result()
    assert given.tokens == said.tokens
    assert arm.force(prompt, ()).result().tokens == ()


def test_prompt_and_budget_must_fit_the_positions(tmp_path: Path, settings: Make) -> None:
    with opened(settings(), model_in(tmp_path / "model", positions=300)) as backend:
        short = backend.submit(text_prompt("Hi", max_tokens=280)).result()
        assert short.completion_tokens is not None
        with pytest.raises(ContextOverflow, match="300 positions"):
            backend.submit(text_prompt("Hi", view(tmp_path), max_tokens=64)).result()
        assert backend.identity["positions"] == 300


def test_more_than_one_image_is_refused_and_declared(arm: CoreAiBackend, tmp_path: Path) -> None:
    image = view(tmp_path)
    assert arm.capabilities.max_images == 1
    with pytest.raises(BackendError, match="one image a prompt"):
        arm.submit(text_prompt("Compare.", image, image)).result()


def test_what_is_wrong_with_a_prompt_spares_the_next(arm: CoreAiBackend, tmp_path: Path) -> None:
    broken = spoiled(calibration()[0].images[0], tmp_path)
    with pytest.raises(BackendError, match="is not the one that was prepared"):
        arm.submit(text_prompt("What is it?", broken)).result()
    with pytest.raises(BackendError, match="2 image markers for 1 images"):
        arm.submit(text_prompt("What is <image>?", view(tmp_path))).result()
    assert arm.submit(text_prompt("Hello")).result().completion_tokens


def test_an_answer_that_takes_too_long_is_ended(tmp_path: Path, settings: Make) -> None:
    with (
        opened(settings(timeout_s=0.0), model_in(tmp_path / "model")) as backend,
        pytest.raises(BackendTimeout, match="--timeout"),
    ):
        backend.submit(text_prompt("Hello")).result()


def test_closing_fails_what_waits_and_closing_twice_is_fine(tmp_path: Path, settings: Make) -> None:
    with opened(settings(), model_in(tmp_path / "model")) as backend:
        futures = [backend.submit(text_prompt("Hello", max_tokens=200)) for _ in range(4)]
        backend.close()
        assert any(isinstance(future.exception(), BackendDied) for future in futures)
        with pytest.raises(BackendDied):
            backend.submit(text_prompt("Hello")).result()


def test_the_identity_names_all_that_moves_a_score(arm: CoreAiBackend) -> None:
    assert arm.identity["compiled"] == "tiny_decode.h20.aimodelc"
    assert arm.identity["texts_sha256"].keys() >= {"config.json", "tokenizer.json", "preprocessor_config.json"}
    assert arm.load_s > 0


def test_a_runtime_that_does_not_start_is_a_usage_problem(
    tmp_path: Path, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise OSError("no such framework")

    monkeypatch.setattr(coreai, "Runtime", broken)
    with (
        pytest.raises(UsageProblem, match=r"Core AI cannot load it: .*no such framework"),
        opened(settings(), model_in(tmp_path / "model")),
    ):
        pass


def test_files_of_another_model_are_refused(tmp_path: Path, settings: Make) -> None:
    folder = model_in(tmp_path / "model")
    config = folder / "config.json"
    text = config.read_text("utf-8")
    config.unlink()
    config.write_text(text.replace('"num_key_value_heads": 2', '"num_key_value_heads": 4'), "utf-8")
    with pytest.raises(UsageProblem, match="belong to different models"), opened(settings(), folder):
        pass
