"""What a probe found: one sentence with its likely cause, and whether it stands against a comparison."""

import math
from collections.abc import Iterable

import msgspec

from bakeoff.traces import Token


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing found. A `serious` one makes parity fail; any other is for the reader.

    `kind` is a word for tools and tests; `arms` are whom it concerns; `probes` where it shows. `brief` says the same
    to somebody in a hurry, without the numbers; it is empty where the sentence has none to leave out.
    """

    kind: str
    arms: tuple[str, ...]
    sentence: str
    serious: bool = True
    probes: tuple[str, ...] = ()
    brief: str = ""

    @property
    def told_first(self) -> str:
        """What a reader is told before the numbers."""
        return self.brief or self.sentence


def gaps(a: tuple[Token, ...], b: tuple[Token, ...]) -> list[float]:
    """Return how far two answers lie apart, token by token up to the first that differs, that one included.

    A gap is the mean |difference of log-probabilities| of `a`'s candidates, weighed by their probabilities; a
    candidate that `b` does not name is as likely as its least one. 0 is equal, 0.01 is rounding, 1 is another model.
    """
    found: list[float] = []
    for left, right in zip(a, b, strict=False):
        other = {**dict(right.top), right.id: right.logprob}
        least = right.top[-1][1] if right.top else right.logprob
        shown = left.top or ((left.id, left.logprob),)
        found.append(math.fsum(math.exp(lp) * abs(lp - other.get(token, least)) for token, lp in shown))
        if left.id != right.id:
            break
    return found


def mean(values: Iterable[float]) -> float | None:
    """Return the mean; None of nothing."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else None


def at_most(value: float) -> str:
    """Return the largest of some gaps in words: at most 0.010, below 0.001."""
    return f"at most {value:.3f}" if value >= 0.0005 else "below 0.001"  # noqa: PLR2004 -- what rounds to 0.000


def listed(names: Iterable[str], most: int = 3) -> str:
    """Return a few names in words."""
    found = list(dict.fromkeys(names))
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
