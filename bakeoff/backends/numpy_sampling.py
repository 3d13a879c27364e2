"""Drawing tokens from logits in NumPy, for runtimes that give logits and do not sample.

The same meaning as on the other runtimes: the repetition penalty first, then exactly the `top_k` likeliest tokens, then
the smallest set of them that holds `top_p`, then those within `min_p` of the likeliest, then the temperature. A draw
depends on the prompt's seed and on how many tokens came before, on nothing else. The numbers drawn are NumPy's, so at a
temperature above 0 two runtimes draw from the same distribution and not the same tokens.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bakeoff.backends.backend import REPEAT_WINDOW
from bakeoff.records import Sampling
from bakeoff.traces import Token

Logits = NDArray[Any]
"""One position's logits, of shape [vocabulary]."""


class Sampler:
    """Draws the tokens of one prompt, one after the other."""

    def __init__(self, sampling: Sampling, seed: int) -> None:
        self._sampling = sampling
        self._random = np.random.default_rng(seed)

    def draw(self, logits: Logits, before: Sequence[int]) -> int:
        """Return the next token; `before` are the last token of the prompt and those drawn so far."""
        logits = penalised(logits, before[-REPEAT_WINDOW:], self._sampling.repetition_penalty)
        if self._sampling.temperature == 0:
            return int(np.argmax(logits))
        tokens, logprobs = kept(logits, self._sampling)
        weights = np.exp((logprobs - logprobs[0]) / self._sampling.temperature)
        bound = np.cumsum(weights)
        return int(tokens[np.searchsorted(bound, self._random.random() * bound[-1], side="right")])


def penalised(logits: Logits, before: Sequence[int], penalty: float | None) -> Logits:
    """Return logits with those of the tokens in `before` moved towards unlikely, each once."""
    found = np.array(logits, dtype=np.float64)
    if penalty and penalty != 1.0 and before:
        tokens = np.unique(np.asarray(before))
        found[tokens] = np.where(found[tokens] < 0, found[tokens] * penalty, found[tokens] / penalty)
    return found


def kept(logits: Logits, sampling: Sampling) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the tokens that may be drawn and their log-probabilities, the likeliest first; of equals the lower id."""
    logprobs = log_softmax(logits)
    order = np.argsort(-logprobs, kind="stable")
    if sampling.top_k > 0:
        order = order[: sampling.top_k]
    if 0 < sampling.top_p < 1:
        share = np.exp(logprobs[order] - logprobs[order[0]])
        before = np.cumsum(share) - share
        order = order[before < sampling.top_p * share.sum()]
    if sampling.min_p > 0:
        order = order[logprobs[order] >= logprobs[order[0]] + np.log(sampling.min_p)]
    return order, logprobs[order]


def log_softmax(logits: Logits) -> Logits:
    """Return log-probabilities in double precision."""
    values = np.asarray(logits, dtype=np.float64)
    shifted = values - values.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def token_of(logits: Logits, chosen: int, count: int) -> Token:
    """Return a token with its log-probability before any sampler, and the `count` likeliest ones."""
    logprobs = log_softmax(logits)
    best = np.argsort(-logprobs, kind="stable")[:count]
    return Token(
        id=chosen, logprob=float(logprobs[chosen]), top=tuple((int(token), float(logprobs[token])) for token in best)
    )
