import json
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import ClassVar

import pytest

from bakeoff.backends import Capabilities, Settings, open_backend
from bakeoff.backends.fake.backend import FakeBackend
from bakeoff.engine import Engine
from bakeoff.errors import BackendDied, BackendError, UsageProblem
from bakeoff.models import resolve
from bakeoff.records import Message, Output, Prompt, Text

ORDER = [f"s{number}" for number in range(8)]


def prompt(name: str) -> Prompt:
    return Prompt(
        sample_id=name, messages=(Message(role="user", parts=(Text(text=f"ask {name}"),)),), max_tokens=8, seed=1
    )


def fake(tmp_path: Path, **script: object) -> FakeBackend:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(script), "utf-8")
    backend = open_backend(resolve(f"fake:{path}"), Settings(context_tokens=0, log_path=tmp_path / "log"))
    assert isinstance(backend, FakeBackend)
    return backend


def engine(backend: FakeBackend, window: int = 3) -> Engine:
    return Engine(backend, ORDER, prompt, window=window)


def test_answers_belong_to_their_samples_in_any_order_of_asking(tmp_path: Path) -> None:
    run = engine(fake(tmp_path))
    for name in [*reversed(ORDER[:4]), *ORDER[4:]]:
        assert run.answer(name).output.text == f"ask {name}"
    run.close()


def test_the_window_is_filled_ahead_and_not_beyond(tmp_path: Path) -> None:
    backend = fake(tmp_path)
    run = engine(backend, window=3)
    run.answer("s0")
    backend._pool.submit(lambda: None).result()  # whatever was queued before this has been asked
    assert backend.asked == ["s0", "s1", "s2"]
    run.close()


def test_every_sample_is_asked_once(tmp_path: Path) -> None:
    backend = fake(tmp_path)
    run = engine(backend)
    for name in ORDER:
        run.answer(name)
    run.close()
    assert sorted(backend.asked) == ORDER


def test_a_failing_sample_fails_alone(tmp_path: Path) -> None:
    run = engine(fake(tmp_path, fail=["s2"]))
    outcomes = {}
    for name in ORDER:
        try:
            outcomes[name] = run.answer(name).output.text
        except BackendError as error:
            outcomes[name] = type(error).__name__
    run.close()
    assert outcomes == {name: "BackendError" if name == "s2" else f"ask {name}" for name in ORDER}


def test_a_runtime_that_dies_once_is_brought_back_and_nothing_is_lost(tmp_path: Path) -> None:
    backend = fake(tmp_path, die_once=["s2"])
    run = engine(backend)
    answers = {name: run.answer(name) for name in ORDER}
    run.close()
    assert all(answer.output.text == f"ask {name}" for name, answer in answers.items())
    assert backend.restarts == 1
    assert sum(answer.attempts == 2 for answer in answers.values()) == 1


def test_the_sample_that_kills_the_runtime_twice_is_blamed_and_the_others_go_on(tmp_path: Path) -> None:
    backend = fake(tmp_path, die=["s2"])
    run = engine(backend)
    outcomes: dict[str, str] = {}
    for name in ORDER:
        try:
            outcomes[name] = run.answer(name).output.text
        except BackendDied as error:
            outcomes[name] = str(error)
    run.close()
    assert "s2 brought the runtime down twice" in outcomes.pop("s2")
    assert outcomes == {name: f"ask {name}" for name in ORDER if name != "s2"}


