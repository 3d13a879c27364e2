"""Where two answers part, and how sure the arms were there."""

import msgspec
import pytest

from bakeoff.traces import Token
from bakeoff.validity.retold import Retold, RetoldArm, margin, margins

SAME = Token(id=5, logprob=-0.1, top=((5, -0.1), (6, -3.0)))


def told(*tokens: Token, repeats: bool = True, prompt: tuple[int, ...] = (1, 2)) -> Retold:
    return Retold(repeats=repeats, text_ids=prompt, tokens=tokens)


def choice(said: int, other: int, gap: float) -> Token:
    return Token(id=said, logprob=-0.5, top=((said, -0.5), (other, -0.5 - gap)))


def test_the_margin_is_that_of_the_surer_arm_at_the_first_token_that_differs() -> None:
    a = told(SAME, choice(7, 8, 0.1), choice(1, 2, 9.0))
    b = told(SAME, choice(8, 7, 0.3), choice(3, 4, 9.0))
    assert margin(a, b) == pytest.approx(0.3)
    assert margin(b, a) == pytest.approx(0.3)


def test_a_word_that_is_not_among_the_candidates_is_at_most_as_likely_as_the_last_of_them() -> None:
    a = told(Token(id=7, logprob=-0.5, top=((7, -0.5), (9, -2.5))))
    assert margin(a, told(choice(8, 7, 0.1))) == pytest.approx(2.0)


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
def test_there_is_no_margin_where_none_is_known(a: Retold, b: Retold) -> None:
    assert margin(a, b) is None
    assert margins(RetoldArm(arm="a", answers={"s": a}), RetoldArm(arm="b", answers={"s": b})) == {}


def test_margins_are_of_the_samples_that_both_told_again() -> None:
    a = RetoldArm(arm="a", answers={"s": told(choice(7, 8, 0.2)), "t": told(SAME)})
    b = RetoldArm(arm="b", answers={"s": told(choice(8, 7, 0.1)), "u": told(SAME)})
    assert margins(a, b) == {"s": pytest.approx(0.2)}
    assert msgspec.json.decode(msgspec.json.encode(a), type=RetoldArm) == a
