"""Rows of one batch do not touch each other: end, error, cancellation, counts and times are each one's own."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import CancelledError
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mlx_vlm import stream_generate

from bakeoff.backends.mlx import reuse
from bakeoff.backends.mlx.work import Worker
from bakeoff.errors import BackendDied, BackendError, BackendTimeout
from bakeoff.records import Output, Prompt, Sampling
from bakeoff.validity.sameness import ask, compare
from tests_unit.backends.mlx_cases import QUESTIONS, Make, asked, by_id, drawn_image, opened, traced

pytestmark = pytest.mark.real_runtime


def texts(count: int, *, max_tokens: int = 12) -> list[Prompt]:
    return [asked(f"text {n}", f"{QUESTIONS[n % 5]} {n}", max_tokens=max_tokens) for n in range(count)]


def test_each_row_ends_at_its_own_budget_or_stop(settings: Make) -> None:
    prompts = [asked(str(n), QUESTIONS[n % 5], max_tokens=n) for n in (1, 2, 5, 9, 40)]
    with opened(settings()) as backend:
        found = [backend.submit(prompt) for prompt in prompts]
        outputs = [future.result() for future in found]
    for prompt, output in zip(prompts, outputs, strict=True):
        assert output.completion_tokens is not None
        if output.finish_reason == "length":
            assert output.completion_tokens == prompt.max_tokens
        else:
            assert output.completion_tokens <= prompt.max_tokens
    assert {output.finish_reason for output in outputs} == {"length", "stop"}


def test_a_row_enters_while_others_are_being_decoded(settings: Make) -> None:
    """Two places and three prompts: the third takes the place of the short one and ends before the long one."""
    order: list[str] = []
    with opened(settings(concurrency=2)) as backend:
        futures = {}
        for name, budget in (("long", 60), ("short", 2), ("late", 2)):
            futures[name] = backend.submit(asked(name, "hello", max_tokens=budget, seed=3, sampling=Sampling(top_k=0)))
            futures[name].add_done_callback(partial(_note, order, name))
        outputs = {name: future.result() for name, future in futures.items()}
    assert (outputs["long"].completion_tokens or 0) > 4  # more than the short ones together
    assert order == ["short", "late", "long"]


def _note(order: list[str], name: str, _: object) -> None:
    order.append(name)


def test_a_token_beyond_the_tokenizer_is_the_error_of_its_row(settings: Make) -> None:
    wild = Sampling(temperature=80.0, top_k=0)
    calm = [traced(prompt) for prompt in texts(6)]
    with opened(settings(concurrency=1)) as backend:
        alone = ask(backend, by_id(calm), 1)
        fates = [error_of(backend, asked("wild", "hello", max_tokens=20, seed=n, sampling=wild)) for n in range(3)]
    bad = [asked(f"wild {n}", "hello", max_tokens=20, seed=n, sampling=wild) for n in range(3)]
    mixed = [prompt for pair in zip(calm[:3], bad, strict=True) for prompt in pair] + calm[3:]
    with opened(settings(concurrency=8)) as backend:
        together = ask(backend, by_id(mixed), 9)
    assert compare(alone, {prompt.sample_id: together[prompt.sample_id] for prompt in calm}).is_exact
    errors = [found if isinstance(found := together[prompt.sample_id], BackendError) else None for prompt in bad]
    assert [str(error) if error else None for error in errors] == fates
    assert any("which its tokenizer does not have" in str(fate) for fate in fates)


def error_of(backend: Any, prompt: Prompt) -> str | None:
    try:
        backend.submit(prompt).result()
    except BackendError as error:
        return str(error)
    return None


def test_a_row_that_breaks_the_batch_gets_the_error_alone(settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = [traced(prompt) for prompt in texts(8)]
    with opened(settings(concurrency=8)) as backend:
        before = ask(backend, by_id(prompts), 9)
        culprit, poison = only_this_one_says(before)
        model_type = type(backend._model.language_model)
        original = model_type.__call__

        def poisoned(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            if inputs.shape[1] == 1 and poison in np.asarray(inputs):
                raise RuntimeError("the accelerator gave up")
            return original(self, inputs, *args, **kwargs)

        monkeypatch.setattr(model_type, "__call__", poisoned)
        after = ask(backend, by_id(prompts), 9)
        monkeypatch.undo()
        assert isinstance(after[culprit], BackendError)
        assert "the accelerator gave up" in str(after[culprit])
        others = {name: output for name, output in before.items() if name != culprit}
        assert compare(others, {name: after[name] for name in others}).is_exact
        again = ask(backend, by_id(prompts), 9)
    assert compare(before, again).is_exact


def only_this_one_says(outputs: dict[str, Output | BackendError]) -> tuple[str, int]:
    """A sample and a token inside its answer that no other answer has, nor any prompt ends with."""
    said = {name: [token.id for token in output.trace.tokens] for name, output in outputs.items()}  # type: ignore[union-attr]  # all were answered
    counts = Counter(token for tokens in said.values() for token in set(tokens))
    for name, tokens in said.items():
        for token in tokens[1:-2]:
            if counts[token] == 1:
                return name, token
    pytest.fail("every token is said by several")


def test_a_prompt_that_cannot_be_prepared_leaves_the_others_alone(settings: Make, tmp_path: Path) -> None:
    good = drawn_image(tmp_path, 1)
    broken = drawn_image(tmp_path, 2)
    Path(broken.path).write_bytes(b"no image")
    prompts = [asked("first", "what?", good), asked("broken", "what?", broken), asked("last", "where?", good)]
    with opened(settings()) as backend:
        found = ask(backend, by_id(prompts), 3)
    assert isinstance(found["broken"], BackendError)
    assert isinstance(found["first"], Output)
    assert isinstance(found["last"], Output)


def test_a_cancelled_prompt_is_not_answered(settings: Make) -> None:
    with opened(settings(concurrency=1)) as backend:
        futures = [backend.submit(prompt) for prompt in texts(8)]
        futures[-1].cancel()
        futures[-2].cancel()
        assert all(future.result().text for future in futures[:-2])
        for future in futures[-2:]:
            with pytest.raises(CancelledError):
                future.result()


def test_closing_ends_the_answers_in_work(settings: Make) -> None:
    endless = [
        asked(str(n), "hello", max_tokens=100_000, seed=n, sampling=Sampling(temperature=1.0, repetition_penalty=9.0))
        for n in range(12)
    ]
    with opened(settings(concurrency=4)) as backend:
        futures = [backend.submit(prompt) for prompt in endless]
        backend.submit(asked("quick", "hello", max_tokens=1))
    assert all(future.done() for future in futures)
    died = [future for future in futures if isinstance(future.exception(), BackendDied)]
    assert len(died) >= len(futures) - 4
    backend.close()
    with pytest.raises(BackendDied):
        backend.submit(endless[0]).result()


def test_work_that_breaks_off_fails_all_that_waits_and_all_that_comes(
    settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> None:
        raise MemoryError("the device is gone")

    monkeypatch.setattr(Worker, "_step", lost)
    with opened(settings(concurrency=2)) as backend:
        waiting = [backend.submit(prompt) for prompt in texts(8)]
        for future in waiting:
            with pytest.raises(BackendDied, match="the device is gone"):
                future.result()
        with pytest.raises(BackendDied, match="the device is gone"):
            backend.submit(texts(1)[0]).result()
        with pytest.raises(BackendDied, match="the device is gone"):
            backend.restart()


@pytest.fixture(params=["batched", "one at a time"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "one at a time":
        monkeypatch.setattr(reuse, "REUSABLE_TYPES", frozenset())


@pytest.mark.usefixtures("way")
def test_an_answer_that_takes_too_long_is_a_timeout_of_its_own(settings: Make) -> None:
    with opened(settings(timeout_s=0.0)) as backend:
        endless = backend.submit(asked("endless", "hello", max_tokens=100_000))
        quick = backend.submit(asked("quick", "hello", max_tokens=1))
        with pytest.raises(BackendTimeout, match="no whole answer"):
            endless.result()
        assert quick.result().completion_tokens == 1


def test_closing_ends_an_answer_that_is_given_alone(settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "REUSABLE_TYPES", frozenset())
    begun = threading.Event()
    with opened(settings()) as backend:

        def slow(*args: Any, **kwargs: Any) -> Iterator[Any]:
            for step in stream_generate(*args, **kwargs):
                begun.set()
                backend._owner.closed.wait()
                yield step

        monkeypatch.setattr("bakeoff.backends.mlx.plain.stream_generate", slow)
        future = backend.submit(asked("long", "hello", max_tokens=50))
        begun.wait()
    with pytest.raises(BackendDied, match="was closed"):
        future.result()


def test_a_model_that_is_not_batched_gives_the_same_answers_one_at_a_time(
    settings: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = drawn_image(tmp_path, 1)
    ways = [Sampling(temperature=0.0), Sampling(temperature=2.0, top_k=9), Sampling(temperature=2.0, min_p=0.1)]
    prompts = [
        traced(asked(str(n), QUESTIONS[n], *[image] * (n < 2), max_tokens=budget, sampling=way, seed=n))
        for n, (budget, way) in enumerate(zip((1, 40, 7), ways, strict=True))
    ]
    given = (5, 9, 17)
    with opened(settings()) as backend:
        batched = ask(backend, by_id(prompts), 4)
        held = [backend.force(prompt, given).result().tokens for prompt in prompts]
    monkeypatch.setattr(reuse, "REUSABLE_TYPES", frozenset())
    with opened(settings()) as backend:
        assert backend.capabilities.slots == 1
        plain = ask(backend, by_id(prompts), 4)
        assert [backend.force(prompt, given).result().tokens for prompt in prompts] == held
    assert compare(plain, batched).is_exact
    for name, output in plain.items():
        other = batched[name]
        assert isinstance(output, Output)
        assert isinstance(other, Output)
        assert (output.finish_reason, output.completion_tokens) == (other.finish_reason, other.completion_tokens)


def test_forced_tokens_are_as_likely_as_when_they_were_drawn(settings: Make, tmp_path: Path) -> None:
    prompt = traced(asked("one", QUESTIONS[0], drawn_image(tmp_path, 1), max_tokens=8))
    with opened(settings()) as backend:
        output = backend.submit(prompt).result()
        assert output.trace is not None
        tokens = output.trace.tokens
        first = backend.force(prompt, tuple(token.id for token in tokens)).result()
    with opened(settings(image_reuse=False)) as backend:
        without = backend.force(prompt, tuple(token.id for token in tokens)).result()
    assert first == without
    assert [token.logprob for token in first.tokens] == pytest.approx([token.logprob for token in tokens], abs=0.05)


def test_times_are_each_ones_own_and_waiting_is_not_latency(settings: Make) -> None:
    with opened(settings(concurrency=2)) as backend:
        began = time.perf_counter()
        futures = [backend.submit(prompt) for prompt in texts(5, max_tokens=6)]
        outputs = [future.result() for future in futures]
        wall_s = time.perf_counter() - began
    for output in outputs:
        assert 0 < told(output.prefill_s) <= told(output.ttft_s)
        assert told(output.total_s) == told(output.ttft_s) + told(output.decode_s)
        assert told(output.queue_s) + told(output.total_s) <= wall_s
    assert sum(told(output.prefill_s) for output in outputs) <= wall_s  # nobody's prefill is told by two
    last = outputs[-1]
    assert told(last.queue_s) >= min(told(output.decode_s) for output in outputs[:2])  # waited for a place


def told(seconds: float | None) -> float:
    assert seconds is not None
    return seconds


def test_an_answer_of_one_token_has_no_decoding(settings: Make) -> None:
    with opened(settings()) as backend:
        output = backend.submit(asked("one", "hello", max_tokens=1)).result()
    assert (output.completion_tokens, output.decode_s) == (1, 0.0)
