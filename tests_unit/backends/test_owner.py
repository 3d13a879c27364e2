"""The thread that owns a model: what it is asked is answered in order, and closing it waits for no more than a step."""

import signal
import threading
from collections.abc import Callable, Iterator

import pytest

from bakeoff.backends import owner
from bakeoff.backends.owner import Job, Owner
from bakeoff.errors import BackendDied, BackendError, UsageProblem
from bakeoff.records import Message, Prompt, Text


def job(text: str = "hello") -> Job:
    return Job(Prompt(sample_id="a", messages=(Message(role="user", parts=(Text(text=text),)),), max_tokens=1, seed=0))


class Model:
    """A model whose every step waits until it is let go."""

    def __init__(self, said: Callable[[str], None]) -> None:
        self.in_step, self.may_go = threading.Event(), threading.Event()
        self.owner = Owner[Job]("test model", said)
        self.load_s = self.owner.start(self.work, "it cannot be loaded")

    def work(self, ready: Callable[[], None]) -> None:
        ready()
        for asked in self.owner.jobs():
            asked.settle(self.answer)

    def answer(self, asked: Job) -> str:
        self.in_step.set()
        self.may_go.wait()
        if asked.tokens:
            raise KeyError(asked.tokens)
        return asked.prompt.sample_id


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def model(said: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    monkeypatch.setattr(owner, "QUIET_S", 0.0)
    found = Model(said.append)
    yield found
    found.may_go.set()
    found.owner.close()


def test_what_a_prompt_raises_is_its_own(model: Model) -> None:
    model.may_go.set()
    bad = model.owner.submit(Job(job().prompt, tokens=(7,)))
    good = model.owner.submit(job())
    with pytest.raises(BackendError, match="KeyError: "):
        bad.result()
    assert good.result() == "a"
    model.owner.restart()


def test_a_model_that_cannot_be_loaded_is_a_usage_problem() -> None:
    def work(_: Callable[[], None]) -> None:
        raise OSError("no such file")

    with pytest.raises(UsageProblem, match=r"it cannot be loaded: OSError\('no such file'\)"):
        Owner[Job]("test model", print).start(work, "it cannot be loaded")


def test_work_that_breaks_off_fails_all_that_waits_and_all_that_comes() -> None:
    may_go = threading.Event()
    held = Owner[Job]("test model", print)

    def work(ready: Callable[[], None]) -> None:
        ready()
        may_go.wait()
        raise SystemExit(3)

    held.start(work, "")
    waiting = [held.submit(job()) for _ in range(3)]
    may_go.set()
    for future in waiting:
        with pytest.raises(BackendDied, match="work on the test model broke off: SystemExit"):
            future.result()
    with pytest.raises(BackendDied, match="broke off"):
        held.submit(job()).result()
    with pytest.raises(BackendDied, match="broke off"):
        held.restart()
    held.close()


def test_closing_finishes_the_step_in_work_and_fails_what_waits(model: Model, said: list[str]) -> None:
    first, second = model.owner.submit(job()), model.owner.submit(job())
    model.in_step.wait()

    def let_go(line: str) -> None:
        said.append(line)
        model.may_go.set()

    model.owner._say = let_go
    model.owner.close()
    assert first.result() == "a"
    with pytest.raises(BackendDied, match="the test model is closed"):
        second.result()
    assert said == ["stopping after the step in work; Ctrl-C once more does not wait for it"]


def test_closing_a_model_that_has_nothing_to_do_says_nothing(
    model: Model, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, "QUIET_S", 60.0)
    model.owner.close()
    model.owner.close()
    assert said == []


def test_freeing_weights_after_the_last_answer_is_no_step_in_work_however_long_it_takes(
    said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, "QUIET_S", 0.0)
    may_free = threading.Event()
    held = Owner[Job]("test model", said.append)

    def work(ready: Callable[[], None]) -> None:
        ready()
        for asked in held.jobs():
            asked.settle(lambda asked: asked.prompt.sample_id)
        may_free.wait()

    held.start(work, "")
    assert held.submit(job()).result() == "a"
    closing = threading.Thread(target=held.close)
    closing.start()
    closing.join(0.2)
    may_free.set()
    closing.join()
    assert said == []


def test_another_interrupt_leaves_the_step_behind(model: Model, said: list[str]) -> None:
    def interrupt(line: str) -> None:
        said.append(line)
        if len(said) == 1:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        future = model.owner.submit(job())
        model.in_step.wait()
        model.owner._say = interrupt
        model.owner.close()
    finally:
        signal.signal(signal.SIGINT, before)
    assert not future.done()
    assert said[1:] == ["not waiting for the step in work"]
