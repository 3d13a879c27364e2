"""Two ways of asking compared: by sample id, by text, by token, by log-probability to the last bit."""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import pytest

from bakeoff.errors import BackendError
from bakeoff.records import Output, Prompt
from bakeoff.traces import Token, Trace
from bakeoff.validity.sameness import Parting, ask, compare


def output(*tokens: Token, text: str = "") -> Output:
    said = text or " ".join(str(token.id) for token in tokens)
    return Output(text=said, finish_reason="stop", trace=Trace(tokens=tokens) if tokens else None)


def token(chosen: int, logprob: float, **others: float) -> Token:
    return Token(id=chosen, logprob=logprob, top=tuple((int(name[1:]), value) for name, value in others.items()))


ONE = output(token(1, -0.5, t1=-0.5, t2=-1.0), token(3, -0.1))


def test_equal_answers_are_exactly_the_same() -> None:
    found = compare({"a": ONE}, {"a": ONE})
    assert (found.n, found.largest, found.is_exact) == (1, 0.0, True)


def test_nothing_compared_is_not_called_the_same() -> None:
    assert not compare({}, {}).is_exact


def test_the_smallest_shift_of_a_log_probability_is_seen_behind_equal_text() -> None:
    shifted = output(token(1, -0.5, t1=-0.5, t2=-1.0), token(3, -0.1 - 1e-15))
    found = compare({"a": ONE}, {"a": shifted})
    assert (found.shifted, found.parted, found.is_exact) == (("a",), (), False)
    assert found.largest == pytest.approx(1e-15, rel=0.2)


def test_where_answers_part_the_margin_tells_how_near_the_other_token_was() -> None:
    other = output(token(2, -0.75, t1=-0.8, t2=-0.75), token(9, -9.0))
    found = compare({"a": ONE}, {"a": other})
    assert found.parted == (Parting(sample_id="a", place=0, margin=0.5),)
    assert found.largest == pytest.approx(0.3)  # what follows on other tokens is not compared


@pytest.mark.parametrize(("gap", "explained"), [(0.0, True), (0.019, True), (0.021, False)])
def test_a_near_tie_explains_where_answers_part_and_nothing_else_does(gap: float, explained: bool) -> None:  # noqa: FBT001 -- a table column
    one = output(token(1, -0.7, t1=-0.7, t2=-0.7 - gap))
    found = compare({"a": one, "b": ONE}, {"a": output(token(2, -0.7)), "b": ONE})
    assert found.identical == 1
    assert [parting.sample_id for parting in found.unexplained] == ([] if explained else ["a"])


def test_a_token_that_was_no_candidate_has_no_margin() -> None:
    assert compare({"a": ONE}, {"a": output(token(7, -3.0))}).parted == (Parting(sample_id="a", place=0),)


def test_an_answer_that_ends_earlier_parts_there() -> None:
    shorter = output(*(ONE.trace.tokens if ONE.trace else ())[:1])
    assert compare({"a": ONE}, {"a": shorter}).parted == (Parting(sample_id="a", place=1),)


def test_without_traces_texts_are_compared() -> None:
    found = compare({"a": output(text="x"), "b": output(text="y")}, {"a": output(text="x"), "b": output(text="z")})
    assert (found.n, found.parted, found.largest) == (2, (Parting(sample_id="b"),), None)


def test_a_sample_without_an_answer_is_missing_and_not_the_same() -> None:
    found = compare({"a": ONE, "b": ONE}, {"a": ONE, "b": BackendError("no"), "c": ONE})
    assert (found.n, found.missing, found.is_exact) == (1, ("b", "c"), False)


class Recorder:
    """Answers a prompt when the oldest one is waited for, and notes how many were in flight at most."""

    def __init__(self, failing: str = "") -> None:
        self.most = 0
        self._flying = 0
        self._failing = failing

    def submit(self, prompt: Prompt) -> Future[Output]:
        self._flying += 1
        self.most = max(self.most, self._flying)
        return Waited(self, prompt.sample_id, self._failing)


class Waited(Future[Output]):
    def __init__(self, owner: Recorder, name: str, failing: str) -> None:
        super().__init__()
        self._owner, self._name, self._fails = owner, name, name == failing

    def result(self, timeout: float | None = None) -> Output:
        del timeout
        self._owner._flying -= 1
        if self._fails:
            raise BackendError("its own")
        return output(text=self._name)


def prompts(count: int) -> Mapping[str, Prompt]:
    return {str(n): Prompt(sample_id=str(n), messages=(), max_tokens=1, seed=1) for n in range(count)}


@pytest.mark.parametrize(("in_flight", "most"), [(0, 1), (1, 1), (3, 3), (99, 7)])
def test_as_many_are_in_flight_as_wanted(in_flight: int, most: int) -> None:
    backend: Any = Recorder()
    found = ask(backend, prompts(7), in_flight)
    assert backend.most == most
    assert [found[name].text for name in found if isinstance(found[name], Output)] == list("0123456")  # type: ignore[union-attr]  # outputs only


def test_a_failing_sample_has_its_error_and_the_others_their_answers() -> None:
    backend: Any = Recorder(failing="2")
    found = ask(backend, prompts(4), 3)
    assert [name for name, answer in found.items() if isinstance(answer, BackendError)] == ["2"]
    assert list(found) == ["0", "1", "2", "3"]
