"""Reads a run directory into memory: manifest, selection, journals, gates. Everything else here is pure."""

from collections.abc import Mapping
from typing import Any

import msgspec

from bakeoff.errors import DataMissing, UsageProblem
from bakeoff.journal import JournalContent
from bakeoff.records import Record, Sample
from bakeoff.report.results import GateResult
from bakeoff.runs import ArmManifest, Manifest, RunDirectory
from bakeoff.skips import Skip
from bakeoff.speed.store import Speed, read_speed
from bakeoff.tracks import TRACKS, Protocol, samples_of
from bakeoff.validity.audit import Audit, read_audits
from bakeoff.validity.controls import Controls, read_controls
from bakeoff.validity.probes import Probe, read_probes
from bakeoff.validity.retold import RetoldArm, read_retold

_MARGIN_PP = 2.0
_MAX_TRUNCATED_PCT = 1.0


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """One arm of a run: what the manifest says of it, what belongs to it, and its journal if there is one.

    `selection` maps a track to sample ids and is None when the run has no selection file; `records` maps a track to
    the last record of each selected sample, in order of first appearance, and `skipped` to the selected samples
    that the arm is not asked.
    """

    name: str
    manifest: ArmManifest
    selection: Mapping[str, tuple[str, ...]] | None
    journal: JournalContent | None
    records: Mapping[str, tuple[Record, ...]]
    skipped: Mapping[str, tuple[Skip, ...]] = {}

    @property
    def tracks(self) -> tuple[str, ...]:
        """Tracks that were selected or have a record, in that order."""
        return tuple(dict.fromkeys((*(self.selection or {}), *self.records)))

    def answered(self, track: str) -> dict[str, Record]:
        """Return the records of `track` that hold an answer, by sample id."""
        return {record.sample_id: record for record in self.records.get(track, ()) if record.status != "error"}


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it lies on disk. Arms stand in the manifest's order."""

    name: str
    manifest: Manifest
    arms: Mapping[str, Arm]
    gates: tuple[GateResult, ...]
    probes: Mapping[str, Probe] = {}
    audits: Mapping[str, Audit] = {}
    controls: Mapping[str, Controls] = {}
    retold: Mapping[str, RetoldArm] = {}
    speed: Speed = Speed()

    @property
    def tracks(self) -> tuple[str, ...]:
        """Tracks in the manifest's order, then those that only a selection or a journal names."""
        found = (track for arm in self.arms.values() for track in arm.tracks)
        return tuple(dict.fromkeys((*self.manifest.tracks, *found)))

    @property
    def margin_pp(self) -> float:
        """Largest difference that counts as the same, in percentage points."""
        return _number(self.manifest.options, "margin", _MARGIN_PP)

    @property
    def max_truncated_pct(self) -> float:
        """Share of cut-off answers above which a score is not compared, in percent."""
        return _number(self.manifest.options, "max_truncated", _MAX_TRUNCATED_PCT)


def read_run(run: RunDirectory) -> Run:
    """Read all of `run` that a report needs.

    Raises:
        UsageProblem: when a file is not readable; the message names it.
    """
    manifest = run.manifest()
    selection = run.selection() if (run.path / "selection.json").is_file() else None
    journals = run.journals()
    arms = {
        name: _arm(name, arm, None if selection is None else selection.get(name, {}), journals.get(name))
        for name, arm in manifest.arms.items()
    }
    return Run(
        name=manifest.run,
        manifest=manifest,
        arms=arms,
        gates=_gates(run),
        probes=read_probes(run),
        audits=read_audits(run),
        controls=read_controls(run),
        retold=read_retold(run),
        speed=read_speed(run) or Speed(),
    )


def prepared_samples(run: Run, track: str) -> Mapping[str, Sample]:
    """Return the samples of a track by id, as the run asked them; none when it is not known or not prepared here."""
    known = TRACKS.get(track)
    if known is None:
        return {}
    try:  # a protocol of another version may have asked the same samples
        return {sample.id: sample for sample in samples_of(known, asked_protocol(run, track))}
    except DataMissing:
        return {}


def asked_protocol(run: Run, track: str) -> Protocol | None:
    """Return the protocol that a track was asked by; None when this version knows no such track or protocol."""
    known, manifest = TRACKS.get(track), run.manifest.tracks.get(track)
    try:
        return known.protocol(manifest.protocol) if known and manifest else None
    except KeyError:
        return None


def _arm(
    name: str, manifest: ArmManifest, selection: Mapping[str, list[str]] | None, journal: JournalContent | None
) -> Arm:
    chosen = None if selection is None else {track: frozenset(ids) for track, ids in selection.items()}
    records: dict[str, list[Record]] = {}
    skipped: dict[str, list[Skip]] = {}
    for record in journal.records.values() if journal else ():
        if chosen is None or record.sample_id in chosen.get(record.track, frozenset()):
            records.setdefault(record.track, []).append(record)
    for skip in journal.skipped.values() if journal else ():
        if chosen is None or skip.sample_id in chosen.get(skip.track, frozenset()):
            skipped.setdefault(skip.track, []).append(skip)
    return Arm(
        name=name,
        manifest=manifest,
        selection=None if selection is None else {track: tuple(ids) for track, ids in selection.items()},
        journal=journal,
        records={track: tuple(found) for track, found in records.items()},
        skipped={track: tuple(found) for track, found in skipped.items()},
    )


def _gates(run: RunDirectory) -> tuple[GateResult, ...]:
    path = run.path / "gates.json"
    if not path.is_file():
        return ()
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[GateResult, ...])
    except ValueError as error:
        raise UsageProblem(f"{path} is not readable: {error}.\nRemove it to report without gates") from error


def _number(options: Mapping[str, Any], name: str, default: float) -> float:
    value = options.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else default
