"""How likely does an arm hold the words of another? Teacher-forced agreement, by size of the images.

The arm reads prompt and images, then a continuation that somebody else wrote, and at every token its candidates are
compared with the writer's. One short continuation tells as much as many right or wrong answers.
"""

import math
from collections.abc import Iterable, Mapping

import msgspec

from bakeoff.backends import Backend, ForcedBackend
from bakeoff.errors import BackendError
from bakeoff.records import Prompt
from bakeoff.traces import Token
from bakeoff.validity.probes import ClassAgreement
from bakeoff.validity.telling import Tell, counted, untold


class Continuation(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wrote to a prompt; a token without `top` counts for its own log-probability alone."""

    prompt: Prompt
    size: str
    tokens: tuple[Token, ...]


def forced_agreement(
    backend: Backend, continuations: Iterable[Continuation], tell: Tell = untold
) -> tuple[ClassAgreement, ...]:
    """Return the agreement by size class; empty for a backend that cannot be forced."""
    if not isinstance(backend, ForcedBackend):
        return ()
    futures = [
        (given, backend.force(given.prompt, tuple(token.id for token in given.tokens))) for given in continuations
    ]
    pairs: dict[str, list[tuple[Token, Token]]] = {}
    counts: dict[str, int] = {}
    for given, future in counted(futures, "given answers read", tell):
        try:
            read = future.result().tokens
        except BackendError:
            continue
        pairs.setdefault(given.size, []).extend(zip(given.tokens, read, strict=False))
        counts[given.size] = counts.get(given.size, 0) + 1
    return tuple(_summary(size, counts[size], found) for size, found in pairs.items() if found)


def divergence(given: Token, read: Token) -> float | None:
    """Return KL(given || read) in nats over the candidates of `given` and all others as one.

    A candidate that `read` does not name is as likely as its least one at most, so this is a lower bound.
    """
    if not given.top or not read.top:
        return None
    least = read.top[-1][1]
    others: Mapping[int, float] = {**dict(read.top), read.id: read.logprob}
    p = [logprob for _, logprob in given.top]
    q = [others.get(token, least) for token, _ in given.top]
    total = sum(math.exp(a) * (a - b) for a, b in zip(p, q, strict=True))
    rest_p, rest_q = (max(1.0 - sum(math.exp(x) for x in side), 1e-9) for side in (p, q))
    return max(total + rest_p * math.log(rest_p / rest_q), 0.0)


def _summary(size: str, continuations: int, pairs: list[tuple[Token, Token]]) -> ClassAgreement:
    deltas = [abs(given.logprob - read.logprob) for given, read in pairs]
    tops = [(given.top[0][0], read.top[0][0]) for given, read in pairs if given.top and read.top]
    kls = [kl for given, read in pairs if (kl := divergence(given, read)) is not None]
    return ClassAgreement(
        size=size,
        continuations=continuations,
        tokens=len(pairs),
        same_top=sum(a == b for a, b in tops),
        tops=len(tops),
        delta=math.fsum(deltas) / len(deltas),
        worst=max(deltas),
        kl=math.fsum(kls) / len(kls) if kls else None,
    )
