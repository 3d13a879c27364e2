"""Were two arms asked the same? The inputs that must agree before their scores are laid side by side."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from bakeoff.records import Record

_BLOCKING = ("sampling.", "seed", "thinking")
_PER_RECORD = "scorers"
"""Names the scorers of the samples selected, which a subset shortens; what each record says of its own is compared."""
_SHA256 = 64
_SHORT = 10


def differing_inputs(a: Mapping[str, Any], b: Mapping[str, Any], track: str) -> tuple[tuple[str, Any, Any], ...]:
    """Return the inputs that must agree for scores to be compared and do not: field, value of a, value of b.

    An arm that was never started has no inputs, and none of them differs.
    """
    if not a or not b:
        return ()
    prefix = f"tracks.{track}."
    fields = sorted(key for key in a.keys() | b.keys() if key.startswith((*_BLOCKING, prefix)))
    return tuple(
        (field.removeprefix(prefix), a.get(field), b.get(field))
        for field in fields
        if a.get(field) != b.get(field) and field != prefix + _PER_RECORD
    )


class RecordDifferences(msgspec.Struct, frozen=True, kw_only=True):
    """On how many of `n` pairs of records what was asked differs, and the rule that read the answer."""

    n: int
    prompts: int
    scorers: int


def differing_records(pairs: Iterable[tuple[Record, Record]]) -> RecordDifferences:
    """Count the pairs whose prompt or whose scorer (name or version) is not the same."""
    found = tuple(pairs)
    return RecordDifferences(
        n=len(found),
        prompts=sum((a.prompt_sha256, a.protocol) != (b.prompt_sha256, b.protocol) for a, b in found),
        scorers=sum((a.scorer, a.scorer_version) != (b.scorer, b.scorer_version) for a, b in found),
    )


def value_text(value: Any) -> str:
    """Return the value of an input in words; a hash is shortened."""
    if value is None:
        return "not recorded"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:_SHORT] if len(text) == _SHA256 else text
