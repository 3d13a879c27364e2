"""Reads the records of a run one at a time, so that a run larger than memory can be exported.

What counts is what counts in a report: the last record of each selected sample, in order of first appearance.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.hashing import hash_json
from bakeoff.journal import stream_journal
from bakeoff.records import Header, Record
from bakeoff.runs import ArmManifest, Manifest, RunDirectory, TrackManifest


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One record with where it comes from; `track` is None for a track that the manifest does not name.

    `inputs_sha256` is the hash of the arm's fingerprint, which holds every input that can move a score.
    """

    run: str
    arm: str
    inputs_sha256: str
    record: Record
    manifest: ArmManifest
    track: TrackManifest | None

    @property
    def max_tokens(self) -> int | None:
        """Token budget of the track for this arm, which the protocol of its family may set."""
        found = self.manifest.fingerprint.get(f"tracks.{self.record.track}.max_tokens")
        if isinstance(found, int):
            return found
        return self.track.max_tokens if self.track else None


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What a run holds, found in one pass.

    `offsets` maps an arm to its tracks and each of these to the byte at which the last record of each selected sample
    begins in the journal; `selected` counts the samples that belong to the run. `dimensions` and `metrics` are the
    names that occur in any record, sorted.
    """

    run: RunDirectory
    manifest: Manifest
    offsets: Mapping[str, Mapping[str, tuple[int, ...]]]
    selected: Mapping[str, Mapping[str, int]]
    dimensions: tuple[str, ...]
    metrics: tuple[str, ...]

    def entries(self) -> Iterator[Entry]:
        """Yield every record, arm by arm, track by track."""
        for arm, tracks in self.offsets.items():
            for track in tracks:
                yield from self.entries_of(arm, track)

    def entries_of(self, arm: str, track: str) -> Iterator[Entry]:
        """Yield the records of one arm on one track."""
        run, manifest, of_track = self.manifest.run, self.manifest.arms[arm], self.manifest.tracks.get(track)
        inputs = hash_json(manifest.fingerprint)
        with self.run.journal_path(arm).open("rb") as journal:
            for offset in self.offsets[arm][track]:
                journal.seek(offset)
                record = msgspec.convert(json.loads(journal.readline()), Record)
                yield Entry(run=run, arm=arm, inputs_sha256=inputs, record=record, manifest=manifest, track=of_track)


def survey(run: RunDirectory) -> Survey:
    """Pass once over all journals of `run`.

    Raises:
        UsageProblem: when a file of the run is not readable, or nothing was recorded yet.
    """
    manifest = run.manifest()
    selection = run.selection() if (run.path / "selection.json").is_file() else None
    dimensions: set[str] = set()
    metrics: set[str] = set()
    offsets: dict[str, dict[str, tuple[int, ...]]] = {}
    for arm in manifest.arms:
        path = run.journal_path(arm)
        if path.is_file():
            chosen = None if selection is None else selection.get(arm, {})
            offsets[arm] = _offsets(path, chosen, dimensions, metrics)
    if not any(tracks for tracks in offsets.values()):
        raise UsageProblem(f"{run.path} holds no record to export. Go on with it by: pytest --resume={run.path}")
    return Survey(
        run=run,
        manifest=manifest,
        offsets=offsets,
        selected={arm: {track: len(ids) for track, ids in tracks.items()} for arm, tracks in (selection or {}).items()},
        dimensions=tuple(sorted(dimensions)),
        metrics=tuple(sorted(metrics)),
    )


def _offsets(
    path: Path, selection: Mapping[str, list[str]] | None, dimensions: set[str], metrics: set[str]
) -> dict[str, tuple[int, ...]]:
    """Return by track where the records that count begin; add the names of groups and metrics to the sets."""
    chosen = None if selection is None else {track: frozenset(ids) for track, ids in selection.items()}
    last: dict[str, tuple[str, int]] = {}
    for number, (offset, entry) in enumerate(stream_journal(path)):
        if number == 0 and not isinstance(entry, Header):
            raise UsageProblem(f"{path} does not begin with a journal header; move it away and export the other arms")
        if not isinstance(entry, Record):
            continue
        if chosen is None or entry.sample_id in chosen.get(entry.track, frozenset()):
            last[entry.sample_id] = (entry.track, offset)
            dimensions.update(entry.groups)
            metrics.update(entry.metrics)
    found: dict[str, list[int]] = {}
    for track, offset in last.values():
        found.setdefault(track, []).append(offset)
    return {track: tuple(begins) for track, begins in found.items()}