class Brittle:
    """A runtime that works on two prompts at once; one of `killers` takes both down as soon as it is begun.

    Other answers are there when they are asked for. After a death nothing is begun until `restart`.
    """

    capabilities = Capabilities(slots=2)
    identity: ClassVar[dict[str, str]] = {}
    load_s = 0.0

    def __init__(self, *killers: str) -> None:
        self.deaths: list[set[str]] = []
        self.asked: list[str] = []
        self.followed: dict[str, str] = {}
        self._killers = killers
        self._running: dict[str, Late] = {}
        self._queue: list[tuple[str, Late]] = []
        self._is_dead = False
        self._next: str | None = None

    def foresee(self, prompt: Prompt) -> None:
        self._next = prompt.sample_id

    def submit(self, prompt: Prompt) -> Future[Output]:
        name = prompt.sample_id
        self.asked.append(name)
        if self._next is not None:
            self.followed[name] = self._next
        self._next = None
        future = Late(lambda: self._finish(name))
        self._queue.append((name, future))
        self._begin()
        return future

    def restart(self) -> None:
        self._is_dead = False
        self._begin()

    def close(self) -> None:
        self.is_closed = True

    def _begin(self) -> None:
        while self._queue and len(self._running) < 2 and not self._is_dead:
            name, future = self._queue.pop(0)
            if future.set_running_or_notify_cancel():
                self._running[name] = future
                if name in self._killers:
                    self._die()

    def _die(self) -> None:
        self._is_dead = True
        self.deaths.append(set(self._running))
        for future in self._running.values():
            future.set_exception(BackendDied("the runtime died"))
        self._running.clear()

    def _finish(self, name: str) -> None:
        while name not in self._running:
            self._finish(next(iter(self._running)))
        self._running.pop(name).set_result(Output(text=f"ask {name}", finish_reason="stop"))
        self._begin()


class Late(Future[Output]):
    """A future whose result is made when it is asked for."""

    def __init__(self, finish: Callable[[], None]) -> None:
        super().__init__()
        self._finish = finish

    def result(self, timeout: float | None = None) -> Output:
        if not self.done():
            self._finish()
        return super().result(timeout)


def test_who_died_in_company_is_tried_alone_and_the_culprit_kills_no_more_than_twice() -> None:
    backend = Brittle("s3")
    run = Engine(backend, ORDER, prompt, window=6)
    outcomes: dict[str, str] = {}
    for name in ORDER:
        try:
            outcomes[name] = run.answer(name).output.text
        except BackendDied as error:
            outcomes[name] = str(error)
    assert "s3 brought the runtime down twice" in outcomes.pop("s3")
    assert outcomes == {name: f"ask {name}" for name in ORDER if name != "s3"}
    assert len(backend.deaths) == 2
    assert backend.deaths[1] == {"s3"}


def test_what_was_waiting_when_the_runtime_died_is_no_suspect() -> None:
    backend = Brittle("s1")
    run = Engine(backend, ORDER, prompt, window=6)
    first = run.answer("s0")
    assert (first.output.text, first.attempts) == ("ask s0", 2)
    assert backend.deaths == [{"s0", "s1"}]
    with pytest.raises(BackendDied, match="s1 brought the runtime down twice"):
        run.answer("s1")
    assert [run.answer(name).attempts for name in ORDER[2:]] == [1] * 6
    assert len(backend.deaths) == 2


def test_a_backend_that_asks_for_it_is_told_what_comes_next() -> None:
    backend = Brittle()
    run = Engine(backend, ORDER[:3], prompt, window=2)
    for name in ORDER[:3]:
        run.answer(name)
    assert backend.followed == {"s0": "s1", "s1": "s2"}


def test_without_an_order_the_one_who_asks_says_what_comes_next() -> None:
    backend = Brittle()
    run = Engine(backend, (), prompt, window=1)
    run.answer("s4", following="s5")
    run.answer("s5")
    assert backend.followed == {"s4": "s5"}
    assert backend.asked == ["s4", "s5"]


def test_submitting_is_all_that_asking_ahead_costs_the_one_who_waits(tmp_path: Path) -> None:
    made: list[str] = []

    def prompt_of(name: str) -> Prompt:
        made.append(name)
        return prompt(name)

    run = Engine(fake(tmp_path), [f"s{number}" for number in range(100)], prompt_of, window=3)
    run.answer("s0")
    assert set(made) == {"s0", "s1", "s2"}  # prompts beyond the window do not exist yet
    run.close()


def test_closing_drops_what_was_not_begun() -> None:
    backend = Brittle()
    run = Engine(backend, ORDER, prompt, window=6)
    run.answer("s0")
    flying = dict(run._flying)
    run.close()
    assert {name for name, future in flying.items() if future.cancelled()} == {"s3", "s4", "s5"}
    assert backend.is_closed


def test_a_broken_script_is_a_usage_problem(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="not a script"):
        fake(tmp_path, delay_s="long")
