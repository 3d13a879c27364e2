"""`bakeoff merge`: parts of one run, made on several machines, as one run directory with its report.

Parts must have been made from the same inputs: every field of the fingerprints that two parts share is compared. A
sample that two parts have is taken once; one that no part has is told as a gap, and the merged run is then not
complete: `pytest --resume` answers gaps inside a part, a part that is missing is run and merged again.
"""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bakeoff.errors import RunMismatch, UsageProblem
from bakeoff.hashing import hash_json
from bakeoff.journal import JournalContent
from bakeoff.records import Header, Record, to_line
from bakeoff.report import build, terminal_table
from bakeoff.report.merging import shared_environment
from bakeoff.runs import ArmManifest, Manifest, PartManifest, RunDirectory, Selection, is_complete
from bakeoff.skips import Skip
from bakeoff.validity.gates import check_gates, write_gates
from bakeoff.validity.rules import read_rules

_MOST_NAMED = 5
_PROBED = ("probes", "audit", "controls", "retold")
"""Folders with one JSON file an arm; the first part that has one gives it."""


class Part(NamedTuple):
    """A run as it was read."""

    run: RunDirectory
    manifest: Manifest
    selection: Selection
    journals: Mapping[str, JournalContent]


class Merged(NamedTuple):
    """What is told of a merge, and whether every sample of the whole has an answer."""

    text: str
    is_complete: bool


def merge(directories: Sequence[Path], out: Path) -> Merged:
    """Write the merged run to `out` and build its report.

    Raises:
        UsageProblem: when a directory is no run or is named twice, or `out` is there already.
        RunMismatch: when two parts were made from other inputs; the message names the field.
    """
    paths = [directory.resolve() for directory in directories]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise UsageProblem(f"{twice} is named twice; name every part once")
    if out.exists():
        raise UsageProblem(f"{out} is there already; name a new folder with -o DIR")
    parts = [_read(path) for path in paths]
    first, *others = parts
    for other in others:
        _refuse_other_inputs(first, other)
    fingerprints = _fingerprints(parts)
    selection = _selection(parts)
    records, doubles = _records(parts)
    skips = _skips(parts, records)
    run = RunDirectory(out)
    run.lock()
    try:
        lines: dict[str, list[Record | Skip]] = {
            arm: [*skips[arm].values(), *answers.values()] for arm, answers in records.items()
        }
        _write(run, parts, fingerprints, selection, lines)
        results = build(run)
    finally:
        run.unlock()
    gaps = [*_missing_parts(parts), *_unanswered(selection, records, skips)]
    told = [f"{len(parts)} parts: {', '.join(part.run.name for part in parts)}", *(gaps or ["no gaps"]), *doubles]
    text = "\n".join([*told, "", terminal_table(results), "", f"report: {out / 'report.html'}"])
    return Merged(text, is_complete(run) and not gaps)


def _read(path: Path) -> Part:
    run = RunDirectory(path)
    return Part(run, run.manifest(), run.selection(), run.journals())


def _refuse_other_inputs(first: Part, other: Part) -> None:
    def refuse(field: str, a: object, b: object) -> None:
        if a != b:
            hint = f"{first.run.path} and {other.run.path} are no parts of one run. Compare them with: bakeoff compare"
            raise RunMismatch(field, a, b, hint)

    if first.manifest.shard and other.manifest.shard:
        refuse("shard count", first.manifest.shard.count, other.manifest.shard.count)
        mine, theirs = first.manifest.shard.whole, other.manifest.shard.whole
        for track in mine.keys() & theirs.keys():
            refuse(f"samples of {track} before the split", mine[track][:8], theirs[track][:8])
    for arm in first.manifest.arms.keys() & other.manifest.arms.keys():
        a, b = (part.manifest.arms[arm].fingerprint for part in (first, other))
        tracks = {_track(field) for field in a} & {_track(field) for field in b}
        for field in sorted(a.keys() | b.keys()) if a and b else ():
            if _track(field) in tracks:
                refuse(f"{arm}: {field}", a.get(field), b.get(field))


def _track(field: str) -> str | None:
    """Return the track that a field of a fingerprint belongs to; None for those of the arm itself."""
    return field.split(".")[1] if field.startswith("tracks.") else None


