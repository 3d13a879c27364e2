"""Was an image really read once for all questions on it? From the records alone.

A runtime that reads every image again still gives right answers, only hours later: nothing else shows it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from bakeoff.records import Record
from bakeoff.validity.findings import Finding

FEW = 4
"""Later questions below which nothing is said: a few may have fallen to other slots or workers."""


class Reuse(msgspec.Struct, frozen=True, kw_only=True):
    """Of `later` answered questions on images asked about before, `reused` did not read them again."""

    arm: str
    later: int
    reused: int

    @property
    def sentence(self) -> str:
        """The counts in words."""
        if self.later and not self.reused:
            return (
                f"{self.arm} was to read each image once, and read it again for every one of {self.later} later "
                "questions on it: reuse does not work on this runtime with this model"
            )
        return f"{self.arm} needed one reading of an image for {self.reused} of {self.later} later questions on it"


def told(counts: Sequence[Reuse]) -> str:
    """Return the counts of several arms in one sentence."""
    if len(counts) == 1:
        return counts[0].sentence
    arms = ", ".join(f"{found.arm} for {found.reused} of {found.later}" for found in counts)
    return f"later questions on an image that needed no second reading of it: {arms}"


def count_reuse(arm: str, records: Iterable[Record]) -> Reuse:
    """Count the later questions on each image and those whose cached tokens cover its image tokens.

    Records without either count, and those without an answer, are left out. Questions on an image may stand in any
    order: all but one of them are later ones.
    """
    by_image: dict[tuple[str, tuple[str, ...]], list[bool]] = {}
    for record in records:
        seen, cached = record.image_tokens, record.cached_tokens
        if record.status != "error" and record.image_sha256 and seen and cached is not None:
            by_image.setdefault((record.track, record.image_sha256), []).append(cached >= seen)
    return Reuse(
        arm=arm,
        later=sum(len(found) - 1 for found in by_image.values()),
        reused=sum(min(sum(found), len(found) - 1) for found in by_image.values()),
    )


def check_reuse(arm: str, settings: Mapping[str, Any], records: Iterable[Record]) -> Finding | None:
    """Return a finding when `settings` ask for reuse and not one question got any; it concerns speed, not scores."""
    if not settings.get("image_reuse"):
        return None
    found = count_reuse(arm, records)
    if found.later < FEW or found.reused:
        return None
    return Finding(kind="image reuse", arms=(arm,), sentence=found.sentence, serious=False)
