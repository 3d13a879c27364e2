"""How prompts are dealt out to slots: no runtime, and every wait is for an event, never for a clock."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

import pytest

from bakeoff.backends.llama.slots import READY_AHEAD, Job, Slot, Slots
from bakeoff.errors import BackendDied, BackendError

PATIENCE_S = 60


class Bench:
    """Slots whose jobs begin when they like and end when they are told to."""

    def __init__(self, count: int) -> None:
        self.recovered = 0
        self.slots = Slots(range(count), recover=self._recover)
        self.served: list[tuple[str, int]] = []
        self.begun: dict[str, threading.Event] = {}
        self._gates: dict[str, threading.Event] = {}

    def put(self, name: str, key: str = "", *, error: Exception | None = None, **more: Any) -> Future[Any]:
        """Put a job that waits for `release(name)`."""
        self.begun[name], self._gates[name] = threading.Event(), threading.Event()

        def run(slot: Slot, job: Job) -> str:
            self.served.append((name, slot.number))
            self.begun[name].set()
            self._gates[name].wait(PATIENCE_S)
            if error is not None:
                raise error
            slot.holds = job.key
            return name

        return self.slots.put(Job(run, key=key, **more))

    def release(self, *names: str) -> None:
        """Let jobs end."""
        for name in names:
            self._gates[name].set()

    def slot_of(self, name: str) -> int:
        return dict(self.served)[name]

    def end(self) -> None:
        """Let everything end, and the threads with it."""
        self.slots.stop()
        self.release(*self._gates)
        self.slots.join(PATIENCE_S)

    def _recover(self) -> None:
        self.recovered += 1


@pytest.fixture
def bench() -> Iterator[Callable[[int], Bench]]:
    made: list[Bench] = []

    def make(count: int) -> Bench:
        made.append(Bench(count))
        return made[-1]

    yield make
    for found in made:
        found.end()


def test_what_begins_alike_goes_to_one_slot_in_the_order_asked(bench: Callable[[int], Bench]) -> None:
    slots = bench(2)
    futures = [slots.put(f"{image}{number}", image) for image in "ab" for number in range(3)]
    assert slots.begun["a0"].wait(PATIENCE_S)
    assert slots.begun["b0"].wait(PATIENCE_S)  # the other slot does not wait behind the questions on a
    slots.release(*(f"{image}{number}" for image in "ab" for number in range(3)))
    assert [future.result(PATIENCE_S) for future in futures] == ["a0", "a1", "a2", "b0", "b1", "b2"]
    for image in "ab":
        assert len({number for name, number in slots.served if name.startswith(image)}) == 1
        assert [name for name, _ in slots.served if name.startswith(image)] == [f"{image}{n}" for n in range(3)]


def test_a_slot_comes_back_to_what_it_holds_before_it_takes_another(bench: Callable[[int], Bench]) -> None:
    slots = bench(1)
    first = slots.put("a0", "a")
    slots.put("b0", "b")
    last = slots.put("a1", "a")
    slots.release("a0", "a1", "b0")
    first.result(PATIENCE_S)
    last.result(PATIENCE_S)
    assert [name for name, _ in slots.served][:2] == ["a0", "a1"]


def test_prompts_without_a_key_take_any_slot_that_is_free(bench: Callable[[int], Bench]) -> None:
    slots = bench(3)
    for name in ("x", "y", "z"):
        slots.put(name)
        assert slots.begun[name].wait(PATIENCE_S)
    assert sorted(number for _, number in slots.served) == [0, 1, 2]


def test_a_job_is_followed_by_one_that_waits_or_is_announced(bench: Callable[[int], Bench]) -> None:
    slots = bench(1)
    slots.put("busy")
    assert slots.begun["busy"].wait(PATIENCE_S)
    job = Job(lambda *_: None, key="a")
    assert not slots.slots.is_followed(job)
    slots.put("other", "b")
    assert not slots.slots.is_followed(job)
    slots.put("more", "a")
    assert slots.slots.is_followed(job)
    assert slots.slots.is_followed(Job(lambda *_: None, key="c", is_followed=True))


def test_what_was_not_begun_can_be_cancelled_and_is_never_asked(bench: Callable[[int], Bench]) -> None:
    slots = bench(1)
    slots.put("busy")
    assert slots.begun["busy"].wait(PATIENCE_S)
    waiting, later = slots.put("waiting"), slots.put("later")
    assert waiting.cancel()
    slots.release("busy", "later")
    assert later.result(PATIENCE_S) == "later"
    assert [name for name, _ in slots.served] == ["busy", "later"]


def test_stopping_fails_what_waits_and_lets_what_runs_end(bench: Callable[[int], Bench]) -> None:
    slots = bench(1)
    running = slots.put("running")
    assert slots.begun["running"].wait(PATIENCE_S)
    waiting, cancelled = slots.put("waiting"), slots.put("cancelled")
    cancelled.cancel()
    slots.slots.stop()
    with pytest.raises(BackendDied, match="before this prompt was asked"):
        waiting.result(PATIENCE_S)
    with pytest.raises(CancelledError):
        cancelled.result(PATIENCE_S)
    slots.release("running")
    assert running.result(PATIENCE_S) == "running"
    with pytest.raises(BackendDied, match="is closed"):
        slots.put("late").result(PATIENCE_S)


def test_an_error_belongs_to_its_own_job_and_only_a_death_asks_for_recovery(bench: Callable[[int], Bench]) -> None:
    slots = bench(1)
    wrong = slots.put("wrong", "a", error=BackendError("no"))
    dead = slots.put("dead", "a", error=BackendDied("gone"))
    good = slots.put("good", "a")
    slots.release("wrong", "dead", "good")
    with pytest.raises(BackendError, match="no"):
        wrong.result(PATIENCE_S)
    with pytest.raises(BackendDied, match="gone"):
        dead.result(PATIENCE_S)
    assert good.result(PATIENCE_S) == "good"
    assert slots.recovered == 1


def test_no_slot_counts_on_what_a_dead_server_held(bench: Callable[[int], Bench]) -> None:
    slots = bench(3)
    done = slots.put("a0", "a")
    slots.release("a0")
    done.result(PATIENCE_S)
    dies, outlives = slots.put("b0", "b", error=BackendDied("gone")), slots.put("c0", "c")
    assert slots.begun["b0"].wait(PATIENCE_S)
    assert slots.begun["c0"].wait(PATIENCE_S)
    assert "a" in {slot.holds for slot in slots.slots.slots}
    slots.release("b0")
    with pytest.raises(BackendDied, match="gone"):
        dies.result(PATIENCE_S)
    assert {slot.holds for slot in slots.slots.slots} == {""}
    slots.release("c0")  # answered before the death, and noted after it
    assert outlives.result(PATIENCE_S) == "c0"
    assert {slot.holds for slot in slots.slots.slots} == {""}


def test_so_many_prompts_are_made_ready_ahead_and_no_more(bench: Callable[[int], Bench]) -> None:
    slots = bench(1)
    slots.put("busy")
    assert slots.begun["busy"].wait(PATIENCE_S)
    made: list[int] = []
    ahead: list[int] = []
    enough = threading.Event()

    def ready(number: int) -> int:
        made.append(number)
        ahead.append(len(made) - sum(name.startswith("w") for name, _ in slots.served))
        if len(made) == 1 + READY_AHEAD:
            enough.set()
        return number

    futures = [slots.put(f"w{number}", ready=lambda number=number: ready(number)) for number in range(10)]
    assert enough.wait(PATIENCE_S)
    slots.release("busy", *(f"w{number}" for number in range(10)))
    for future in futures:
        future.result(PATIENCE_S)
    assert max(ahead) <= 1 + READY_AHEAD + 1  # the one that its slot has just taken counts until it is noted as served


def test_what_fails_while_it_is_made_ready_fails_where_its_answer_is_asked_for(bench: Callable[[int], Bench]) -> None:
    slots = bench(1)

    def broken() -> None:
        raise BackendError("the image is gone")

    future = slots.slots.put(Job(lambda _, job: job.readied(), ready=broken))
    with pytest.raises(BackendError, match="the image is gone"):
        future.result(PATIENCE_S)
