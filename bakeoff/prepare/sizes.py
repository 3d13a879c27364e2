"""How large the dataset files of tracks are, from the hub's list of files: `python -m bakeoff.prepare.sizes TRACK ...`.

That is the most that preparing a track can fetch. How much of it a draw needs is known when the files' own tables of
contents are read, which `bakeoff prepare` does before it fetches images.
"""

import sys
from collections.abc import Sequence

import msgspec

from bakeoff.errors import BakeoffError
from bakeoff.prepare.layout import data_files
from bakeoff.prepare.link import Link
from bakeoff.tracks import TRACKS
from bakeoff.tracks.source import Source

STALL_S = 10.0
"""Whoever asks only for sizes would rather hear soon that they are not known."""


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes by track, and by track why they are not known."""

    known: dict[str, int] = {}
    problems: dict[str, str] = {}


def file_bytes(source: Source, link: Link) -> int:
    """Return the bytes of all files that hold a split of `source`.

    Raises:
        DataMissing: when the hub cannot be reached, refuses, or has no such files.
    """
    found: dict[tuple[str, str], int] = {}
    for split in source.splits:
        listing = link.listing(split.repository, split.revision)
        card = link.text(listing, "README.md")
        paths = data_files(listing.sizes, card, repository=split.repository, config=split.config, split=split.split)
        found |= {(split.repository, path): listing.sizes[path] for path in paths}
    return sum(found.values())


def sizes_of(names: Sequence[str], link: Link) -> Sizes:
    """Return the sizes of those that are prepared from the hub; one that fails does not keep others from theirs."""
    known, problems = {}, {}
    for name in names:
        track = TRACKS.get(name)
        if track is None or track.source is None:
            continue
        try:
            known[name] = file_bytes(track.source, link)
        except BakeoffError as error:
            problems[name] = str(error)
    return Sizes(known=known, problems=problems)


if __name__ == "__main__":
    asked = Link(say=lambda note: print(note, file=sys.stderr), stall_s=STALL_S, attempts=2)  # noqa: T201 -- a program
    sys.stdout.buffer.write(msgspec.json.encode(sizes_of(sys.argv[1:], asked)) + b"\n")
