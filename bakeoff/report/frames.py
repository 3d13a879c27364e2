"""Is it known in what numbers each arm writes a place in an image?

A protocol that names its frame needs no such knowledge. Protocol `native` asks each arm as its family was trained to
be, and where no source gives a family's frame the track's default prompt is asked and the frame is an assumption.
"""

from bakeoff.families import DEFAULT, FAMILIES
from bakeoff.report.reading import Run
from bakeoff.report.results import Check
from bakeoff.tracks import TRACKS
from bakeoff.tracks.track import NATIVE


def frame_check(run: Run) -> Check:
    """Return whether a frame had to be assumed, and whose."""
    known: list[str] = []
    assumed: list[str] = []
    for arm in run.arms.values():
        for track in arm.tracks:
            protocol = str(arm.manifest.fingerprint.get(f"tracks.{track}.protocol", ""))
            if protocol.startswith(f"{NATIVE}-") and track in TRACKS and TRACKS[track].native is not None:
                name = protocol.removeprefix(f"{NATIVE}-")
                family = FAMILIES.get(name, DEFAULT)
                (assumed if family.is_assumed else known).append(f"{arm.name} on {track} (family {name})")
    if assumed:
        reason = f"no source gives the coordinate frame of {'; '.join(assumed)}: it is assumed"
        return Check(state="not checked", required=True, reason=reason)
    if known:
        return Check(state="same", required=False, reason=f"by a source for {'; '.join(known)}")
    return Check(state="same", required=False, reason="the prompt names them, or no place is asked for")
