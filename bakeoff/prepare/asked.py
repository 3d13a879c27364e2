"""What the command line asks for: which tracks, in which size, at which revisions."""

import difflib
from collections.abc import Mapping, Sequence

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.tracks.source import Source, Split
from bakeoff.tracks.track import Track


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One track to prepare; `named` is False for one that is taken because nothing else was said.

    `overridden` holds the repositories whose revision was given by hand.
    """

    track: Track
    source: Source
    size: str | int
    named: bool
    overridden: frozenset[str] = frozenset()

    def again(self, option: str) -> str:
        """Return the command that asks for the same once more, with `option`."""
        name, revisions = self.track.name, {split.repository: split.revision for split in self.source.splits}
        named = (f"--revision {name}:{place}={revisions[place]}" for place in sorted(self.overridden))
        return " ".join(("bakeoff prepare", f"{name}={self.size}", *named, option))


def read_requests(words: Sequence[str], revisions: Sequence[str], tracks: Mapping[str, Track]) -> list[Request]:
    """Read `TRACK[=off|subset|full|N]` words and `TRACK[:REPOSITORY]=SHA` revisions, in the order of `tracks`.

    Without words, and with none but `=off` ones, every other track that has a source is taken in its default size.

    Raises:
        UsageProblem: on an unknown track or repository, a bad size, a track named twice, or nothing to do.
    """
    sizes: dict[str, str | int | None] = {}
    for word in words:
        name, equals, size = word.partition("=")
        source = _source(name, tracks)
        if name in sizes:
            raise UsageProblem(f"{name} is named twice; name each track once")
        sizes[name] = _size(size, word, source) if equals else source.default
    only = any(size is not None for size in sizes.values())
    taken = {
        name: sizes.get(name, track.source.default)
        for name, track in tracks.items()
        if track.source is not None and (name in sizes or not only)
    }
    requests = [
        Request(track=tracks[name], source=_source(name, tracks), size=size, named=name in sizes)
        for name, size in taken.items()
        if size is not None
    ]
    if not requests:
        raise UsageProblem("nothing to prepare: every track is off")
    return _with_revisions(requests, revisions)


def _source(name: str, tracks: Mapping[str, Track]) -> Source:
    having = [known for known, track in tracks.items() if track.source is not None]
    if name not in tracks:
        near = difflib.get_close_matches(name.lower(), having, n=3)
        hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(having)}"
        raise UsageProblem(f"no track {name!r}; {hint}")
    source = tracks[name].source
    if source is None:
        raise UsageProblem(f"{name} needs no preparing: its samples come with the suite or are your own files")
    return source


def _size(text: str, word: str, source: Source) -> str | int | None:
    """Return a size, None for off; a track's default may have a name of its own."""
    text = text.strip().lower()
    if text == "off":
        return None
    if text in {"subset", "full", source.default}:
        return text
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    named = ", ".join(dict.fromkeys(("off", "subset", "full", str(source.default))))
    raise UsageProblem(f"bad size in {word!r}: expected {named} or a number of at least 1")


def _with_revisions(requests: list[Request], revisions: Sequence[str]) -> list[Request]:
    by_name = {request.track.name: request for request in requests}
    for text in revisions:
        place, _, revision = text.partition("=")
        name, _, repository = place.partition(":")
        if not revision or name not in by_name:
            raise UsageProblem(
                f"bad --revision {text!r}: expected TRACK=SHA or TRACK:REPOSITORY=SHA with a track that is prepared "
                f"({', '.join(by_name)})"
            )
        by_name[name] = _override(by_name[name], repository, revision)
    return list(by_name.values())


def _override(request: Request, repository: str, revision: str) -> Request:
    there = sorted({split.repository for split in request.source.splits})
    meant = [name for name in there if repository in {"", name, name.rpartition("/")[2]}]
    if len(meant) != 1:
        forms = ", ".join(f"--revision {request.track.name}:{name}={revision}" for name in there)
        several = f"is made of {len(there)} repositories; name one of them" if len(there) > 1 else "has one repository"
        raise UsageProblem(f"{request.track.name} {several}: {forms}")

    def changed(split: Split) -> Split:
        return msgspec.structs.replace(split, revision=revision) if split.repository == meant[0] else split

    source = msgspec.structs.replace(request.source, splits=tuple(changed(split) for split in request.source.splits))
    return msgspec.structs.replace(request, source=source, overridden=request.overridden | {meant[0]})
