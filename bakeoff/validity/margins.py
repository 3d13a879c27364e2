"""How sure was a model where two of its answers part? An answer that turned on a near tie was nobody's loss.

The same weights asked in another way (from a kept state, in other company) round differently in the last bits. Where
two tokens are as good as equally likely this decides, and greedy answers part. Anywhere else it cannot.
"""

from collections.abc import Mapping

import msgspec

from bakeoff.records import Output
from bakeoff.traces import Trace

NEAR_TIE = 0.02
"""Margin in log-probability up to which rounding explains a choice. On the embedded checkpoint llama.cpp's
log-probabilities moved by up to 0.0034 with the company of a prompt; a margin is the difference of two of them.
"""


class Parting(msgspec.Struct, frozen=True, kw_only=True):
    """The first token at which two answers part.

    `place` counts tokens from 0. `margins` are how much likelier each answer's own token was than the other's token, in
    log-probability as each answer saw it; None where the other's token is not among the candidates.
    """

    place: int
    margins: tuple[float | None, float | None]

    @property
    def is_near_tie(self) -> bool:
        """Whether either side held both tokens for as good as equally likely."""
        return any(margin is not None and margin <= NEAR_TIE for margin in self.margins)


def parting(a: Trace, b: Trace) -> Parting | None:
    """Return where two traced answers part; None when their tokens are the same."""
    for place, (left, right) in enumerate(zip(a.tokens, b.tokens, strict=False)):
        if left.id != right.id:
            own, other = dict(left.top), dict(right.top)
            return Parting(
                place=place,
                margins=(
                    left.logprob - own[right.id] if right.id in own else None,
                    right.logprob - other[left.id] if left.id in other else None,
                ),
            )
    if len(a.tokens) != len(b.tokens):
        return Parting(place=min(len(a.tokens), len(b.tokens)), margins=(None, None))
    return None


class Sameness(msgspec.Struct, frozen=True, kw_only=True):
    """How many of `n` answers are the same in every token, and where the others part, by name."""

    n: int
    partings: dict[str, Parting]

    @property
    def identical(self) -> int:
        """Answers that do not part."""
        return self.n - len(self.partings)

    @property
    def unexplained(self) -> tuple[str, ...]:
        """Names of the answers that part where nothing was close."""
        return tuple(name for name, found in self.partings.items() if not found.is_near_tie)

    @property
    def sentence(self) -> str:
        """The counts in words."""
        ties = len(self.partings) - len(self.unexplained)
        return f"{self.identical} of {self.n} identical, {ties} part at a near tie, {len(self.unexplained)} elsewhere"


def compare(ones: Mapping[str, Output], others: Mapping[str, Output]) -> Sameness:
    """Compare traced answers with the same names.

    Raises:
        ValueError: when the names differ, or an answer has no trace: nothing would be compared.
    """
    if ones.keys() != others.keys():
        raise ValueError("the two sets of answers have other names")
    partings: dict[str, Parting] = {}
    for name, one in ones.items():
        other = others[name]
        if one.trace is None or other.trace is None or not one.trace.tokens:
            raise ValueError(f"the answer {name} has no trace")
        found = parting(one.trace, other.trace)
        if found is None and one.text != other.text:
            found = Parting(place=len(one.trace.tokens), margins=(None, None))
        if found is not None:
            partings[name] = found
    return Sameness(n=len(ones), partings=partings)
