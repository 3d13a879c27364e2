"""Threads for requests to servers of others, which may take ten minutes to answer and must not hold up the end."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any

from bakeoff.errors import BackendDied


class ClientThreads:
    """A pool whose threads do not outlive anybody: closing fails what is in flight and waits for nothing."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._open: set[Future[Any]] = set()
        self._lock = threading.Lock()
        self._is_closed = False
        for number in range(count):
            threading.Thread(target=self._serve, name=f"{name} {number}", daemon=True).start()

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Queue a call; after `close` it fails at once."""
        future: Future[Any] = Future()
        with self._lock:
            if self._is_closed:
                future.set_exception(BackendDied("the client is closed"))
                return future
            self._open.add(future)
        self._work.put((future, lambda: task(*arguments)))
        return future

    def close(self) -> None:
        """Fail everything that has no result yet, and end each thread after its call. Closing twice is fine."""
        with self._lock:
            ends = 0 if self._is_closed else self._count
            self._is_closed = True
            left, self._open = self._open, set()
        for future in left:
            if not future.cancel():
                _settle(future.set_exception, BackendDied("the client was closed before the answer came"))
        for _ in range(ends):
            self._work.put(None)

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            future, call = work
            if future.set_running_or_notify_cancel():
                try:
                    result = call()
                except BaseException as error:  # noqa: BLE001 - whatever it is belongs to the one who waits
                    _settle(future.set_exception, error)
                else:
                    _settle(future.set_result, result)
            with self._lock:
                self._open.discard(future)


def _settle(put: Callable[[Any], None], value: Any) -> None:
    """Give a future its end unless it has one: closing and finishing may meet."""
    with suppress(InvalidStateError):
        put(value)
