"""Did reading each image once work? A check about speed: it never stands against a comparison."""

from bakeoff.records import Record
from bakeoff.report.reading import Arm, Run
from bakeoff.report.results import Check
from bakeoff.validity.reuse import check_reuse, count_reuse, told


def reuse_check(run: Run) -> Check:
    """Return what the records of all arms say about the reuse of images."""
    settings = {arm.name: arm.manifest.settings for arm in run.arms.values()}
    found = [f for arm in run.arms.values() if (f := check_reuse(arm.name, settings[arm.name], _records(arm)))]
    if found:
        return Check(state="differs", required=False, reason="; ".join(finding.sentence for finding in found))
    asked = [arm for arm in run.arms.values() if settings[arm.name].get("image_reuse")]
    counts = [count for arm in asked if (count := count_reuse(arm.name, _records(arm))).reused]
    if not counts:
        return Check(state="not checked", required=False, reason="no image was asked about often enough to tell")
    return Check(state="same", required=False, reason=told(counts))


def _records(arm: Arm) -> list[Record]:
    return [record for track in arm.tracks for record in arm.answered(track).values()]
