"""The run directory: manifest, journals, selection, lock. Reports and plugin meet here and nowhere else.

reports/<run>/run.json             manifest: what was asked, of whom, on which machine
              selection.json       which samples of which arm belong to the run
              records/<arm>.jsonl  journals
              logs/<arm>.log       the runtimes' own output
              run.lock             held by the one process that may write
"""

import datetime as dt
import json
import secrets
from pathlib import Path
from typing import Any

import filelock
import msgspec

from bakeoff.errors import RunMismatch, UsageProblem
from bakeoff.files import write_atomically
from bakeoff.hashing import hash_json
from bakeoff.journal import Journal, JournalContent, Progress, read_journal, read_progress
from bakeoff.records import SCHEMA, Header

_LOCK_PATIENCE_S = 0.5
"""Whoever only looks whether a run is being written holds the lock for a moment."""


class ArmManifest(msgspec.Struct, frozen=True, kw_only=True):
    """One arm: the name asked for, its backend, what the backend says it is, and the inputs that make its numbers.

    `fingerprint` maps dotted names to values; every input that can move a score is in it. `settings` are what only
    moves speed, such as concurrency.
    """

    model: str
    backend: str
    identity: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    fingerprint: dict[str, Any] = {}

    @property
    def is_started(self) -> bool:
        """Whether its model was ever opened; until then only its name is known."""
        return bool(self.identity or self.fingerprint)


class TrackManifest(msgspec.Struct, frozen=True, kw_only=True):
    """One track as it was run."""

    version: str
    dataset: str
    revision: str
    protocol: str
    max_tokens: int
    full: int
    prepared: int
    samples_sha256: str


class ShardManifest(msgspec.Struct, frozen=True, kw_only=True):
    """Which part of which whole a run is: part `index` of `count`; `whole` hashes a track's samples of all parts."""

    index: int
    count: int
    whole: dict[str, str]


