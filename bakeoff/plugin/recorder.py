"""Owns the run directory: what the controller, or a session without workers, does and a worker never does."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from bakeoff.environment import environment
from bakeoff.errors import RunMismatch, UsageProblem
from bakeoff.evaluate import arm_fingerprint
from bakeoff.files import disk_trouble_told
from bakeoff.journal import Journal, read_journal
from bakeoff.models import ModelSpec
from bakeoff.plugin.planning import Plan
from bakeoff.records import Record, Session, to_line
from bakeoff.runs import (
    ArmManifest,
    Manifest,
    RunDirectory,
    Selection,
    ShardManifest,
    TrackManifest,
    check_fingerprint,
    utc_now,
)
from bakeoff.sharding import read_shard
from bakeoff.tracks.origins import prepared_revision


class Recorder:
    """Writes one run: manifest, selection, journals. Nothing is on disk before `open`.

    Raises:
        UsageProblem: when the run is being written by another process or cannot be read.
    """

    def __init__(self, config: pytest.Config, run: RunDirectory, plan: Plan, options: Mapping[str, Any]) -> None:
        self.run = run
        self.plan = plan
        self.is_open = False
        self.trouble: UsageProblem | None = None
        self._config = config
        self._options = options
        self._journals: dict[str, Journal] = {}
        stored = run.exists()
        self.manifest = (
            msgspec.structs.replace(run.manifest(), options=dict(options)) if stored else self._new_manifest()
        )
        self._progress = run.progress() if stored else {}
        self.stored_selection: Selection = run.selection()
        self._check_shard()
        for spec in plan.arms:
            self._check_settled_inputs(spec)

    def answered(self, *, retry_errors: bool) -> dict[str, frozenset[str]]:
        """Return by arm the samples that a resumed session leaves alone."""
        return {
            arm: progress.answered if retry_errors else progress.recorded for arm, progress in self._progress.items()
        }

    def stored_records(self, arm: str) -> Mapping[str, Record]:
        """Read what an arm recorded in earlier sessions, the last record of each sample."""
        path = self.run.journal_path(arm)
        return read_journal(path).records if path.is_file() else {}

    def attempts(self) -> dict[str, dict[str, int]]:
        """Return by arm how often the samples that errored were tried before."""
        return {arm: progress.errored for arm, progress in self._progress.items()}

    def open(self, selection: Selection) -> None:
        """Write manifest and selection; a resumed run's selection grows and never shrinks."""
        self.run.lock()
        try:
            with disk_trouble_told("Make room, or name another place with --run-dir DIR"):
                self.run.write_manifest(self.manifest)
                self.add_selection(selection)
        except BaseException:
            self.run.unlock()
            raise
        self.is_open = True

    def add_selection(self, selection: Selection) -> None:
        """Add samples to what belongs to the run."""
        merged = {
            arm: {t: dict.fromkeys(ids) for t, ids in tracks.items()} for arm, tracks in self.run.selection().items()
        }
        for arm, tracks in selection.items():
            for track, ids in tracks.items():
                merged.setdefault(arm, {}).setdefault(track, {}).update(dict.fromkeys(ids))
        self.run.write_selection({arm: {t: list(ids) for t, ids in tracks.items()} for arm, tracks in merged.items()})

    def begin_arm(
        self, spec: ModelSpec, identity: Mapping[str, Any], load_s: float, settings: Mapping[str, Any]
    ) -> None:
        """Write down who answers, open its journal, and mark the beginning of a session.

        Raises:
            RunMismatch: when the stored run was made with other inputs.
            UsageProblem: when the disk does not take it.
        """
        tracks = self.plan.tracks_of(spec.arm).values()
        inputs = arm_fingerprint(spec.backend, identity, self.plan.asking, tracks)
        stored = self.manifest.arms.get(spec.arm)
        if stored is not None and stored.fingerprint:
            shared = {k: v for k, v in stored.fingerprint.items() if k in inputs or not k.startswith("tracks.")}
            known = {k: v for k, v in inputs.items() if k in shared or not k.startswith("tracks.")}
            check_fingerprint(shared, known, where=self.run.path, arm=spec.arm)
            inputs = {**stored.fingerprint, **inputs}
        arm = ArmManifest(
            model=spec.name,
            backend=spec.backend,
            identity=dict(identity),
            settings=dict(settings),
            fingerprint=inputs,
        )
        self.manifest = msgspec.structs.replace(self.manifest, arms={**self.manifest.arms, spec.arm: arm})
        base = {name: value for name, value in inputs.items() if not name.startswith("tracks.")}
        with disk_trouble_told(f"Make room, then go on with --resume={self.run.path}"):
            self.run.write_manifest(self.manifest)
            self._journals[spec.arm] = self.run.open_journal(spec.arm, base)
        self._mark(spec.arm, Session(event="start", at=utc_now(), loaded_s=load_s))

    def note_arm(self, spec: ModelSpec, identity: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        """Write down who an arm is that answers no sample; what is known of one that does is left alone."""
        stored = self.manifest.arms.get(spec.arm)
        if stored is not None and stored.identity:
            return
        arm = ArmManifest(model=spec.name, backend=spec.backend, identity=dict(identity), settings=dict(settings))
        self.manifest = msgspec.structs.replace(self.manifest, arms={**self.manifest.arms, spec.arm: arm})
        self.run.write_manifest(self.manifest)

    def append(self, arm: str, line: str) -> None:
        """Write one finished record.

        Raises:
            UsageProblem: when the disk does not take it, which is also kept as `trouble`.
        """
        try:
            self._journals[arm].append(line)
        except UsageProblem as problem:
            self.trouble = problem
            raise

    def end_arm(self, arm: str) -> None:
        """Mark the end of a session and close the journal; what the disk does not take of that is kept as `trouble`."""
        journal = self._journals.pop(arm, None)
        if journal is None:
            return
        try:
            journal.append(to_line(Session(event="end", at=utc_now())))
            journal.close()
        except UsageProblem as problem:
            self.trouble = self.trouble or problem

    def close(self) -> None:
        """Close every journal; the lock stays until `release`, so that the report is written under it."""
        for arm in tuple(self._journals):
            self.end_arm(arm)

    def release(self) -> None:
        """Let other processes write to the run."""
        self.run.unlock()
        self.is_open = False

    def _mark(self, arm: str, session: Session) -> None:
        self._journals[arm].append(to_line(session))

    def _check_shard(self) -> None:
        """Refuse to go on with one part as another one, or as a part of other samples."""
        stored, now = self.manifest.shard, self._shard()
        pair = (stored.whole if stored else {}), (now.whole if now else {})
        other = next((track for track in pair[0] if pair[0][track] != pair[1].get(track, pair[0][track])), None)
        if self.run.exists() and (_told(stored) != _told(now) or other):
            hint = f"{self.run.path} is a part. Leave --shard out, or begin another part without --resume."
            raise RunMismatch(f"shard {other or ''}".strip(), _told(stored), _told(now), hint)
        if now is not None:
            whole = {**pair[0], **pair[1]}
            self.manifest = msgspec.structs.replace(self.manifest, shard=msgspec.structs.replace(now, whole=whole))

    def _shard(self) -> ShardManifest | None:
        if self._options.get("shard") is None:
            return None
        shard = read_shard(self._options["shard"])
        return ShardManifest(index=shard.index, count=shard.count, whole=self.plan.wholes())

    def _check_settled_inputs(self, spec: ModelSpec) -> None:
        """Refuse early, before a model is loaded, what will not fit the stored run."""
        stored = self.manifest.arms.get(spec.arm)
        if stored is None or not stored.fingerprint:
            return
        known = {
            **self.plan.asking.inputs(),
            **{name: value for plan in self.plan.tracks_of(spec.arm).values() for name, value in plan.inputs().items()},
        }
        if stored.model != spec.name:
            raise RunMismatch("model", stored.model, spec.name, f"Arm {spec.arm} of {self.run.path} is another model.")
        shared = {name: value for name, value in stored.fingerprint.items() if name in known}
        current = {name: value for name, value in known.items() if name in shared}
        check_fingerprint(shared, current, where=self.run.path, arm=spec.arm)

    def _new_manifest(self) -> Manifest:
        return Manifest(
            run=self.run.name,
            created=utc_now(),
            argv=tuple(self._config.invocation_params.args),
            options=dict(self._options),
            environment=environment(),
            tracks={
                name: TrackManifest(
                    version=plan.track.version,
                    dataset=plan.track.dataset,
                    revision=prepared_revision(plan.track, plan.samples_sha256),
                    protocol=plan.protocol.name,
                    max_tokens=plan.max_tokens,
                    full=plan.track.full or plan.prepared,
                    prepared=plan.prepared,
                    samples_sha256=plan.samples_sha256,
                )
                for name, plan in self.plan.tracks.items()
            },
            arms={spec.arm: ArmManifest(model=spec.name, backend=spec.backend) for spec in self.plan.arms},
        )


def _told(shard: ShardManifest | None) -> str:
    return "the whole" if shard is None else f"{shard.index}/{shard.count}"
