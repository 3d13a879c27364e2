"""`bakeoff merge`: parts of one run, made on several machines, as one run directory with its report.

Parts must have been made from the same inputs: every field of the fingerprints that any two parts share is compared. A
sample that two parts have is taken once; one that no part has is told as a gap, and the merged run is then not
complete: `pytest --resume` answers gaps inside a part, a part that is missing is run and merged again.
"""

import contextlib
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bakeoff.commands.carrying import carry
from bakeoff.commands.parts import Part, agreed_fingerprints, read_part, refuse_what_is_no_part
from bakeoff.errors import UsageProblem
from bakeoff.files import disk_trouble, write_atomically
from bakeoff.hashing import hash_json
from bakeoff.records import Header, Record, to_line
from bakeoff.report import build, terminal_table
from bakeoff.report.merging import shared_environment
from bakeoff.runs import ArmManifest, Manifest, PartManifest, RunDirectory, Selection, is_complete
from bakeoff.skips import Skip
from bakeoff.validity.gates import check_gates, write_gates
from bakeoff.validity.rules import asked_gates, read_rules
from bakeoff.wording import some

_MOST_NAMED = 5
_ELSEWHERE = "Make room, or name another place with -o DIR"


class Merged(NamedTuple):
    """What is told of a merge, and whether every sample of the whole has an answer."""

    text: str
    is_complete: bool


def merge(directories: Sequence[Path], out: Path) -> Merged:
    """Write the merged run to `out` and build its report.

    Raises:
        UsageProblem: when a directory is no run or is named twice, runs were not split, or `out` is there already.
        RunMismatch: when two parts were made from other inputs; the message names the field.
    """
    paths = [directory.resolve() for directory in directories]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise UsageProblem(f"{twice} is named twice; name every part once")
    if out.exists():
        raise UsageProblem(f"{out} is there already; name a new folder with -o DIR")
    parts = [read_part(path) for path in paths]
    fingerprints = agreed_fingerprints(parts)
    refuse_what_is_no_part(parts)
    selection = _selection(parts)
    records, doubles = _records(parts)
    skips = _skips(parts, records)
    lines: dict[str, list[Record | Skip]] = {
        arm: [*skips[arm].values(), *answers.values()] for arm, answers in records.items()
    }
    with _filling(out) as run:
        _write(run, parts, fingerprints, selection, lines, name=out.name)
        left = carry(run, parts, records)
        _hold_gates(run, parts)
        results = build(run)
    gaps = [*_missing_parts(parts), *_unanswered(selection, records, skips)]
    names = ", ".join(part.run.name for part in parts)
    told = [f"{len(parts)} parts: {names}", *(gaps or ["no gaps"]), *doubles, *left]
    text = "\n".join([*told, "", terminal_table(results), "", f"report: {out / 'report.html'}"])
    return Merged(text, is_complete(RunDirectory(out)) and not gaps)


@contextlib.contextmanager
def _filling(out: Path) -> Iterator[RunDirectory]:
    """Give a folder beside `out` that becomes `out` when the block ends well, and is gone when it does not.

    It lies beside, not below, since the report's links to pictures are relative to the folder it is made in.
    """
    temporary = out.absolute().with_name(f".{out.name}.{os.getpid()}")
    try:
        temporary.mkdir(parents=True)
    except OSError as error:
        raise UsageProblem(f"cannot write to {out.parent}: {error}.\n{_ELSEWHERE}") from error
    try:
        try:
            yield RunDirectory(temporary)
        except OSError as error:
            trouble = disk_trouble(error)
            if trouble is None:
                raise
            raise UsageProblem(f"{trouble.replace(str(temporary), str(out))}.\n{_ELSEWHERE}") from error
        try:
            temporary.rename(out)
        except OSError as error:
            raise UsageProblem(f"cannot make {out}: {error}.\n{_ELSEWHERE}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


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
            told.append(
                f"doubles: {some(twice, 'sample')} of {arm} answered in two parts{other}; the first part counts"
            )
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
    shards = [shard for part in parts for shard in part.shards]
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
    *,
    name: str,
) -> None:
    manifests = [part.manifest for part in parts]
    arms: dict[str, ArmManifest] = {}
    for manifest in manifests:
        for arm, found in manifest.arms.items():
            if arm not in arms or not arms[arm].fingerprint:
                arms[arm] = msgspec.structs.replace(found, fingerprint=fingerprints[arm])
    merged = msgspec.structs.replace(
        manifests[0],
        run=name,
        created=min(manifest.created for manifest in manifests),
        options={**manifests[0].options, "shard": None},
        environment=shared_environment([manifest.environment for manifest in manifests]),
        arms=arms,
        tracks={track: found for manifest in reversed(manifests) for track, found in manifest.tracks.items()},
        shard=None,
        parts=tuple(part for manifest in manifests for part in _parts_of(manifest)),
    )
    run.write_manifest(merged)
    run.write_selection(selection)
    for arm, own in lines.items():
        base = {field: value for field, value in fingerprints[arm].items() if not field.startswith("tracks.")}
        path = run.journal_path(arm)
        sessions = [mark for part in parts if arm in part.journals for mark in part.journals[arm].sessions]
        whole = [Header(run=name, arm=arm, fingerprint=hash_json(base)), *sessions, *own]
        write_atomically(path, "".join(to_line(line) + "\n" for line in whole))


def _parts_of(manifest: Manifest) -> tuple[PartManifest, ...]:
    """Return what is told of a run in the merged one; a run that was merged itself is told by its own parts."""
    m = manifest
    own = PartManifest(run=m.run, created=m.created, argv=m.argv, environment=m.environment, shard=m.shard)
    return m.parts or (own,)


def _hold_gates(run: RunDirectory, parts: Sequence[Part]) -> None:
    if any((part.run.path / "gates.json").is_file() for part in parts):
        write_gates(run, check_gates(run, read_rules(asked_gates(run.manifest().options))))
