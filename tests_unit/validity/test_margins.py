"""Where two greedy answers part, and whether a near tie explains it."""

import pytest

from bakeoff.records import Output
from bakeoff.traces import Token, Trace
from bakeoff.validity.margins import NEAR_TIE, compare, parting


def trace(*tokens: tuple[int, dict[int, float]]) -> Trace:
    """A trace of tokens, each with its candidates."""
    return Trace(tokens=tuple(Token(id=t, logprob=top[t], top=tuple(top.items())) for t, top in tokens))


def output(found: Trace, text: str = "same") -> Output:
    return Output(text=text, finish_reason="stop", trace=found)


SURE = (1, {1: -0.1, 2: -3.0})
LEFT, RIGHT = (5, {5: -0.693, 6: -0.694}), (6, {6: -0.6931, 5: -0.6932})


def test_answers_with_the_same_tokens_do_not_part() -> None:
    assert parting(trace(SURE, LEFT), trace(SURE, LEFT)) is None


def test_the_margins_are_those_of_the_first_token_that_differs() -> None:
    found = parting(trace(SURE, LEFT, SURE), trace(SURE, RIGHT, LEFT))
    assert found is not None
    assert found.place == 1
    assert list(found.margins) == pytest.approx([0.001, 0.0001])
    assert found.is_near_tie


def test_a_choice_that_was_not_close_is_explained_by_nothing() -> None:
    found = parting(trace(SURE), trace((2, {2: -0.1, 1: -3.0})))
    assert found is not None
    assert min(margin for margin in found.margins if margin is not None) > NEAR_TIE
    assert not found.is_near_tie


@pytest.mark.parametrize("other", [trace((9, {9: -0.1})), trace()])
def test_a_token_that_is_no_candidate_and_an_answer_that_ends_early_are_not_explained(other: Trace) -> None:
    found = parting(trace(SURE), other)
    assert found is not None
    assert found.margins == (None, None)
    assert not found.is_near_tie


def test_answers_are_compared_by_name_and_told_apart_by_cause() -> None:
    ones = {"a": output(trace(SURE)), "b": output(trace(LEFT)), "c": output(trace(SURE))}
    others = {"c": output(trace((2, {2: -0.1}))), "b": output(trace(RIGHT)), "a": output(trace(SURE))}
    found = compare(ones, others)
    assert (found.n, found.identical, found.unexplained) == (3, 1, ("c",))
    assert found.sentence == "1 of 3 identical, 1 part at a near tie, 1 elsewhere"


def test_other_words_from_the_same_tokens_are_a_difference() -> None:
    found = compare({"a": output(trace(SURE))}, {"a": output(trace(SURE), "other")})
    assert found.unexplained == ("a",)


def test_what_has_no_trace_cannot_be_called_the_same() -> None:
    bare = Output(text="x", finish_reason="stop")
    with pytest.raises(ValueError, match="has no trace"):
        compare({"a": bare}, {"a": bare})
    with pytest.raises(ValueError, match="other names"):
        compare({"a": bare}, {})
