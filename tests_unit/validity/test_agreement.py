import math

import pytest

from bakeoff.records import Message, Prompt, Text
from bakeoff.traces import Token
from bakeoff.validity.agreement import Continuation, divergence, forced_agreement
from tests_unit.validity.conftest import Arms

HALF = math.log(0.5)
PROMPT = Prompt(
    sample_id="x",
    messages=(Message(role="user", parts=(Text(text="how many"),)),),
    max_tokens=8,
    seed=0,
    top_logprobs=2,
)


def test_divergence_is_zero_for_equals_and_known_for_two_coins() -> None:
    fair = Token(id=1, logprob=HALF, top=((1, HALF), (2, HALF)))
    bent = Token(id=1, logprob=math.log(0.9), top=((1, math.log(0.9)), (2, math.log(0.1))))
    assert divergence(fair, fair) == pytest.approx(0.0, abs=1e-6)
    assert divergence(fair, bent) == pytest.approx(0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1), rel=1e-6)


def test_divergence_needs_candidates() -> None:
    assert divergence(Token(id=1, logprob=-1.0), Token(id=1, logprob=-1.0)) is None


def test_an_arm_agrees_with_its_own_words_and_less_with_anothers_weights(arm: Arms) -> None:
    _, same = arm("same")
    _, other = arm("other", weights=1)
    tokens = same.force(PROMPT, (5, 6, 7)).result().tokens  # type: ignore[attr-defined]  # a fake can be forced
    given = [Continuation(prompt=PROMPT, size="no image", tokens=tokens)]
    (own,) = forced_agreement(same, given)
    assert (own.tokens, own.same_top, own.tops) == (3, 3, 3)
    assert own.delta == pytest.approx(0.0)
    (strange,) = forced_agreement(other, given)
    assert strange.delta is not None
    assert strange.delta > 0.05
    assert strange.kl is not None
    assert strange.kl > 0.0
