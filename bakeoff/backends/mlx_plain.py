"""Answering one prompt at a time through mlx-vlm's own `stream_generate`, for models that are not batched here."""

import time
from typing import Any

import mlx.core as mx
from mlx_vlm import stream_generate

from bakeoff.backends.llama_api import REPEAT_WINDOW
from bakeoff.backends.mlx_rows import Row
from bakeoff.backends.mlx_trace import token_of
from bakeoff.errors import BackendError


def answer(model: Any, processor: Any, row: Row) -> None:
    """Fill `row` with the answer to its prompt; every sampling field is explicit.

    Raises:
        BackendError: when the model gave no token.
    """
    held: int | None = None
    began = time.perf_counter()
    for step in _stream(model, processor, row):
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
    if held is None:
        raise BackendError("mlx-vlm gave no token")


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
