"""Parts of one run, made on several machines: read, and held against each other before they are joined."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bakeoff.errors import RunMismatch, UsageProblem
from bakeoff.journal import JournalContent
from bakeoff.runs import Manifest, RunDirectory, Selection, ShardManifest


class Part(NamedTuple):
    """A run as it was read."""

    run: RunDirectory
    manifest: Manifest
    selection: Selection
    journals: Mapping[str, JournalContent]

    @property
    def shards(self) -> tuple[ShardManifest, ...]:
        """What it is a part of: one entry for a part, one for each of its parts for a merged run, none for others."""
        own = (self.manifest.shard, *(part.shard for part in self.manifest.parts))
        return tuple(shard for shard in own if shard is not None)


def read_part(path: Path) -> Part:
    """Read a run.

    Raises:
        UsageProblem: when it is none, or a file of it is not readable.
    """
    run = RunDirectory(path)
    return Part(run, run.manifest(), run.selection(), run.journals())


def agreed_fingerprints(parts: Sequence[Part]) -> dict[str, dict[str, Any]]:
    """Return the inputs of every arm of all parts, after every input was held against all parts that have it.

    The inputs of an arm, and those of an arm on a track, are equal as a whole: a field that one part lacks differs. An
    arm that was never begun has no inputs.

    Raises:
        RunMismatch: when two parts were made from other inputs; the message names the field and both parts.
    """
    agreed = _Agreed()
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        for shard in part.shards:
            agreed.check("split", {"shard count": shard.count}, part)
            for track, samples in shard.whole.items():
                agreed.check(f"split of {track}", {f"samples of {track} before the split": samples[:8]}, part)
        for arm, manifest in part.manifest.arms.items():
            inputs = found.setdefault(arm, {})
            for owner, fields in _by_track(manifest.fingerprint).items():
                agreed.check(f"{arm} {owner}", {f"{arm}: {name}": value for name, value in fields.items()}, part)
                inputs.update(fields)
    return found


def refuse_what_is_no_part(parts: Sequence[Part]) -> None:
    """Refuse runs of the same arm on the same track that were not split: nobody can tell what is missing between them.

    Runs of other arms or other tracks, such as those of a CI matrix, are parts without having been split.

    Raises:
        UsageProblem: naming both runs.
    """
    if len(parts) == 1 and not parts[0].shards:
        raise UsageProblem(f"{parts[0].run.path} is a whole run, and no part (--shard I/N): there is nothing to merge")
    owners: dict[tuple[str, str], Part] = {}
    for part in parts:
        for arm, track in ((arm, track) for arm, tracks in part.selection.items() for track in tracks):
            other = owners.setdefault((arm, track), part)
            whole = next((one for one in (other, part) if not one.shards), None)
            if other is not part and whole is not None:
                raise UsageProblem(
                    f"{other.run.path} and {part.run.path} both ran {arm} on {track}, and {whole.run.name} is no part "
                    "of a run (--shard I/N).\n"
                    f"Compare them with: bakeoff compare {other.run.path} {part.run.path}"
                )


class _Agreed:
    """What was said first of each subject, and by which part."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[Mapping[str, Any], Part]] = {}

    def check(self, subject: str, fields: Mapping[str, Any], part: Part) -> None:
        """Refuse a part that says of a subject anything else than an earlier one did."""
        before, earlier = self._said.setdefault(subject, (fields, part))
        for field in sorted(before.keys() | fields.keys()):
            if before.get(field) != fields.get(field):
                hint = (
                    f"{earlier.run.path} and {part.run.path} are no parts of one run. Compare them with: "
                    "bakeoff compare"
                )
                raise RunMismatch(field, before.get(field), fields.get(field), hint)


def _by_track(fingerprint: Mapping[str, Any]) -> dict[str | None, dict[str, Any]]:
    """Return the fields of a fingerprint by the track they belong to; under None those of the arm itself."""
    found: dict[str | None, dict[str, Any]] = {}
    for field, value in fingerprint.items():
        track = field.split(".")[1] if field.startswith("tracks.") else None
        found.setdefault(track, {})[field] = value
    return found
