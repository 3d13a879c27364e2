import json
from pathlib import Path

import pytest

from bakeoff.backends import Settings, open_backend
from bakeoff.backends.fake import FakeBackend
from bakeoff.engine import Engine
from bakeoff.errors import BackendDied, BackendError, UsageProblem
from bakeoff.models import resolve
from bakeoff.records import Message, Prompt, Text

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


def test_a_broken_script_is_a_usage_problem(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="not a script"):
        fake(tmp_path, delay_s="long")
