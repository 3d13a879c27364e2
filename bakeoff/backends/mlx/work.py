"""What the thread that owns the MLX model does: takes prepared prompts, decodes them, settles their futures."""

import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from bakeoff.backends.mlx import plain
from bakeoff.backends.mlx.batch import Batch, BrokenBatchError
from bakeoff.backends.mlx.prompts import Prepared, Preparer
from bakeoff.backends.mlx.reuse import Memory, is_reusable, needs_pixels
from bakeoff.backends.mlx.rows import Job, Row
from bakeoff.backends.mlx.trace import forced, trace_of
from bakeoff.errors import BackendDied
from bakeoff.text import thought
from bakeoff.traces import Trace

Jobs = queue.Queue[Job | None]


class Worker:
    """Answers jobs on the thread that calls `work`.

    Args:
        model: mlx-vlm's model.
        processor: its processor.
        preparer: prepares a prompt again when the image work it counted on was dropped from `memory`.
        memory: image work that prompts share, or None to share none.
        rows: prompts decoded together at most.
        timeout_s: how long an answer may take.
    """

    def __init__(
        self,
        model: Any,
        processor: Any,
        preparer: Preparer,
        memory: Memory | None,
        *,
        rows: int,
        timeout_s: float,
    ) -> None:
        self._model = model
        self._processor = processor
        self._preparer = preparer
        self._memory = memory
        self._rows = rows
        self._timeout_s = timeout_s
        self._taken: list[Job] = []
        self._batch = Batch(model, processor, memory, timeout_s)

    def work(self, jobs: Jobs, closed: threading.Event) -> None:
        """Answer `jobs` until None comes, which follows on `closed`; what is not answered by then fails.

        Free places are filled before the next step: a step for many rows costs little more than one for a few. Whatever
        this raises concerns no prompt in particular; `fail` then tells those who wait, and None is still to come from
        `jobs`.
        """
        for job in self._incoming(jobs):
            if closed.is_set():
                self._give_up(job)
            elif job is None:
                self._step(closed)
            elif job.future.set_running_or_notify_cancel():
                self._taken = [*(other for other in self._taken if not other.future.done()), job]
                self._begin(job, closed)
        self._give_up(None)

    def fail(self, error: BackendDied) -> None:
        """Give `error` to all whose jobs were taken and are not answered."""
        for job in self._taken:
            job.fail(error)

    def _incoming(self, jobs: Jobs) -> Iterator[Job | None]:
        """Yield jobs while there is a place for them, and None when it is time for a step."""
        while True:
            if len(self._batch) >= self._rows:
                yield None
                continue
            try:
                job = jobs.get(block=not len(self._batch))
            except queue.Empty:
                yield None
                continue
            if job is None:
                jobs.put(None)  # there is room, since nothing follows it; whoever reads on after a failure ends too
                return
            yield job

    def _give_up(self, job: Job | None) -> None:
        waiting = [row.job for row in self._batch.abandon()]
        for each in [*waiting, *([job] if job else [])]:
            each.fail(BackendDied("the MLX model was closed"))

    def _begin(self, job: Job, closed: threading.Event) -> None:
        """Give a job its place in the batch, or answer it at once where there is no batch for it."""
        try:
            prepared = self._with_pixels(job)
            if job.tokens is not None:
                found = forced(self._model, prepared, job.tokens, job.prompt.top_logprobs, self._memory)
                job.future.set_result(Trace(tokens=found))
                return
            row = Row(job, prepared, self._processor)
            if is_reusable(self._model):
                self._batch.enter(row)
            else:
                plain.answer(self._model, self._processor, row, timeout_s=self._timeout_s, closed=closed)
                self._settle(row)
        except BrokenBatchError:
            self._one_by_one(closed)
        except Exception as error:  # noqa: BLE001 - whatever a prompt raises before it has company is its own
            job.fail(error)

    def _with_pixels(self, job: Job) -> Prepared:
        """Return the prepared prompt; prepared again if the image work it counted on has been dropped since."""
        if needs_pixels(job.prepared, self._memory):
            began = time.perf_counter()
            job.prepared = self._preparer.prepare(job.prompt, needs_pixels=True)
            job.prepare_s += time.perf_counter() - began
        return job.prepared

    def _step(self, closed: threading.Event) -> None:
        try:
            ended = self._batch.step()
        except BrokenBatchError:
            self._one_by_one(closed)
        else:
            for row in ended:
                self._settle(row)

    def _one_by_one(self, closed: threading.Event) -> None:
        """Answer the rows of a batch that broke again, each alone: the one that fails then is to blame, and only it."""
        for row in self._batch.abandon():
            again = Row(row.job, row.prepared, self._processor)
            try:
                self._batch.enter(again)
                while len(self._batch) and not closed.is_set():
                    for ended in self._batch.step():
                        self._settle(ended)
            except BrokenBatchError as error:
                row.job.fail(error.__cause__ or error)
            except Exception as error:  # noqa: BLE001 - it was alone
                row.job.fail(error)
            if closed.is_set():
                row.job.fail(BackendDied("the MLX model was closed"))
            self._batch.abandon()

    def _settle(self, row: Row) -> None:
        """Give a row's answer to whoever waits for it."""
        if row.error is not None:
            row.job.fail(row.error)
            return
        try:
            output = row.output()
            with self._preparer.lock:  # both ask the tokenizer
                thoughts = self._processor.tokenizer(thought(output.text), add_special_tokens=False)["input_ids"]
                wants_trace = bool(row.prompt.top_logprobs)
                told = tuple(row.tokens)
                trace = trace_of(self._model, self._processor, row.prepared, told) if wants_trace else None
            row.job.future.set_result(msgspec.structs.replace(output, thinking_tokens=len(thoughts), trace=trace))
        except Exception as error:  # noqa: BLE001 - it concerns this prompt alone
            row.job.fail(error)
