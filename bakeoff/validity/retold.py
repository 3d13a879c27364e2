"""Where two arms part: answers asked once more with their log-probabilities, and how sure each arm was at that place.

Two runtimes of the same weights never compute to the last bit alike, so where a model holds two words nearly equally
likely either may come out, and what follows goes its own way. Above temperature 0 the draw may decide likewise. Such a
flip says nothing about a runtime. One where the arms held the two words differently does.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from bakeoff.files import write_atomically
from bakeoff.runs import RunDirectory, pretty_json
from bakeoff.traces import Token
from bakeoff.validity.audit import read_folder

NEAR: Final = 0.5
"""Largest difference of log-odds, in nats, that counts as none: odds at most 1.65 times as large."""


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """How the arms held the two tokens at which their answers part, in nats.

    `apart` is the difference between the arms in the log-odds of the two tokens, 0 where both hold them alike; `tie` is
    the larger of both arms' log-odds without their sign, 0 where both tokens are equally likely to both arms.
    """

    apart: float
    tie: float


class Retold(msgspec.Struct, frozen=True, kw_only=True):
    """One answer asked again; `repeats` says whether the text is the one in the record.

    `text_ids` are the tokens of the prompt around its images: only where they agree do token ids mean the same.
    """

    repeats: bool
    text_ids: tuple[int, ...]
    tokens: tuple[Token, ...]


class RetoldArm(msgspec.Struct, frozen=True, kw_only=True):
    """What an arm said again, by sample id."""

    arm: str
    answers: dict[str, Retold]


def gaps(a: RetoldArm, b: RetoldArm) -> dict[str, Gap]:
    """Return, by sample id, how the arms held the tokens at which they part; samples without one are left out."""
    pairs = {name: (a.answers[name], b.answers[name]) for name in a.answers if name in b.answers}
    found = {name: gap(*pair) for name, pair in pairs.items()}
    return {name: value for name, value in found.items() if value is not None}


def gap(a: Retold, b: Retold) -> Gap | None:
    """Return how both arms held the first two tokens that differ.

    None where an answer did not come out the same again, where the prompts are not the same tokens, and where no token
    differs before one of the two ends.
    """
    if not (a.repeats and b.repeats and a.text_ids and a.text_ids == b.text_ids):
        return None
    for x, y in zip(a.tokens, b.tokens, strict=False):
        if x.id != y.id:
            ours, theirs = _odds(x, y.id), -_odds(y, x.id)
            return Gap(apart=abs(ours - theirs), tie=max(abs(ours), abs(theirs)))
    return None


def _odds(said: Token, instead: int) -> float:
    """Return how much likelier an arm holds what it said than what the other said; negative for an unlikely draw.

    What is not among the likeliest candidates is taken to be as likely as the last of them, which it cannot exceed.
    """
    candidates = dict(said.top)
    least = min(candidates.values(), default=said.logprob)
    return said.logprob - candidates.get(instead, least)


def write_retold(run: RunDirectory, retold: RetoldArm) -> None:
    """Write `retold/<arm>.json`."""
    write_atomically(run.path / "retold" / f"{retold.arm}.json", pretty_json(msgspec.to_builtins(retold)))


def read_retold(run: RunDirectory) -> Mapping[str, RetoldArm]:
    """Return what the arms of a run said again, by arm.

    Raises:
        UsageProblem: when a file is not readable.
    """
    return read_folder(run, "retold", RetoldArm)
