"""The benchmarks, one a file. To add a track: write its file, add it to `TRACKS`, add `tests_bench/test_<name>.py`."""

from bakeoff.tracks import (
    blink,
    calibration,
    custom,
    docvqa,
    gsm8k,
    infographicvqa,
    mathvista,
    mmmu,
    refcoco,
    screenspot,
)
from bakeoff.tracks.track import (
    Protocol,
    Published,
    Track,
    content_sha256,
    images_then_text,
    load_samples,
    samples_of,
)

TRACKS: dict[str, Track] = {
    "calibration": calibration.TRACK,
    "screenspot": screenspot.TRACK,
    "refcoco": refcoco.TRACK,
    "docvqa": docvqa.TRACK,
    "infographicvqa": infographicvqa.TRACK,
    "blink": blink.TRACK,
    "mathvista": mathvista.TRACK,
    "mmmu": mmmu.TRACK,
    "gsm8k": gsm8k.TRACK,
    "custom": custom.TRACK,
}

__all__ = [
    "TRACKS",
    "Protocol",
    "Published",
    "Track",
    "content_sha256",
    "images_then_text",
    "load_samples",
    "samples_of",
]
