"""Answering one prompt at a time through mlx-vlm's own `stream_generate`, for models that are not batched here."""

import contextlib
import threading
import time
from typing import Any

import mlx.core as mx
from mlx_vlm import stream_generate

from bakeoff.backends.backend import REPEAT_WINDOW
from bakeoff.backends.mlx.rows import Row
from bakeoff.backends.mlx.trace import token_of
from bakeoff.errors import BackendDied, BackendError, BackendTimeout


def answer(model: Any, processor: Any, row: Row, *, timeout_s: float, closed: threading.Event) -> None:
    """Fill `row` with the answer to its prompt; every sampling field is explicit.

    Raises:
        BackendDied: when `closed` is set before the answer is whole.
        BackendTimeout: when the answer is not whole after `timeout_s` seconds; it is looked at between tokens.
        BackendError: when the model gave no token.
    """
    held: int | None = None
    began = time.perf_counter()
    with contextlib.closing(_stream(model, processor, row)) as steps:
        for step in steps:
            now = time.perf_counter()
            if step.token is None:
                continue
            if held is None:
                row.has_first_token()
            is_new = step.finish_reason in {None, "stop"}  # at the end of a budget the last token comes again
            if row.prompt.top_logprobs and is_new:
                row.tokens.append(token_of(step.logprobs, int(step.token), row.prompt.top_logprobs))
            if held is not None:
                row.take(held, None if is_new else "length", step_s=now - began)
            if step.finish_reason == "stop":
                row.take(int(step.token), "stop", step_s=0.0)
            held, began = int(step.token), now
            if step.finish_reason is None and step.generation_tokens < row.prompt.max_tokens:
                _go_on(row, timeout_s, closed)
    if held is None:
        raise BackendError("mlx-vlm gave no token")


def _go_on(row: Row, timeout_s: float, closed: threading.Event) -> None:
    """Raise when there is no time for another token."""
    if closed.is_set():
        raise BackendDied("the MLX model was closed")
    if row.age_s > timeout_s:
        raise BackendTimeout(f"no whole answer from mlx-vlm within {timeout_s:.0f} s")


def _stream(model: Any, processor: Any, row: Row) -> Any:
    prompt, sampling = row.prompt, row.prompt.sampling
    mx.random.seed(prompt.seed)
    return stream_generate(
        model,
        processor,
        "",
        input_ids=mx.array([row.prepared.ids]),
        mask=row.prepared.mask,
        **(row.prepared.pixels or {}),
        max_tokens=prompt.max_tokens,
        seed=prompt.seed,
        temperature=sampling.temperature,
        top_k=sampling.top_k,
        top_p=sampling.top_p,
        min_p=sampling.min_p,
        repetition_penalty=sampling.repetition_penalty,
        repetition_context_size=REPEAT_WINDOW,
    )
