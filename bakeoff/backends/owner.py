"""A model in this process on a thread of its own, which loads it, answers prompts in order, and frees it."""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, InvalidStateError
from typing import Any, Generic, Self, TypeVar

from bakeoff.errors import BackendDied, BackendError, UsageProblem
from bakeoff.records import Prompt

QUIET_S = 0.5
"""How long a model may take to stop before people are told what is waited for."""


class Job:
    """A prompt that was asked, and whoever waits for it.

    `tokens` is an answer that is given, whose log-probabilities are asked for; None where the model is to answer.
    `queued_at` is of `time.perf_counter`.
    """

    def __init__(self, prompt: Prompt, tokens: tuple[int, ...] | None = None) -> None:
        self.prompt = prompt
        self.tokens = tokens
        self.future: Future[Any] = Future()
        self.queued_at = time.perf_counter()

    def fail(self, error: BaseException) -> None:
        """Give `error` to whoever waits, who may have gone."""
        is_ours = isinstance(error, BackendError)
        with contextlib.suppress(InvalidStateError):  # cancelled, maybe this very moment, or told before
            self.future.set_exception(error if is_ours else BackendError(f"{type(error).__name__}: {error}"))

    def settle(self, answer: Callable[[Self], Any]) -> None:
        """Give whoever waits what `answer` returns; whatever it raises concerns this prompt alone."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(answer(self))
        except Exception as error:  # noqa: BLE001 - as said above
            self.fail(error)


J = TypeVar("J", bound=Job)


class Owner(Generic[J]):
    """The thread that owns a model, and the queue of what it is asked.

    Args:
        title: how messages call the model, such as `MLX model`.
        say: is told in words what is waited for.
    """

    def __init__(self, title: str, say: Callable[[str], None]) -> None:
        self.closed = threading.Event()
        self._title = title
        self._say = say
        self._why = f"the {title} is closed"
        self._asked: queue.SimpleQueue[J | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._ready: Future[float] = Future()
        self._threads: list[threading.Thread] = []
        self._unanswered: set[Future[Any]] = set()

    def start(self, work: Callable[[Callable[[], None]], None], cannot: str) -> float:
        """Run `work` on the thread until it says that the model is loaded, and return the seconds that this took.

        Args:
            work: loads, calls what it is given, answers `jobs()` and frees the model.
            cannot: begins the message when it ends before that call.

        Raises:
            UsageProblem: why the model cannot be loaded.
        """
        self.join_too(threading.Thread(target=self._run, args=(work, cannot), name=self._title, daemon=True))
        return self._ready.result()

    def join_too(self, thread: threading.Thread) -> None:
        """Start a thread that ends with `jobs()`, and is waited for as this one is."""
        thread.start()
        self._threads.insert(0, thread)

    def submit(self, job: J) -> Future[Any]:
        """Queue a prompt."""
        with self._lock:
            if self.closed.is_set():
                job.fail(BackendDied(self._why))
            else:
                self._unanswered.add(job.future)
                job.future.add_done_callback(self._unanswered.discard)
                self._asked.put(job)
        return job.future

    def jobs(self) -> Iterator[J]:
        """Yield what is asked until the model is closed; what was not begun by then fails."""
        while (job := self._asked.get()) is not None:
            if self.closed.is_set():
                job.fail(BackendDied(self._why))
            else:
                yield job

    def restart(self) -> None:
        """Do nothing: the model lives as long as its thread, and is not loaded a second time.

        Raises:
            BackendDied: when the thread has ended.
        """
        if self.closed.is_set():
            raise BackendDied(self._why)

    def end(self, error: BaseException) -> BackendDied:
        """Refuse what is asked from now on, after `error` ended the work on the model; return how that is told."""
        with self._lock:
            self._why = f"the work on the {self._title} broke off: {error!r}"
            self.closed.set()
            self._asked.put(None)
        return BackendDied(self._why)

    def close(self) -> None:
        """Stop after the step in work; what is queued or half answered fails with BackendDied.

        A step cannot be broken off. People are told when one takes long; whoever interrupts the waiting leaves it, and
        the thread goes with the process.
        """
        is_at_work = bool(self._unanswered)
        try:
            with self._lock:
                self.closed.set()
                self._asked.put(None)
            self._threads[-1].join(QUIET_S)
            if is_at_work and self._threads[-1].is_alive():
                self._say("stopping after the step in work; Ctrl-C once more does not wait for it")
            for thread in self._threads:
                thread.join()
        except KeyboardInterrupt:
            self._say("not waiting for the step in work")

    def _run(self, work: Callable[[Callable[[], None]], None], cannot: str) -> None:
        began = time.perf_counter()
        try:
            work(lambda: self._ready.set_result(time.perf_counter() - began))
        except BaseException as error:  # noqa: BLE001 - a thread that ends in silence leaves others waiting for ever
            if self._ready.done():
                self.end(error)
                for job in iter(self._asked.get, None):
                    job.fail(BackendDied(self._why))
            else:
                is_ours = isinstance(error, UsageProblem)
                self._ready.set_exception(error if is_ours else UsageProblem(f"{cannot}: {error!r}"))
