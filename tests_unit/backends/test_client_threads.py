"""Threads for requests: what becomes of them and of the calls they were given."""

import threading
from collections.abc import Iterator

import pytest

from bakeoff.backends.client_threads import ClientThreads
from bakeoff.errors import BackendDied


@pytest.fixture
def threads() -> Iterator[ClientThreads]:
    made = ClientThreads(2, "made for a test")
    yield made
    made.close()


def alive() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("made for a test")]


def test_closing_ends_every_thread(threads: ClientThreads) -> None:
    assert threads.submit(lambda: 1).result(60) == 1
    running = alive()
    assert len(running) == 2
    threads.close()
    threads.close()
    for thread in running:
        thread.join(60)
    assert alive() == []


def test_a_thread_that_is_busy_at_closing_ends_after_its_call(threads: ClientThreads) -> None:
    may_end, has_begun = threading.Event(), threading.Event()

    def call() -> None:
        has_begun.set()
        may_end.wait(60)

    future = threads.submit(call)
    assert has_begun.wait(60)
    running = alive()
    threads.close()
    with pytest.raises(BackendDied):
        future.result(60)
    may_end.set()
    for thread in running:
        thread.join(60)
    assert alive() == []


def test_a_cancelled_call_is_forgotten_and_never_made(threads: ClientThreads) -> None:
    may_end = threading.Event()
    made: list[int] = []
    busy = [threads.submit(may_end.wait, 60) for _ in range(2)]
    late = threads.submit(made.append, 1)
    assert late.cancel()
    may_end.set()
    both = threading.Barrier(2, timeout=60)  # passed when either thread is done with what came before
    for future in (*busy, *(threads.submit(both.wait) for _ in range(2))):
        future.result(60)
    assert made == []
    assert late not in threads._open