def _fingerprints(parts: Sequence[Part]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        for arm, manifest in part.manifest.arms.items():
            found[arm] = {**found.get(arm, {}), **manifest.fingerprint}
    return found


def _selection(parts: Sequence[Part]) -> Selection:
    found: dict[str, dict[str, dict[str, None]]] = {}
    for part in parts:
        for arm, tracks in part.selection.items():
            for track, ids in tracks.items():
                found.setdefault(arm, {}).setdefault(track, {}).update(dict.fromkeys(ids))
    return {arm: {track: list(ids) for track, ids in tracks.items()} for arm, tracks in found.items()}


def _records(parts: Sequence[Part]) -> tuple[dict[str, dict[str, Record]], list[str]]:
    """Return the record of every sample by arm, an answer before an error and an earlier part before a later one."""
    found: dict[str, dict[str, Record]] = {}
    told: list[str] = []
    for arm in dict.fromkeys(arm for part in parts for arm in part.journals):
        taken = found.setdefault(arm, {})
        twice, differing = 0, []
        for part in parts:
            for name, record in part.journals[arm].records.items() if arm in part.journals else ():
                before = taken.get(name)
                if before is None or (before.status == "error" and record.status != "error"):
                    taken[name] = record
                elif record.status != "error":
                    twice += 1
                    differing += [name] if before.output != record.output else []
        if twice:
            other = f", {len(differing)} with another answer: {_some(differing)}" if differing else ""
            told.append(f"doubles: {twice} samples of {arm} are answered in two parts{other}; the first part counts")
    return found, told


def _skips(parts: Sequence[Part], records: Mapping[str, Mapping[str, Record]]) -> dict[str, dict[str, Skip]]:
    """Return by arm the samples that it was not asked in any part."""
    found: dict[str, dict[str, Skip]] = {}
    for part in parts:
        for arm, journal in part.journals.items():
            left = {name: skip for name, skip in journal.skipped.items() if name not in records[arm]}
            found.setdefault(arm, {}).update(left)
    return found


def _missing_parts(parts: Sequence[Part]) -> list[str]:
    shards = [part.manifest.shard for part in parts if part.manifest.shard is not None]
    if not shards:
        return []
    count, counted = shards[0].count, Counter(shard.index for shard in shards)
    missing = [f"{index}/{count}" for index in range(1, count + 1) if index not in counted]
    return [f"gap: {len(missing)} of {count} parts are missing: {_some(missing)}"] if missing else []


def _unanswered(
    selection: Selection, records: Mapping[str, Mapping[str, Record]], skips: Mapping[str, Mapping[str, Skip]]
) -> list[str]:
    lines = []
    for arm, tracks in selection.items():
        answered = {name for name, record in records.get(arm, {}).items() if record.status != "error"}
        answered |= skips.get(arm, {}).keys()
        for track, ids in tracks.items():
            missing = [name for name in ids if name not in answered]
            if missing:
                lines.append(f"gap: {len(missing)} of {len(ids)} samples of {arm} on {track}: {_some(missing)}")
    return lines


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _write(
    run: RunDirectory,
    parts: Sequence[Part],
    fingerprints: Mapping[str, dict[str, Any]],
    selection: Selection,
    lines: Mapping[str, Sequence[Record | Skip]],
) -> None:
    manifests = [part.manifest for part in parts]
    arms: dict[str, ArmManifest] = {}
    for manifest in manifests:
        for arm, found in manifest.arms.items():
            if arm not in arms or not arms[arm].fingerprint:
                arms[arm] = msgspec.structs.replace(found, fingerprint=fingerprints[arm])
    merged = msgspec.structs.replace(
        manifests[0],
        run=run.name,
        created=min(manifest.created for manifest in manifests),
        options={**manifests[0].options, "shard": None},
        environment=shared_environment([manifest.environment for manifest in manifests]),
        arms=arms,
        tracks={name: track for manifest in reversed(manifests) for name, track in manifest.tracks.items()},
        shard=None,
        parts=tuple(
            PartManifest(run=m.run, created=m.created, argv=m.argv, environment=m.environment, shard=m.shard)
            for m in manifests
        ),
    )
    run.write_manifest(merged)
    run.write_selection(selection)
    for arm, own in lines.items():
        base = {name: value for name, value in fingerprints[arm].items() if not name.startswith("tracks.")}
        path = run.journal_path(arm)
        path.parent.mkdir(parents=True, exist_ok=True)
        sessions = [mark for part in parts if arm in part.journals for mark in part.journals[arm].sessions]
        whole = [Header(run=run.name, arm=arm, fingerprint=hash_json(base)), *sessions, *own]
        path.write_text("".join(to_line(line) + "\n" for line in whole), encoding="ascii")
    for part in reversed(parts):
        for folder in _PROBED:
            if (part.run.path / folder).is_dir():
                shutil.copytree(part.run.path / folder, run.path / folder, dirs_exist_ok=True)
        if (part.run.path / "logs").is_dir():
            shutil.copytree(part.run.path / "logs", run.path / "logs" / part.run.name, dirs_exist_ok=True)
    if any((part.run.path / "gates.json").is_file() for part in parts):
        write_gates(run, check_gates(run, read_rules(merged.options)))
