"""Which commits a prepared track was really made from, as `manifest.json` beside its samples tells."""

import msgspec

from bakeoff.tracks.track import Track

UNKNOWN = "unknown"
"""The revision of samples that no manifest was written for."""


class _Origin(msgspec.Struct, frozen=True):
    commit: str


class _Manifest(msgspec.Struct, frozen=True):
    origins: tuple[_Origin, ...]
    samples_sha256: str


def prepared_revision(track: Track, samples_sha256: str) -> str:
    """Return the commits of the datasets behind a track's samples, in order and each once, with ", " between them.

    A track pins its revisions, but another may have been named when it was prepared, or another have been pinned then.
    Samples that `manifest.json` was not written for (a file of another hash, or none) are of an `UNKNOWN` revision; a
    track that is not prepared from a hub has the revision that it declares.
    """
    if track.source is None:
        return track.revision
    try:
        manifest = msgspec.json.decode((track.folder() / "manifest.json").read_bytes(), type=_Manifest)
    except (OSError, ValueError):
        return UNKNOWN
    if manifest.samples_sha256 != samples_sha256:
        return UNKNOWN
    return ", ".join(dict.fromkeys(origin.commit for origin in manifest.origins)) or UNKNOWN
