"""Drawing from logits in NumPy: the same sets as the other runtimes', and draws that hang on the seed alone."""

import mlx.core as mx
import numpy as np
import pytest
from mlx_vlm.sample_utils import apply_top_k, make_logits_processors

from bakeoff.backends.backend import REPEAT_WINDOW
from bakeoff.backends.numpy_sampling import Sampler, kept, log_softmax, penalised, token_of
from bakeoff.records import Sampling

LOGITS = np.random.default_rng(3).normal(scale=3, size=200).astype(np.float32)


def plain(**changes: float) -> Sampling:
    return Sampling(**{"temperature": 1.0, "top_k": 0, **changes})  # type: ignore[arg-type]  # named by the test


def test_top_k_keeps_exactly_k_also_of_equals() -> None:
    tokens, _ = kept(np.array([1, 3, 2.9, 2.9]), plain(top_k=2))
    assert tokens.tolist() == [1, 2]


def test_top_k_keeps_the_tokens_that_mlx_keeps() -> None:
    tokens, _ = kept(LOGITS, plain(top_k=17))
    theirs = np.isfinite(np.array(apply_top_k(mx.array(LOGITS)[None], 17))[0])
    assert sorted(tokens.tolist()) == np.flatnonzero(theirs).tolist()


@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.9])
def test_top_p_is_the_smallest_set_that_holds_it(top_p: float) -> None:
    tokens, logprobs = kept(LOGITS, plain(top_p=top_p))
    shares = np.exp(logprobs)
    assert shares.sum() >= top_p
    assert shares[:-1].sum() < top_p
    assert len(tokens) < len(LOGITS)


def test_min_p_is_relative_to_the_likeliest() -> None:
    tokens, _ = kept(np.log([0.5, 0.3, 0.04, 0.16]), plain(min_p=0.1))
    assert tokens.tolist() == [0, 1, 3]


def test_temperature_zero_takes_the_likeliest() -> None:
    assert Sampler(Sampling(temperature=0.0), 1).draw(LOGITS, []) == int(LOGITS.argmax())


def test_shares_of_draws_are_those_of_the_tempered_distribution() -> None:
    sampler, wanted = Sampler(Sampling(temperature=0.5, top_k=3), 5), np.array([0.5, 0.3, 0.15, 0.05])
    drawn = np.bincount([sampler.draw(np.log(wanted), []) for _ in range(4000)], minlength=4) / 4000
    tempered = wanted[:3] ** 2 / (wanted[:3] ** 2).sum()
    assert drawn[3] == 0
    assert drawn[:3] == pytest.approx(tempered, abs=0.03)


def test_the_seed_alone_decides() -> None:
    first, again, other = (Sampler(plain(), seed) for seed in (1, 1, 2))
    draws = [[sampler.draw(LOGITS, []) for _ in range(20)] for sampler in (first, again, other)]
    assert draws[0] == draws[1] != draws[2]


def test_the_penalty_is_that_of_mlx() -> None:
    before = [5, 9, 9, 150, *range(20, 90)]
    (theirs,) = make_logits_processors(repetition_penalty=1.3, repetition_context_size=REPEAT_WINDOW)
    expected = np.array(theirs(mx.array(before), mx.array(LOGITS)[None]))[0]
    assert penalised(LOGITS, before[-REPEAT_WINDOW:], 1.3) == pytest.approx(expected, rel=1e-5)
    greedy = Sampling(temperature=0.0, repetition_penalty=50.0)
    best = int(LOGITS.argmax())
    assert Sampler(greedy, 1).draw(LOGITS, [best]) != best
    assert Sampler(greedy, 1).draw(LOGITS, [best, *[0] * REPEAT_WINDOW]) == best


def test_a_told_token_has_its_probability_before_any_sampler() -> None:
    told = token_of(LOGITS, 7, 3)
    assert told.logprob == pytest.approx(log_softmax(LOGITS)[7])
    assert [token for token, _ in told.top] == np.argsort(-LOGITS)[:3].tolist()
    assert np.exp(log_softmax(LOGITS)).sum() == pytest.approx(1.0)
