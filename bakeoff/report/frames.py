"""Is it known in what numbers each arm writes a place in an image?

A protocol that names its frame needs no such knowledge. Protocol `native` asks each arm as its family was trained to
be, and where no source gives a family's frame the track's default prompt is asked and the frame is an assumption.
What a runtime advises for places, and was not started with, is told too.
"""

from collections.abc import Iterator

from bakeoff.families import DEFAULT, FAMILIES, family_of, missing_flags
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
    advice = "".join(f"; {text}" for text in _advice(run))
    if assumed:
        reason = f"no source gives the coordinate frame of {'; '.join(assumed)}: it is assumed{advice}"
        return Check(state="not checked", required=True, reason=reason)
    told = f"by a source for {'; '.join(known)}" if known else "the prompt names them, or no place is asked for"
    return Check(state="not checked" if advice else "same", required=False, reason=f"{told}{advice}")


def _advice(run: Run) -> Iterator[str]:
    """Name what arms that were asked for places were not started with, though their runtime advises it for these."""
    for arm in run.arms.values():
        if any(track in TRACKS and TRACKS[track].native is not None for track in arm.tracks):
            family = family_of(arm.manifest.model)
            for flag in missing_flags(family, arm.manifest.backend, arm.manifest.identity.get("server_args") or ()):
                yield (
                    f"{arm.name} ran without {' '.join(flag.words)}, which its runtime advises for {family.name}: "
                    f"{flag.what} ({flag.source})"
                )
