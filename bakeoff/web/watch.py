"""What a run has done so far, from its files alone; journals are read on from where the last look ended."""

import contextlib
import datetime as dt
from collections import deque
from pathlib import Path

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.records import Record, Session, journal_entry
from bakeoff.runs import ArmManifest, Manifest, RunDirectory, Selection
from bakeoff.skips import Skip
from bakeoff.tracks import TRACKS
from bakeoff.web.running import SoFar, so_far

_PACE_OVER = 50


class TrackProgress(msgspec.Struct, frozen=True, kw_only=True):
    """One track of one arm."""

    name: str
    title: str
    selected: int
    answered: int
    score: SoFar


class LastAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The newest record of an arm; `images` are hashes."""

    sample: str
    track: str
    status: str
    output: str
    answer: str | None
    correct: bool | None
    images: tuple[str, ...]
    error: str | None


class ArmProgress(msgspec.Struct, frozen=True, kw_only=True):
    """One arm. `per_s` is over its last answers; `eta_s` is None where no pace is known.

    `skipped` counts what it cannot be asked; `state` is waiting, going, done or partial, and who knows whether the run
    is alive makes more of it.
    """

    name: str
    model: str
    backend: str
    state: str
    selected: int
    answered: int
    errors: int
    skipped: int
    truncated: int
    unparsed: int
    per_s: float | None
    eta_s: float | None
    peak_memory_bytes: int | None
    is_probed: bool
    tracks: tuple[TrackProgress, ...]
    last: LastAnswer | None


class _Journal:
    """One journal, read in pieces. Keeps per sample what counts, and the last record whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self.seen: dict[tuple[str, str], tuple[str, float | None, str, bool]] = {}
        self.skipped: set[tuple[str, str]] = set()
        self.moments: deque[float] = deque(maxlen=_PACE_OVER)
        self.last: Record | None = None
        self.peak: int | None = None
        self.is_in_session = False

    def read_on(self) -> None:
        """Take in the whole lines that were added; a line that cannot be read is passed over, as it is not ours."""
        try:
            with self.path.open("rb") as file:
                if file.seek(0, 2) < self.offset:
                    self.__init__(self.path)  # type: ignore[misc] # the file was replaced: begin anew
                file.seek(self.offset)
                content = file.read()
        except OSError:
            return
        whole = content.rfind(b"\n") + 1
        self.offset += whole
        for line in content[:whole].split(b"\n"):
            if line:
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            entry = journal_entry(line.decode("ascii"))
        except ValueError:
            return
        if isinstance(entry, Session):
            self.is_in_session = entry.event == "start"
            self.moments.clear()
        elif isinstance(entry, Skip):
            self.skipped.add((entry.track, entry.sample_id))
        elif isinstance(entry, Record):
            self.last = entry
            self.seen[(entry.track, entry.sample_id)] = (entry.status, entry.score, entry.cluster, entry.is_unparsed)
            if entry.peak_memory_bytes is not None:
                self.peak = max(self.peak or 0, entry.peak_memory_bytes)
            with contextlib.suppress(ValueError):  # a record without a moment has no part in the pace
                self.moments.append(dt.datetime.fromisoformat(entry.started_at).timestamp())

    @property
    def per_s(self) -> float | None:
        """Answers per second over the last ones."""
        if len(self.moments) < 3 or self.moments[-1] <= self.moments[0]:  # noqa: PLR2004 -- two gaps at least
            return None
        return (len(self.moments) - 1) / (self.moments[-1] - self.moments[0])


class Watch:
    """Looks at one run again and again."""

    def __init__(self, path: Path) -> None:
        self.run = RunDirectory(path)
        self._journals: dict[str, _Journal] = {}

    def look(self) -> tuple[ArmProgress, ...]:
        """Return how far every arm is; nothing while there is no manifest."""
        try:
            manifest, selection = self.run.manifest(), self.run.selection()
        except (UsageProblem, OSError):
            return ()
        return tuple(self._arm(name, arm, manifest, selection) for name, arm in manifest.arms.items())

    def _arm(self, name: str, arm: ArmManifest, manifest: Manifest, selection: Selection) -> ArmProgress:
        journal = self._journals.setdefault(name, _Journal(self.run.journal_path(name)))
        journal.read_on()
        chosen = selection.get(name, {})
        tracks = _tracks({track: chosen[track] for track in manifest.tracks if track in chosen}, journal)
        selected, answered = sum(t.selected for t in tracks), sum(t.answered for t in tracks)
        valid = [found for found in journal.seen.values() if found[0] != "error"]
        errors = len(journal.seen) - len(valid)
        state = "waiting" if not journal.offset else "going" if journal.is_in_session else "partial"
        skipped = len(journal.skipped)
        if selected and answered + skipped >= selected:
            state = "done"
        left = selected - answered - errors - skipped
        pace = journal.per_s if journal.is_in_session else None
        return ArmProgress(
            name=name,
            model=arm.model,
            backend=arm.backend,
            state=state,
            selected=selected,
            answered=answered,
            errors=errors,
            skipped=skipped,
            truncated=sum(found[0] == "truncated" for found in valid),
            unparsed=sum(found[3] for found in valid),
            per_s=pace,
            eta_s=left / pace if pace and left > 0 else None,
            peak_memory_bytes=journal.peak,
            is_probed=(self.run.path / "probes" / f"{name}.json").is_file(),
            tracks=tracks,
            last=_last(journal.last),
        )


def _tracks(chosen: dict[str, list[str]], journal: _Journal) -> tuple[TrackProgress, ...]:
    wanted = {track: frozenset(ids) for track, ids in chosen.items()}
    clusters: dict[str, dict[str, list[float]]] = {track: {} for track in chosen}
    for (track, sample), (status, score, cluster, _) in journal.seen.items():
        if status != "error" and sample in wanted.get(track, ()):
            clusters[track].setdefault(cluster, []).append(score or 0.0)
    return tuple(
        TrackProgress(
            name=track,
            title=TRACKS[track].title if track in TRACKS else track,
            selected=len(ids),
            answered=sum(map(len, clusters[track].values())),
            score=so_far(clusters[track]),
        )
        for track, ids in chosen.items()
    )


def _last(record: Record | None) -> LastAnswer | None:
    if record is None:
        return None
    return LastAnswer(
        sample=record.sample_id,
        track=record.track,
        status=record.status,
        output=(record.output or "")[:2000],
        answer=record.answer,
        correct=record.correct,
        images=record.image_sha256,
        error=record.error.message if record.error else None,
    )
