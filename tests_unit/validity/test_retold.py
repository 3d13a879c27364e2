"""Where two answers part, and how sure the arms were there."""

import msgspec
import pytest

from bakeoff.traces import Token
from bakeoff.validity.retold import Retold, RetoldArm, gap, gaps

SAME = Token(id=5, logprob=-0.1, top=((5, -0.1), (6, -3.0)))


def told(*tokens: Token, repeats: bool = True, prompt: tuple[int, ...] = (1, 2)) -> Retold:
    return Retold(repeats=repeats, text_ids=prompt, tokens=tokens)


def choice(said: int, other: int, gap: float) -> Token:
    return Token(id=said, logprob=-0.5, top=((said, -0.5), (other, -0.5 - gap)))


def test_near_odds_in_both_arms_are_a_tie() -> None:
    a = told(SAME, choice(7, 8, 0.1), choice(1, 2, 9.0))
    b = told(SAME, choice(8, 7, 0.3), choice(3, 4, 9.0))
    for found in (gap(a, b), gap(b, a)):
        assert found is not None
        assert [found.apart, found.tie] == pytest.approx([0.4, 0.3])


def test_equal_distributions_are_not_apart_whatever_was_drawn() -> None:
    likely = Token(id=7, logprob=-0.1, top=((7, -0.1), (8, -2.4)))
    unlikely = Token(id=8, logprob=-2.4, top=((7, -0.1), (8, -2.4)))
    found = gap(told(SAME, likely), told(SAME, unlikely))
    assert found is not None
    assert [found.apart, found.tie] == pytest.approx([0.0, 2.3])


def test_two_arms_that_are_sure_of_different_words_are_apart() -> None:
    found = gap(told(choice(7, 8, 2.0)), told(choice(8, 7, 3.0)))
    assert found is not None
    assert found.apart == pytest.approx(5.0)


def test_a_word_that_is_not_among_the_candidates_is_at_most_as_likely_as_the_last_of_them() -> None:
    a = told(Token(id=7, logprob=-0.5, top=((7, -0.5), (9, -2.5))))
    found = gap(a, told(choice(8, 7, 0.1)))
    assert found is not None
    assert [found.apart, found.tie] == pytest.approx([2.1, 2.0])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (told(SAME), told(SAME)),
        (told(SAME), told(SAME, choice(7, 8, 0.1))),
        (told(choice(7, 8, 0.1), repeats=False), told(choice(8, 7, 0.1))),
        (told(choice(7, 8, 0.1), prompt=(1, 3)), told(choice(8, 7, 0.1))),
        (told(choice(7, 8, 0.1), prompt=()), told(choice(8, 7, 0.1), prompt=())),
    ],
    ids=["same", "one ends", "not the same again", "other prompt", "unknown prompt"],
)
def test_nothing_is_said_where_nothing_is_known(a: Retold, b: Retold) -> None:
    assert gap(a, b) is None
    assert gaps(RetoldArm(arm="a", answers={"s": a}), RetoldArm(arm="b", answers={"s": b})) == {}


def test_gaps_are_of_the_samples_that_both_told_again() -> None:
    a = RetoldArm(arm="a", answers={"s": told(choice(7, 8, 0.2)), "t": told(SAME)})
    b = RetoldArm(arm="b", answers={"s": told(choice(8, 7, 0.1)), "u": told(SAME)})
    assert list(gaps(a, b)) == ["s"]
    assert msgspec.json.decode(msgspec.json.encode(a), type=RetoldArm) == a