class PartManifest(msgspec.Struct, frozen=True, kw_only=True):
    """A run that went into a merged one, with the machine it was made on."""

    run: str
    created: str
    argv: tuple[str, ...]
    environment: dict[str, Any]
    shard: ShardManifest | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`run.json`. `created` is UTC in ISO 8601; `options` are the plugin's options by name.

    `shard` is what a part of a whole is a part of; `parts` are the runs that a merged run was made of.
    """

    run: str
    created: str
    argv: tuple[str, ...]
    options: dict[str, Any]
    environment: dict[str, Any]
    arms: dict[str, ArmManifest] = {}
    tracks: dict[str, TrackManifest] = {}
    shard: ShardManifest | None = None
    parts: tuple[PartManifest, ...] = ()
    schema: int = SCHEMA


Selection = dict[str, dict[str, list[str]]]
"""Arm name -> track name -> ids of the samples that belong to the run."""


class RunDirectory:
    """A run on disk. Reading needs no lock; `lock` must be held to write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = filelock.FileLock(path / "run.lock")

    @property
    def name(self) -> str:
        """Name of the run, which is the name of its directory."""
        return self.path.name

    def exists(self) -> bool:
        """Return whether a manifest has been written."""
        return (self.path / "run.json").is_file()

    def lock(self) -> None:
        """Become the only writer.

        Raises:
            UsageProblem: when another process is writing to the run, or the directory cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=_LOCK_PATIENCE_S)
        except filelock.Timeout as error:
            raise UsageProblem(f"{self.path} is being written by another process; wait for it or stop it") from error
        except OSError as error:
            raise UsageProblem(
                f"cannot write to {self.path}: {error}.\nName another place with --run-dir DIR"
            ) from error

    def unlock(self) -> None:
        """Let others write. Unlocking twice is fine."""
        self._lock.release()

    def manifest(self) -> Manifest:
        """Read `run.json`.

        Raises:
            UsageProblem: when it is absent, unreadable, or of another schema.
        """
        path = self.path / "run.json"
        try:
            manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
        except NotADirectoryError as error:
            parent = self.path.parent
            hint = f" Did you mean {parent}?" if (parent / "run.json").is_file() else ""
            raise UsageProblem(f"{self.path} is a file, and a run is a directory.{hint}") from error
        except FileNotFoundError as error:
            raise UsageProblem(f"{self.path} is not a run directory: it has no run.json") from error
        except OSError as error:
            raise UsageProblem(f"{path} cannot be read: {error}") from error
        except ValueError as error:
            advice = "Its records can still be read; bring run.json back from a copy to report on them"
            raise UsageProblem(f"{path} is not readable: {error}.\n{advice}") from error
        if manifest.schema != SCHEMA:
            raise UsageProblem(f"{path} has schema {manifest.schema}; this version reads schema {SCHEMA}")
        return manifest

    def write_manifest(self, manifest: Manifest) -> None:
        """Replace `run.json` in one step."""
        write_atomically(self.path / "run.json", pretty_json(msgspec.to_builtins(manifest)))

    def selection(self) -> Selection:
        """Read which samples belong to the run; empty when nothing was selected yet."""
        path = self.path / "selection.json"
        if not path.is_file():
            return {}
        try:
            return msgspec.json.decode(path.read_bytes(), type=Selection)
        except ValueError as error:
            raise UsageProblem(f"{path} is not readable: {error}") from error

    def write_selection(self, selection: Selection) -> None:
        """Replace `selection.json` in one step."""
        write_atomically(self.path / "selection.json", json.dumps(selection, sort_keys=True) + "\n")

    def journal_path(self, arm: str) -> Path:
        """Return where the journal of `arm` lies; it need not exist."""
        return self.path / "records" / f"{arm}.jsonl"

    def log_path(self, arm: str) -> Path:
        """Return where the runtime of `arm` writes its own output; the folder exists afterwards."""
        (self.path / "logs").mkdir(parents=True, exist_ok=True)
        return self.path / "logs" / f"{arm}.log"

    def open_journal(self, arm: str, fingerprint: dict[str, Any], advice: str | None = None) -> Journal:
        """Open the journal of `arm` for appending; it begins with the hash of `fingerprint`. `advice` as `Journal`."""
        path = self.journal_path(arm)
        path.parent.mkdir(parents=True, exist_ok=True)
        return Journal(path, Header(run=self.name, arm=arm, fingerprint=hash_json(fingerprint)), advice)

    def journals(self) -> dict[str, JournalContent]:
        """Read the journals that exist, by arm, in the manifest's order."""
        return {arm: read_journal(path) for arm, path in self._journal_paths().items()}

    def progress(self) -> dict[str, Progress]:
        """Return how far each arm with a journal has come, in the manifest's order."""
        return {arm: read_progress(path) for arm, path in self._journal_paths().items()}

    def _journal_paths(self) -> dict[str, Path]:
        paths = {arm: self.journal_path(arm) for arm in self.manifest().arms}
        return {arm: path for arm, path in paths.items() if path.is_file()}


def new_run_path(reports: Path) -> Path:
    """Return a fresh directory name below `reports`: UTC time and four hex digits."""
    now = dt.datetime.now(dt.UTC)
    return reports / f"{now:%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"


def utc_now() -> str:
    """Return the present moment, UTC, ISO 8601 with milliseconds."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")


def newest_unfinished(reports: Path) -> Path:
    """Return the youngest run below `reports` in which a selected sample has no valid record.

    Raises:
        UsageProblem: when there is none.
    """
    for path in sorted(reports.glob("*/run.json"), key=lambda p: p.stat().st_mtime, reverse=True):
        run = RunDirectory(path.parent)
        if not is_complete(run):
            return path.parent
    raise UsageProblem(f"no unfinished run in {reports}; name one with --resume DIR, or start one without --resume")


def is_complete(run: RunDirectory) -> bool:
    """Return whether every selected sample of every arm has a record that is not an error."""
    done = {arm: progress.answered for arm, progress in run.progress().items()}
    return all(
        sample in done.get(arm, frozenset())
        for arm, tracks in run.selection().items()
        for samples in tracks.values()
        for sample in samples
    )


def check_fingerprint(stored: dict[str, Any], current: dict[str, Any], *, where: Path, arm: str) -> None:
    """Hold the stored inputs of an arm against the current ones.

    Raises:
        RunMismatch: naming the first field that differs, in sorted order.
    """
    for field in sorted(stored.keys() | current.keys()):
        if stored.get(field) != current.get(field):
            hint = f"Arm {arm} of {where}: use the stored value, or start a new run without --resume."
            raise RunMismatch(field, stored.get(field), current.get(field), hint)


def pretty_json(value: Any) -> str:
    """Return `value` as indented ASCII JSON, which any text survives, with a final line end; refuses NaN."""
    return json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False) + "\n"
