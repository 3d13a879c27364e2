"""Drawing tokens for one prompt of a batch, whatever the others are.

A prompt's draws depend on its own seed and on how many tokens it has, never on the rows beside it, and are those that
mlx-vlm's `stream_generate` makes for that seed alone.
"""

from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx_vlm.generate.ar import _PositionedTargetSampler  # private, and the only way to its draws by position
from mlx_vlm.sample_utils import apply_min_p, apply_top_k, apply_top_p, clamp_temperature, make_logits_processors

from bakeoff.backends.backend import REPEAT_WINDOW
from bakeoff.records import Sampling

Draw = Callable[[Any, int], Any]
"""Log-probabilities [1, vocabulary] and the token's number from 0 -> the token, of shape [1]."""


def draw_of(sampling: Sampling, seed: int) -> Draw | None:
    """Return how tokens of a prompt are drawn; None for the likeliest one, which a batch takes in one go."""
    temperature = clamp_temperature(sampling.temperature)
    if temperature == 0:
        return None
    if sampling.min_p:
        return _in_sequence(sampling, temperature, seed)
    by_position = _PositionedTargetSampler(
        temperature=temperature, top_p=sampling.top_p, top_k=sampling.top_k, seed=seed
    )
    return lambda logprobs, number: by_position.sample_target(logprobs, row_ids=[0], positions=[number])


def _in_sequence(sampling: Sampling, temperature: float, seed: int) -> Draw:
    """Draw with keys split off one after the other, as MLX's global generator does after `mx.random.seed(seed)`."""
    key = mx.random.key(seed)

    def draw(logprobs: Any, _number: int) -> Any:
        nonlocal key
        key, this = mx.random.split(key)
        if 0 < sampling.top_p < 1:
            logprobs = apply_top_p(logprobs, sampling.top_p)
        logprobs = apply_min_p(logprobs, sampling.min_p)
        if sampling.top_k > 0:
            logprobs = apply_top_k(logprobs, sampling.top_k)
        return mx.random.categorical(logprobs * (1 / temperature), key=this)

    return draw


def processors_of(sampling: Sampling) -> list[Callable[[Any, Any], Any]]:
    """Return what changes the logits of a prompt before a token is drawn: the repetition penalty, if there is one."""
    found: list[Callable[[Any, Any], Any]] = make_logits_processors(
        repetition_penalty=sampling.repetition_penalty, repetition_context_size=REPEAT_WINDOW
    )
    return found
