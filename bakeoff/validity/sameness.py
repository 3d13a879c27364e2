"""Are two ways of asking the same samples the same to the last bit? Texts, tokens and log-probabilities, by sample id.

Asked alone and together, with and without reuse of image work: `--audit` and the benches ask through this module.
"""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Final

import msgspec

from bakeoff.backends import Backend
from bakeoff.errors import BackendError
from bakeoff.records import Output, Prompt
from bakeoff.traces import Token

NEAR_TIE: Final = 0.02
"""Margin in log-probability up to which rounding explains a choice. On the embedded checkpoint llama.cpp's
log-probabilities moved by up to 0.0034 with the company of a prompt; a margin is the difference of two of them.
"""


class Parting(msgspec.Struct, frozen=True, kw_only=True):
    """Where two answers to one sample part.

    `place` counts tokens from 0, and is None where there are no traces to look into; `margin` is how much likelier, in
    log-probability, the first answer held its token there than the second answer's, None where it does not tell.
    """

    sample_id: str
    place: int | None = None
    margin: float | None = None

    @property
    def is_near_tie(self) -> bool:
        """Whether the first answer held both tokens for as good as equally likely."""
        return self.margin is not None and self.margin <= NEAR_TIE


class Sameness(msgspec.Struct, frozen=True, kw_only=True):
    """What comparing `n` samples found that were answered both times.

    `parted` are those whose text or tokens differ; `largest` is the largest difference of log-probabilities, of the
    tokens and their candidates, up to where answers part, None without traces; `shifted` are the samples where
    tokens, log-probabilities or candidates are not exactly the same; `missing` got no answer one of the two times.
    """

    n: int
    parted: tuple[Parting, ...] = ()
    shifted: tuple[str, ...] = ()
    largest: float | None = None
    missing: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether every sample was answered and nothing differs, not by a bit."""
        return self.n > 0 and not (self.parted or self.shifted or self.missing)

    @property
    def identical(self) -> int:
        """Answers with the same text and tokens."""
        return self.n - len(self.parted)

    @property
    def unexplained(self) -> tuple[Parting, ...]:
        """Where answers part although nothing was close."""
        return tuple(parting for parting in self.parted if not parting.is_near_tie)


def ask(backend: Backend, prompts: Mapping[str, Prompt], in_flight: int) -> dict[str, Output | BackendError]:
    """Ask `prompts` in their order with at most `in_flight` at a time; a sample without an answer has its error."""
    found: dict[str, Output | BackendError] = {}
    flying: dict[str, Future[Output]] = {}
    waiting = iter(prompts.items())
    while True:
        while len(flying) < max(1, in_flight) and (entry := next(waiting, None)) is not None:
            flying[entry[0]] = backend.submit(entry[1])
        if not flying:
            return found
        oldest = next(iter(flying))
        try:
            found[oldest] = flying.pop(oldest).result()
        except BackendError as error:
            found[oldest] = error


def compare(first: Mapping[str, Output | BackendError], second: Mapping[str, Output | BackendError]) -> Sameness:
    """Return how the second answers differ from the first."""
    pairs = {
        name: (one, other)
        for name, one in first.items()
        if isinstance(one, Output) and isinstance(other := second.get(name), Output)
    }
    parted: list[Parting] = []
    shifts: list[float] = []
    shifted: list[str] = []
    for name, (one, other) in pairs.items():
        if one.trace is None or other.trace is None:
            if one.text != other.text:
                parted.append(Parting(sample_id=name))
            continue
        shift, parting = _tokens(name, one.trace.tokens, other.trace.tokens)
        shifts.append(shift)
        if one.trace.tokens != other.trace.tokens:
            shifted.append(name)
        if parting is None and one.text != other.text:
            parting = Parting(sample_id=name)
        if parting is not None:
            parted.append(parting)
    return Sameness(
        n=len(pairs),
        parted=tuple(parted),
        shifted=tuple(shifted),
        largest=max(shifts, default=None),
        missing=tuple(sorted((first.keys() | second.keys()) - pairs.keys())),
    )


def _tokens(name: str, first: tuple[Token, ...], second: tuple[Token, ...]) -> tuple[float, Parting | None]:
    """Return the largest difference of log-probabilities up to where the tokens part, and that place."""
    largest = 0.0
    for place, (one, other) in enumerate(zip(first, second, strict=False)):
        before = {**dict(one.top), one.id: one.logprob}
        after = {**dict(other.top), other.id: other.logprob}
        largest = max([largest, *(abs(before[token] - after[token]) for token in before.keys() & after.keys())])
        if one.id != other.id:
            margin = one.logprob - before[other.id] if other.id in before else None
            return largest, Parting(sample_id=name, place=place, margin=margin)
    if len(first) != len(second):
        return largest, Parting(sample_id=name, place=min(len(first), len(second)))
    return largest, None
