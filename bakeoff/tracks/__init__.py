"""The benchmarks, one a file. To add a track: write its file, add it to `TRACKS`, add `tests_bench/test_<name>.py`."""

from bakeoff.tracks import calibration
from bakeoff.tracks.track import Protocol, Track, images_then_text, load_samples

TRACKS: dict[str, Track] = {
    "calibration": calibration.TRACK,
}

__all__ = ["TRACKS", "Protocol", "Track", "images_then_text", "load_samples"]
