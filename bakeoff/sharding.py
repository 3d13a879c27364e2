"""Splits the samples of a track into parts for several machines, so that questions on one image stay together."""

import re
from collections.abc import Iterable

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.hashing import hash_json
from bakeoff.records import Sample

_FORM = re.compile(r"(\d+)/(\d+)")


class Shard(msgspec.Struct, frozen=True, kw_only=True):
    """Part `index` of `count`; the first part is 1."""

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


def read_shard(text: str) -> Shard:
    """Read `I/N`.

    Raises:
        UsageProblem: when it is not of that form, or I is not one of 1 to N.
    """
    match = _FORM.fullmatch(text.strip())
    index, count = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= index <= count:
        raise UsageProblem(f"--shard {text}: write I/N with I from 1 to N, such as --shard 2/8")
    return Shard(index=index, count=count)


def split(samples: Iterable[Sample], count: int) -> dict[str, int]:
    """Return the part, from 1 to `count`, of every sample by id; equal samples in equal order give equal parts.

    Samples come by cluster (those that share their images), in order of first appearance; each cluster goes to the part
    that has the fewest samples so far, the first of several. So parts differ by the size of one cluster at most.
    """
    clusters: dict[str, list[str]] = {}
    for sample in samples:
        clusters.setdefault(sample.cluster, []).append(sample.id)
    sizes = [0] * count
    parts: dict[str, int] = {}
    for ids in clusters.values():
        smallest = min(range(count), key=sizes.__getitem__)
        sizes[smallest] += len(ids)
        parts.update(dict.fromkeys(ids, smallest + 1))
    return parts


def whole_sha256(samples: Iterable[Sample]) -> str:
    """Return a hash of all that is split, so that parts of two different wholes are not taken for one."""
    return hash_json([sample.id for sample in samples])
