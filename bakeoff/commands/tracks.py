"""`bakeoff tracks`: the benchmarks with their protocols, and how many samples are prepared."""

from collections.abc import Iterator

from bakeoff.errors import DataMissing
from bakeoff.tracks import TRACKS, samples_of

HEADS = ("track", "version", "protocols", "prepared", "dataset")


def track_rows() -> Iterator[tuple[str, str, str, str, str]]:
    """Return a row a track."""
    for name, track in TRACKS.items():
        try:
            prepared = str(len(samples_of(track)))
        except DataMissing:
            prepared = "not prepared"
        yield name, track.version, ", ".join(track.protocol_names), prepared, track.dataset
