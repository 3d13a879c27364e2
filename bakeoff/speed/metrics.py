"""What is measured of an answer, with its unit and meaning: the same for every runtime, absent where it does not tell.

`prefill_s` runs from the prepared prompt to the first token, image encoding included; `ttft_s` from the moment the
runtime takes the prompt, so preparing pictures and, for a server, sending them is in it. `decode_tps` counts the tokens
after the first one, which are the ones that `decode_s` is the time of. Tokens are counted by the runtime.
"""

import statistics
from collections.abc import Sequence
from typing import Literal

import msgspec

from bakeoff.records import Output

Unit = Literal["s", "tokens/s", "tokens", "bytes", "J"]


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A measured quantity; `better` says which way is good, None for what only describes."""

    title: str
    unit: Unit
    better: Literal["lower", "higher"] | None = None


METRICS: dict[str, Metric] = {
    "load_s": Metric(title="Load", unit="s", better="lower"),
    "image_encode_s": Metric(title="Image encode", unit="s", better="lower"),
    "prefill_s": Metric(title="Prefill", unit="s", better="lower"),
    "ttft_s": Metric(title="First token", unit="s", better="lower"),
    "decode_tps": Metric(title="Decode", unit="tokens/s", better="higher"),
    "total_s": Metric(title="Total", unit="s", better="lower"),
    "prompt_tokens": Metric(title="Prompt tokens", unit="tokens"),
    "image_tokens": Metric(title="Image tokens", unit="tokens"),
    "completion_tokens": Metric(title="Answer tokens", unit="tokens"),
    "cached_tokens": Metric(title="From a cache", unit="tokens"),
    "peak_memory_bytes": Metric(title="Peak memory", unit="bytes", better="lower"),
    "device_peak_bytes": Metric(title="Peak on device", unit="bytes", better="lower"),
    "energy_j": Metric(title="Energy", unit="J", better="lower"),
}

FEWEST_TOKENS = 8
"""Tokens after the first one below which a rate would be one of the clock and of luck."""

ABSENT: dict[str, str] = {
    "image_encode_s": "the runtime does not tell it apart from prefill",
    "decode_tps": f"no time told, or fewer than {FEWEST_TOKENS} tokens after the first one to time",
    "device_peak_bytes": "the runtime keeps no account of its device's memory",
}
"""Why a quantity may be missing, where it is not the machine's doing."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One quantity over `rounds` rounds: median, least, most, and `spread`, the distance between the quartiles.

    `passes` are the medians of each pass over the arms: first forwards, then backwards. Where they differ by more than
    the spread, the machine changed meanwhile.
    """

    median: float
    spread: float | None
    least: float
    most: float
    rounds: int
    passes: tuple[float, ...]


def measured(output: Output) -> dict[str, float | None]:
    """Return the quantities that an output holds."""
    later = max((output.completion_tokens or 0) - 1, 0)
    return {
        "image_encode_s": output.image_encode_s,
        "prefill_s": output.prefill_s,
        "ttft_s": output.ttft_s,
        "decode_tps": later / output.decode_s if output.decode_s and later >= FEWEST_TOKENS else None,
        "total_s": output.total_s,
        "prompt_tokens": output.prompt_tokens,
        "image_tokens": output.image_tokens,
        "completion_tokens": output.completion_tokens,
        "cached_tokens": output.cached_tokens,
    }


def figure(passes: Sequence[Sequence[float]]) -> Figure | None:
    """Return what the values of all passes come to; None without a value."""
    values = [value for found in passes for value in found]
    if not values:
        return None
    quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else None
    return Figure(
        median=statistics.median(values),
        spread=quartiles[2] - quartiles[0] if quartiles else None,
        least=min(values),
        most=max(values),
        rounds=len(values),
        passes=tuple(statistics.median(found) for found in passes if found),
    )
