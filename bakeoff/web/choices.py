"""The tracks that the launcher offers: what is prepared, what could be, and what more would cost."""

from functools import lru_cache
from pathlib import Path

import msgspec

from bakeoff.errors import BakeoffError
from bakeoff.tracks import TRACKS, Track
from bakeoff.tracks.cases import read_cases
from bakeoff.web.asked import Start
from bakeoff.web.place import Place


class TrackRow(msgspec.Struct, frozen=True, kw_only=True):
    """One track to choose.

    `prepared` is None where nothing is; `full` is None where there is no fixed whole. `can_prepare` says whether
    `bakeoff prepare` knows it, `is_all` that nothing more can be fetched. `sample_bytes` is what an image set of one
    sample took so far, None where nothing tells. `problem` is why the track cannot run as it is.
    """

    name: str
    title: str
    prepared: int | None
    full: int | None
    can_prepare: bool
    is_all: bool
    default_size: str
    sample_bytes: float | None
    protocols: tuple[str, ...]
    groups: str | None
    problem: str | None
    licence: str


class _Manifest(msgspec.Struct, frozen=True):
    """The two fields of a prepared track's manifest that matter here."""

    rows_read: int
    rows_taken: int
    image_bytes: int
    samples: int


def track_rows(place: Place) -> list[TrackRow]:
    """Return a row for every track that has a test module."""
    there = place.modules()
    return [_row(track) for name, track in TRACKS.items() if name in there]


def missing_samples(asked: Start, place: Place) -> dict[str, int]:
    """Return by track how many samples must be fetched for what is asked, none where all that can be had is there."""
    rows = {row.name: row for row in track_rows(place)}
    wanted = {name: asked.limit_of(name) for name in asked.tracks if name in rows}
    found: dict[str, int] = {}
    for name, limit in wanted.items():
        row = rows[name]
        if not row.can_prepare or row.is_all:
            continue
        target = min(limit or row.full or 1, row.full or limit or 1)
        if row.prepared is None or (limit is not None and target > row.prepared):
            found[name] = target
    return found


def _row(track: Track) -> TrackRow:
    prepared, problem = _prepared(track)
    manifest = _manifest(track.folder())
    full = track.full or None
    whole = manifest is not None and manifest.rows_taken >= manifest.rows_read
    return TrackRow(
        name=track.name,
        title=track.title,
        prepared=prepared,
        full=full,
        can_prepare=track.source is not None,
        is_all=track.source is None or whole or (prepared is not None and full is not None and prepared >= full),
        default_size="" if track.source is None else str(track.source.default),
        sample_bytes=manifest.image_bytes / manifest.samples if manifest and manifest.samples else None,
        protocols=track.protocol_names,
        groups=track.dimensions[0] if track.dimensions else None,
        problem=problem,
        licence=track.licence,
    )


def _prepared(track: Track) -> tuple[int | None, str | None]:
    if track.load is not None:
        try:
            return len(read_cases(track.folder())), None
        except BakeoffError as problem:
            return None, str(problem)
    path = track.folder() / "samples.jsonl"
    try:
        status = path.stat()
    except OSError:
        return None, f"not prepared: bakeoff prepare {track.name}"
    return _lines(path, status.st_mtime_ns, status.st_size), None


@lru_cache(maxsize=64)
def _lines(path: Path, _changed_ns: int, _size: int) -> int:
    """Count the samples of a file; once for every version of it."""
    with path.open("rb") as file:
        return sum(1 for line in file if line.strip())


def _manifest(folder: Path) -> _Manifest | None:
    try:
        return msgspec.json.decode((folder / "manifest.json").read_bytes(), type=_Manifest)
    except (OSError, ValueError):
        return None
