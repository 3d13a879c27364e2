"""Working ahead, in order."""

import threading
from contextlib import closing

import pytest

from bakeoff.prepare.parallel import in_order


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    assert list(in_order(lambda n: n * n, range(20), workers)) == [n * n for n in range(20)]


def test_several_are_at_work_at_a_time() -> None:
    together = threading.Barrier(3)
    assert list(in_order(lambda _: together.wait(10) >= 0, range(3), workers=3)) == [True] * 3


@pytest.mark.parametrize("workers", [1, 3])
def test_an_exception_is_raised_in_its_turn_and_ends_the_work(workers: int) -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        if number == 2:
            raise KeyError(number)
        return number

    found = in_order(work, range(100), workers)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(KeyError):
        next(found)
    assert len(begun) <= 2 + workers + 2


def test_closing_begins_nothing_more() -> None:
    begun: list[int] = []
    found = in_order(begun.append, range(100), 2)
    next(found)
    found.close()
    assert len(begun) <= 5


@pytest.mark.parametrize("place", ["worker", "consumer"])
def test_an_interruption_waits_for_nobody(place: str) -> None:
    blocked, free = threading.Event(), threading.Event()

    def work(item: int) -> int:
        if item:
            blocked.set()
            free.wait()
        elif place == "worker":
            blocked.wait()
            raise KeyboardInterrupt  # as if it came while the item was waited for
        return item

    def consume() -> None:
        with closing(in_order(work, [0, 1, 1, 1], 2)) as results:
            next(results)
            blocked.wait()
            raise KeyboardInterrupt

    before = threading.active_count()
    try:
        with pytest.raises(KeyboardInterrupt):
            consume()
        assert threading.active_count() > before, "a worker is still waiting"
    finally:
        free.set()
