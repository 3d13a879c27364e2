"""Deals prompts out to the slots of a server: what begins alike goes to one slot in sequence, the rest to any.

Each slot has a thread of its own. A slot that comes free takes the first waiting prompt that continues what it worked
on, else the first one that no other slot is at. One more thread makes the next prompts ready (reads, checks and encodes
images) while the slots are busy. Futures are of this module's own, so what nobody has begun can be cancelled.
"""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any

from bakeoff.errors import BackendDied

READY_AHEAD = 2
"""Prompts made ready beyond one for each slot: so many sets of images are held at most."""


class Slot:
    """One slot of a server. `claims` is what it works on; `holds` is the beginning its state in the server has."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.claims = ""
        self.holds = ""


class Job:
    """One prompt to be served: `run` gives the answer on a slot, `ready` does what can be done before.

    `key` names the beginning that it shares with others, empty for none; `is_followed` says that another one with this
    key is known to come.
    """

    def __init__(
        self,
        run: Callable[[Slot, "Job"], Any],
        *,
        key: str = "",
        is_followed: bool = False,
        ready: Callable[[], Any] = lambda: None,
    ) -> None:
        self.run = run
        self.key = key
        self.is_followed = is_followed
        self.future: Future[Any] = Future()
        self._ready = ready
        self._lock = threading.Lock()
        self._result: tuple[Any, BaseException | None] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether `readied` answers at once."""
        return self._result is not None

    def readied(self) -> Any:
        """Return what `ready` returns, made once by whichever thread comes first; raises what it raises."""
        with self._lock:
            if self._result is None:
                try:
                    self._result = (self._ready(), None)
                except BaseException as error:  # noqa: BLE001 - it is raised where the answer is asked for
                    self._result = (None, error)
        value, problem = self._result
        if problem is not None:
            raise problem
        return value


class Slots:
    """The slots that this process may use, and what waits for them.

    Args:
        numbers: of the slots in the server.
        recover: called after a job met BackendDied, before its slot takes the next one.
    """

    def __init__(self, numbers: Iterable[int], *, recover: Callable[[], None]) -> None:
        self.slots = tuple(Slot(number) for number in numbers)
        self._recover = recover
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._is_closed = False
        self._deaths = 0
        self._threads = [
            *(
                threading.Thread(target=self._serve, args=(s,), name=f"slot {s.number}", daemon=True)
                for s in self.slots
            ),
            threading.Thread(target=self._make_ready, name="slots: reads ahead", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def put(self, job: Job) -> Future[Any]:
        """Let a job wait for a slot."""
        with self._changed:
            if self._is_closed:
                job.future.set_exception(BackendDied("the backend is closed"))
            else:
                self._waiting.append(job)
                self._changed.notify_all()
        return job.future

    def is_followed(self, job: Job) -> bool:
        """Return whether another job that begins like `job` waits or is known to come."""
        with self._changed:
            return job.is_followed or any(other.key == job.key for other in self._waiting)

    def stop(self) -> None:
        """Fail what waits and take nothing more; what is being served goes on."""
        with self._changed:
            self._is_closed = True
            dropped = list(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
        for job in dropped:
            if job.future.set_running_or_notify_cancel():
                job.future.set_exception(BackendDied("the backend was closed before this prompt was asked"))

    def join(self, timeout_s: float) -> None:
        """Wait for the threads of stopped slots, which end as soon as their requests do."""
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(timeout_s)

    def _serve(self, slot: Slot) -> None:
        while (job := self._next(slot)) is not None:
            if not job.future.set_running_or_notify_cancel():
                continue
            deaths = self._deaths
            try:
                result = job.run(slot, job)
            except BackendDied as error:
                self._forget()
                job.future.set_exception(error)
                with contextlib.suppress(BackendDied):  # the next job meets it again and says so
                    self._recover()
            except BaseException as error:  # noqa: BLE001 - it belongs to the one who asked
                job.future.set_exception(error)
            else:
                with self._changed:
                    if self._deaths != deaths:  # it was answered by the server that has died since
                        slot.holds = ""
                job.future.set_result(result)

    def _forget(self) -> None:
        """Take note that the server has died, and with it what every slot held."""
        with self._changed:
            self._deaths += 1
            for slot in self.slots:
                slot.holds = ""
            self._changed.notify_all()

    def _next(self, slot: Slot) -> Job | None:
        with self._changed:
            while not self._is_closed:
                slot.claims = slot.holds
                job = self._choose(slot)
                if job is not None:
                    self._waiting.remove(job)
                    slot.claims = job.key
                    self._changed.notify_all()
                    return job
                self._changed.wait()
            return None

    def _choose(self, slot: Slot) -> Job | None:
        elsewhere = {other.claims for other in self.slots if other is not slot and other.claims}
        free = (job for job in self._waiting if job.key not in elsewhere)
        own = (job for job in self._waiting if job.key and job.key == slot.claims)
        return next(own, None) or next(free, None)

    def _make_ready(self) -> None:
        while (job := self._next_to_make_ready()) is not None:
            with contextlib.suppress(BaseException):  # kept, and raised by `readied` on the slot
                job.readied()

    def _next_to_make_ready(self) -> Job | None:
        with self._changed:
            while not self._is_closed:
                first = (self._waiting[i] for i in range(min(len(self._waiting), len(self.slots) + READY_AHEAD)))
                job = next((job for job in first if not job.is_ready), None)
                if job is not None:
                    return job
                self._changed.wait()
            return None
