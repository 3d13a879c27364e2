"""Two runs of the same samples, record by record."""

from pathlib import Path
from typing import NamedTuple

from bakeoff.records import Record
from bakeoff.runs import RunDirectory

FIELDS = (
    *("output", "answer", "score", "correct", "status", "finish_reason", "seed"),
    *("prompt_sha256", "prompt_tokens", "image_tokens", "completion_tokens"),
)
"""What must not depend on where a sample was asked; times and the host may."""


class Difference(NamedTuple):
    """A record that is not alike; `field` is `record` where one of the runs has none."""

    sample: str
    field: str
    first: object
    second: object

    def __str__(self) -> str:
        return f"{self.sample}: {self.field} was {self.first!r} and is {self.second!r}"


def records(run: Path) -> dict[str, Record]:
    """Return the last record of every sample, by arm and sample."""
    journals = RunDirectory(run).journals()
    return {f"{arm}/{name}": record for arm, found in journals.items() for name, record in found.records.items()}


def differences(first: Path, second: Path) -> list[Difference]:
    """Return by sample the first field in which two runs differ."""
    one, two = records(first), records(second)
    found = []
    for name in sorted(one.keys() | two.keys()):
        if name not in one or name not in two:
            found.append(Difference(name, "record", name in one, name in two))
            continue
        for field in FIELDS:
            before, after = getattr(one[name], field), getattr(two[name], field)
            if before != after:
                found.append(Difference(name, field, before, after))
                break
    return found
