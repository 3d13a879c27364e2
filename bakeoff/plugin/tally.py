"""Counts of a running arm: what its line shows. Everything that happens for a sample takes constant time."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bakeoff.records import Record
from bakeoff.skips import Skip

if TYPE_CHECKING:
    from bakeoff.report.progress import Progress
    from bakeoff.stats.running import RunningMean

_ENOUGH_FOR_A_RATE = 5


def brief_of(record: Record) -> dict[str, Any]:
    """Return what `Live` needs of a record, in types that cross from a worker to the controller."""
    return {
        "track": record.track,
        "score": record.score,
        "cluster": record.cluster,
        "status": record.status,
        "unparsed": record.is_unparsed,
    }


def brief_of_skip(skip: Skip) -> dict[str, Any]:
    """Return the same for a sample that the arm is not asked: it is done, and it has no part in any mean."""
    return {"track": skip.track, "score": None, "cluster": skip.sample_id, "status": "skipped", "unparsed": False}


class ArmTally:
    """Counts of one arm."""

    def __init__(self, arm: str, now: float) -> None:
        self.arm = arm
        self.selected = 0
        self.done = 0
        self._counts = {"error": 0, "truncated": 0, "unparsed": 0}
        self._means: dict[str, RunningMean] = {}
        self._first_at: float | None = None
        self._last_at = now
        self._answered_now = 0

    def take(self, brief: Mapping[str, Any], now: float | None) -> None:
        """Count a record; `now` is None for one of an earlier session, which says nothing of this one's speed."""
        from bakeoff.stats.running import RunningMean  # noqa: PLC0415 - takes a while to load; a listing needs none

        self.done += 1
        if brief["status"] in self._counts:
            self._counts[brief["status"]] += 1
        self._counts["unparsed"] += bool(brief["unparsed"])
        mean = self._means.pop(brief["track"], None) or RunningMean()
        self._means[brief["track"]] = mean  # the track at work stands last
        if brief["score"] is not None:
            mean.add(brief["score"], brief["cluster"])
        if now is not None:
            self._answered_now += 1
            self._first_at = now if self._first_at is None else self._first_at
            self._last_at = now

    @property
    def is_done(self) -> bool:
        """Whether every selected sample is recorded."""
        return bool(self.selected) and self.done >= self.selected

    @property
    def has_begun(self) -> bool:
        """Whether this session recorded something."""
        return self._answered_now > 0

    def progress(self) -> "Progress":
        """Return where the arm stands. The rate is counted from the first answer on, which leaves loading out."""
        from bakeoff.report.progress import Progress  # noqa: PLC0415 - takes a while to load, and the end needs it too

        took = self._last_at - self._first_at if self._first_at is not None else None
        return Progress(
            arm=self.arm,
            done=self.done,
            selected=max(self.selected, self.done),
            means={track: mean.interval() for track, mean in self._means.items()},
            errors=self._counts["error"],
            truncated=self._counts["truncated"],
            unparsed=self._counts["unparsed"],
            per_s=(self._answered_now - 1) / took if took and self._answered_now >= _ENOUGH_FOR_A_RATE else None,
            took_s=took,
        )
