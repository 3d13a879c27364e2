"""Answering one prompt at a time with the two compiled functions: picture, prompt, tokens, and what they took."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bakeoff.backends.coreai.decoder import Decoder, Reading
from bakeoff.backends.coreai.pictures import patches_of
from bakeoff.backends.coreai.prompts import Ready, Texts
from bakeoff.backends.coreai.runtime import Function
from bakeoff.backends.coreai.shape import Norms, Shape
from bakeoff.backends.images import image_bytes, picture_of
from bakeoff.backends.numpy_sampling import Sampler, token_of
from bakeoff.backends.owner import Job
from bakeoff.errors import BackendDied, BackendError, BackendTimeout, ContextOverflow
from bakeoff.records import Output, Prompt
from bakeoff.text import thought
from bakeoff.traces import Token, Trace


class Answerer:
    """Answers jobs on the thread that owns the functions.

    Args:
        texts: tokenizer and template.
        vision: makes rows of embeddings of patches.
        decoder: reads tokens.
        shape: the model's sizes.
        norms: how pixels become values.
        kept_images: how many images' embeddings are kept for the next question on them.
        timeout_s: how long an answer may take; looked at between calls.
        is_closed: whether the backend is being closed.
    """

    def __init__(
        self,
        texts: Texts,
        vision: Function,
        decoder: Decoder,
        *,
        shape: Shape,
        norms: Norms,
        kept_images: int,
        timeout_s: float,
        is_closed: Callable[[], bool],
    ) -> None:
        self._texts = texts
        self._vision = vision
        self._decoder = decoder
        self._shape = shape
        self._norms = norms
        self._kept_images = kept_images
        self._timeout_s = timeout_s
        self._is_closed = is_closed
        self._seen: OrderedDict[str, NDArray[Any]] = OrderedDict()

    def answer(self, job: Job) -> Output | Trace:
        """Return the answer, or the log-probabilities of the one that is given."""
        return self._output(job) if job.tokens is None else self._forced(job, job.tokens)

    def _output(self, job: Job) -> Output:
        prompt, began = job.prompt, time.perf_counter()
        ready, embeddings, encode_s = self._begin(prompt, prompt.max_tokens)
        started = time.perf_counter()
        reading, logits = self._decoder.prefill(ready.ids, embeddings, lambda: self._look(began))
        sampler, drawn, kept = Sampler(prompt.sampling, prompt.seed), [ready.ids[-1]], []
        first_at = 0.0
        finish: Literal["stop", "length"] | None = None
        while finish is None:
            token = sampler.draw(logits, drawn)
            first_at = first_at or time.perf_counter()
            drawn.append(token)
            if prompt.top_logprobs:
                kept.append(token_of(logits, token, prompt.top_logprobs))
            if token in self._texts.stops:
                finish = "stop"
            elif len(drawn) > prompt.max_tokens:
                finish = "length"
            else:
                self._look(began)
                logits = reading.read([token])
        ended = time.perf_counter()
        text = self._texts.text(drawn[1:-1] if finish == "stop" else drawn[1:])
        return Output(
            text=text,
            finish_reason=finish,
            prompt_tokens=len(ready.ids),
            image_tokens=ready.image_tokens,
            completion_tokens=len(drawn) - 1,
            thinking_tokens=len(self._texts.tokens(thought(text))),
            cached_tokens=0,
            queue_s=began - job.queued_at,
            ttft_s=first_at - began,
            prefill_s=first_at - started + (encode_s or 0.0),
            image_encode_s=encode_s,
            decode_s=ended - first_at,
            total_s=ended - began,
            trace=self._texts.trace(ready, tuple(kept)) if prompt.top_logprobs else None,
        )

    def _forced(self, job: Job, tokens: tuple[int, ...]) -> Trace:
        """Read the prompt, then the given tokens one after the other, and return how likely each of them was."""
        began = time.perf_counter()
        ready, embeddings, _ = self._begin(job.prompt, len(tokens))
        found: list[Token] = []
        if tokens:
            reading, logits = self._decoder.prefill(ready.ids, embeddings, lambda: self._look(began))
            for token in tokens[:-1]:
                found.append(token_of(logits, token, job.prompt.top_logprobs))
                logits = self._next(reading, token, began)
            found.append(token_of(logits, tokens[-1], job.prompt.top_logprobs))
        return self._texts.trace(ready, tuple(found))

    def _next(self, reading: Reading, token: int, began: float) -> NDArray[Any]:
        self._look(began)
        return reading.read([token])

    def _begin(self, prompt: Prompt, budget: int) -> tuple[Ready, NDArray[Any], float | None]:
        """Return the prompt as tokens, its image's embeddings (zeros without one), and the seconds of its encoder."""
        if len(prompt.images) > 1:
            raise BackendError(f"Core AI takes one image a prompt and {prompt.sample_id} has {len(prompt.images)}")
        ready = self._texts.ready(prompt)
        if len(ready.ids) + budget > self._decoder.positions:
            raise ContextOverflow(
                f"{prompt.sample_id} needs {len(ready.ids)} tokens and {budget} for the answer; "
                f"the compiled decoder has {self._decoder.positions} positions. Lower --max-tokens"
            )
        if not prompt.images:
            return ready, np.zeros((self._shape.image_tokens, self._shape.hidden), np.float16), None
        image = prompt.images[0]
        content = image_bytes(image)
        began = time.perf_counter()
        found = self._seen.pop(image.sha256, None)
        if found is None:
            patches = patches_of(picture_of(content), self._shape, self._norms)
            began = time.perf_counter()
            found = self._vision({"patches": patches})["image_embeds"]
        took = time.perf_counter() - began
        if self._kept_images:
            self._seen[image.sha256] = found
            while len(self._seen) > self._kept_images:
                self._seen.popitem(last=False)
        return ready, found, took

    def _look(self, began: float) -> None:
        """Stop a prompt between two calls when its time is up or the backend closes."""
        if self._is_closed():
            raise BackendDied("the Core AI model was closed")
        if time.perf_counter() - began > self._timeout_s:
            raise BackendTimeout(f"no answer within {self._timeout_s:g} s; allow more with --timeout")
