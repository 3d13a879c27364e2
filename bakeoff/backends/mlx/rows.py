"""One prompt on its way through the MLX backend, from the queue to its Output."""

import time
from typing import Any

import mlx.core as mx
from mlx_vlm.tokenizer_utils import make_streaming_detokenizer

from bakeoff.backends import owner
from bakeoff.backends.mlx.prompts import Prepared
from bakeoff.errors import BackendError
from bakeoff.records import Output
from bakeoff.traces import Token


class Job(owner.Job):
    """A prompt that was asked; `prepared` is there, and `prepare_s`, the time that it took, once preparing is over."""

    prepare_s = 0.0
    prepared: Prepared


class Row:
    """A job that the model is answering: the tokens so far and the moments that its times are made of.

    What the Output's times mean for a row of a batch, all of them wall time:

    * `ttft_s`: its own preparation, and from its place in the batch to its first token.
    * `prefill_s`: of that, the model's part: images if they were new, then the prompt. Nobody else is worked for.
    * `image_encode_s`: of that, the vision encoder's; 0 where its work was there from an earlier question.
    * `decode_s`: the steps after the first token in which it took part. A step serves all rows at once and takes longer
      than a step for one, so this is the latency of that company, not a share of the work.
    * `total_s`: `ttft_s` and `decode_s`.
    * `queue_s`: all the rest until its last token, which is waiting: for its preparation, for a place in the batch, and
      while the batch stood still for the prefill of others. It is no latency of the sample's own.
    """

    def __init__(self, job: Job, prepared: Prepared, processor: Any) -> None:
        self.job = job
        self.prompt = job.prompt
        self.prepared = prepared
        self.reused_tokens = 0
        self.encode_s: float | None = None
        self.tokens: list[Token] = []
        self.error: Exception | None = None
        self._detokenizer = make_streaming_detokenizer(processor)
        self._pieces: list[str] = []
        self._count = 0
        self._finish_reason: str | None = None
        self._placed_at = time.perf_counter()
        self._first_at = self._ended_at = self._placed_at
        self.decode_s = 0.0

    def has_first_token(self) -> None:
        """Note that the first token is there."""
        self._first_at = time.perf_counter()

    def take(self, token: int, finish_reason: str | None, *, step_s: float) -> None:
        """Add a token that came out of a step of `step_s` seconds; a stop token counts and says nothing.

        Raises:
            BackendError: when the tokenizer has no such token.
        """
        if self._count:  # the first token was there before the first step
            self.decode_s += step_s
        self._count += 1
        if finish_reason != "stop":
            try:
                self._detokenizer.add_token(token, skip_special_token_ids=[])
            except IndexError as error:
                raise BackendError(f"the model gave token {token}, which its tokenizer does not have") from error
            self._pieces.append(self._detokenizer.last_segment)
        if finish_reason is not None:
            self._detokenizer.finalize()
            self._pieces.append(self._detokenizer.last_segment)
            self._finish_reason = finish_reason
            self._ended_at = time.perf_counter()

    @property
    def age_s(self) -> float:
        """Seconds since it has its place, and of preparation."""
        return self.job.prepare_s + time.perf_counter() - self._placed_at

    def output(self) -> Output:
        """Return the answer, without a trace."""
        ttft_s = self.job.prepare_s + self._first_at - self._placed_at
        total_s = ttft_s + self.decode_s
        return Output(
            text="".join(self._pieces),
            finish_reason="stop" if self._finish_reason == "stop" else "length",
            prompt_tokens=len(self.prepared.ids),
            image_tokens=self.prepared.image_tokens,
            completion_tokens=self._count,
            cached_tokens=self.reused_tokens,
            queue_s=max(0.0, self._ended_at - self.job.queued_at - total_s),
            ttft_s=ttft_s,
            prefill_s=self._first_at - self._placed_at,
            image_encode_s=self.encode_s,
            decode_s=self.decode_s,
            total_s=total_s,
            peak_memory_bytes=int(mx.get_peak_memory()),
        )
