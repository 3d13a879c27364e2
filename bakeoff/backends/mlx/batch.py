"""Decoding several prompts together: rows enter a batch as others end, each with its own budget, stop and draws.

The batch is mlx-vlm's `GenerationBatch`, which gives the finish reason and the token of each row at each step. Which
rows are together does not change a bit of an answer on the CPU device, and tests hold it so.
"""

import itertools
import time
import weakref
from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx_vlm.generate.ar import GenerationBatch

from bakeoff.backends.mlx.reuse import Memory, last_logits, start
from bakeoff.backends.mlx.rows import Row
from bakeoff.backends.mlx.sampling import Draw, draw_of, processors_of
from bakeoff.backends.mlx.trace import token_of
from bakeoff.errors import BackendTimeout

TIDY_STEPS = 50
"""Steps after which caches are evaluated and free memory is given back; mlx-vlm's own figure."""


class Batch:
    """The rows that are being decoded. For one thread.

    Args:
        model: mlx-vlm's model.
        processor: its processor, for stop tokens.
        memory: image work that prompts share, or None to share none.
        timeout_s: how old a row may become.
    """

    def __init__(self, model: Any, processor: Any, memory: Memory | None, timeout_s: float) -> None:
        self._model = model
        self._stop = processor.tokenizer.stopping_criteria
        self._memory = memory
        self._timeout_s = timeout_s
        self._uids = itertools.count()
        self._rows: dict[int, Row] = {}
        self._drawing = _Drawing()
        self._steps = 0
        self._empty()

    def __len__(self) -> int:
        """Return how many rows are being decoded."""
        return len(self._rows)

    def _empty(self) -> None:
        self._batch = GenerationBatch.empty(self._model, self._drawing, self._stop, compute_logprobs=False)
        self._drawing.batch = weakref.ref(self._batch)  # a cycle would keep the model alive after its arm is closed

    def enter(self, row: Row) -> None:
        """Read the prompt of `row`, draw its first token, and let it take part from the next step on.

        Whatever this raises before the row is in the batch concerns the row alone.

        Raises:
            BrokenBatchError: when the row was read and the batch cannot take it.
        """
        uid = next(self._uids)
        prompt, prepared = row.prompt, row.prepared
        begin = start(self._model, prepared, self._memory)
        row.reused_tokens = begin.reused_tokens
        row.encode_s = begin.encode_s if prepared.image_keys else None
        logits = last_logits(self._model, begin)
        processors = processors_of(prompt.sampling)
        context = prepared.ids[-1:]  # mlx-vlm's penalty sees the last prompt token too
        for processor in processors:
            logits = processor(mx.array(context), logits)
        drawing = _Drawn(draw_of(prompt.sampling, prompt.seed), keeps=prompt.top_logprobs > 0)
        first = drawing(logits - mx.logsumexp(logits, axis=-1, keepdims=True), 0)
        mx.eval(first, [entry.state for entry in begin.state])
        row.has_first_token()
        try:
            self._rows[uid], self._drawing.rows[uid] = row, drawing
            self._batch.extend(
                GenerationBatch(
                    self._model,
                    [uid],
                    first,
                    [type(entry).merge([entry]) for entry in begin.state],
                    self._drawing,
                    self._stop,
                    [prompt.max_tokens],
                    token_context=[context],
                    logits_processors=[processors or None],
                )
            )
            mx.clear_cache()
        except Exception as error:
            raise BrokenBatchError from error

    def step(self) -> list[Row]:
        """Decode one token of every row and return the rows that ended with it.

        Raises:
            BrokenBatchError: when the step failed; the rows are for `abandon` to return.
        """
        began = time.perf_counter()
        try:
            self._let_go()
            responses = self._batch.next()
            self._steps += 1
            if self._steps % TIDY_STEPS == 0:
                mx.eval(self._batch.cache_states())
                mx.clear_cache()
        except Exception as error:
            raise BrokenBatchError from error
        step_s = time.perf_counter() - began
        return [row for found in responses if (row := self._take(found, step_s)) is not None]

    def _let_go(self) -> None:
        """Take out the rows that failed here and that mlx-vlm would go on with."""
        keep = [place for place, uid in enumerate(self._batch.uids) if uid in self._rows]
        if len(keep) < len(self._batch.uids):
            self._batch.filter(keep)

    def abandon(self) -> list[Row]:
        """Empty the batch and return the rows that were in it, in the order in which they entered."""
        rows = list(self._rows.values())
        self._rows.clear()
        self._drawing.rows.clear()
        self._empty()
        return rows

    def _take(self, found: Any, step_s: float) -> Row | None:
        """Give a response to its row; return the row when it was the last one, or when the row cannot take it."""
        row = self._rows[found.uid]
        drawing = self._drawing.rows[found.uid]
        try:
            if drawing.kept:
                row.tokens.append(token_of(drawing.kept.pop(0), int(found.token), row.prompt.top_logprobs))
            row.take(int(found.token), found.finish_reason, step_s=step_s)
        except Exception as error:  # noqa: BLE001 - such as a token that the tokenizer does not have: this row's alone
            row.error = error
        if row.error is None and found.finish_reason is None and row.age_s > self._timeout_s:
            row.error = BackendTimeout(f"no whole answer from mlx-vlm within {self._timeout_s:.0f} s")
        if found.finish_reason is None and row.error is None:
            return None
        del self._rows[found.uid], self._drawing.rows[found.uid]
        return row


class BrokenBatchError(Exception):
    """A batch could not go on; the cause says why, and not which row is to blame."""


class _Drawn:
    """Draws the tokens of one row, and keeps the log-probabilities where a trace is wanted."""

    def __init__(self, draw: Draw | None, *, keeps: bool) -> None:
        self.draw = draw
        self.kept: list[Any] = []
        self._keeps = keeps

    def __call__(self, logprobs: Any, number: int) -> Any:
        """Return the token with this `number` of the answer, of shape [1]."""
        self.note(logprobs)
        return mx.argmax(logprobs, axis=-1) if self.draw is None else self.draw(logprobs, number)

    def note(self, logprobs: Any) -> None:
        """Keep what the next token is drawn from."""
        if self._keeps:
            self.kept.append(logprobs)


class _Drawing:
    """The one sampler that a GenerationBatch takes: each row of the log-probabilities goes to its own `_Drawn`."""

    def __init__(self) -> None:
        self.rows: dict[int, _Drawn] = {}
        self.batch: Callable[[], Any]

    def sample_target(self, logprobs: Any, *, row_ids: list[int], positions: list[int]) -> Any:
        """Return the next token of every row, of shape [rows]; mlx-vlm calls the row ids 0, so the batch's are used."""
        del row_ids
        rows = [self.rows[uid] for uid in self.batch().uids]
        if all(row.draw is None for row in rows):
            for place, row in enumerate(rows):
                row.note(logprobs[place : place + 1])
            return mx.argmax(logprobs, axis=-1)
        drawn = [row(logprobs[i : i + 1], number) for i, (row, number) in enumerate(zip(rows, positions, strict=True))]
        return mx.concatenate(drawn)
