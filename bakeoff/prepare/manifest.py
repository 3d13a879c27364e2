"""What was prepared, from where: `data/<track>/manifest.json`."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from bakeoff.files import write_atomically
from bakeoff.prepare.problems import megabytes
from bakeoff.wording import some

SCHEMA = 1


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """One split as it was read: `revision` was asked for, `commit` is what it resolved to."""

    label: str
    repository: str
    config: str
    split: str
    revision: str
    commit: str
    rows: int
    rows_taken: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What lies in a track's folder.

    `rows_read` counts all rows of the splits and `rows_taken` the chosen ones; `left_out` counts rows that became no
    sample by reason, and `left_out_rows` names them; `fetched_bytes` is what this preparation read over the network, of
    shards that are `shard_bytes` large; `unexpected` names groups with other counts than they had when the track was
    written. `samples_sha256` is of the bytes of samples.jsonl.
    """

    schema: int
    track: str
    version: str
    prepared_at: str
    size: str | int
    origins: tuple[Origin, ...]
    rows_read: int
    rows_taken: int
    samples: int
    left_out: dict[str, int]
    left_out_rows: tuple[str, ...]
    images: int
    image_bytes: int
    fetched_bytes: int
    shard_bytes: int
    samples_sha256: str
    unexpected: tuple[str, ...] = ()


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest in `folder`, None when there is none that can be read."""
    try:
        manifest = msgspec.json.decode((folder / "manifest.json").read_bytes(), type=Manifest)
    except (OSError, ValueError):
        return None
    return manifest if manifest.schema == SCHEMA else None


def write_prepared(folder: Path, samples: bytes, manifest: Manifest) -> None:
    """Write samples and manifest; the samples come first, since runs read nothing else."""
    write_atomically(folder / "samples.jsonl", samples)
    content: Any = msgspec.to_builtins(manifest)
    write_atomically(folder / "manifest.json", msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n")


def summary(manifest: Manifest) -> str:
    """Say what was prepared and what it cost."""
    left = "".join(f"; {count} left out: {reason}" for reason, count in manifest.left_out.items())
    share = 100 * manifest.fetched_bytes / max(manifest.shard_bytes, 1)
    images = f"{some(manifest.images, 'image')} ({megabytes(manifest.image_bytes)})"
    return (
        f"{some(manifest.samples, 'sample')} with {images}{left}; fetched "
        f"{megabytes(manifest.fetched_bytes)} of {megabytes(manifest.shard_bytes)} ({share:.0f} %)"
    )


def is_as_prepared(folder: Path, manifest: Manifest) -> bool:
    """Return whether samples.jsonl is the file that the manifest was written for."""
    try:
        return hashlib.sha256((folder / "samples.jsonl").read_bytes()).hexdigest() == manifest.samples_sha256
    except OSError:
        return False


def rows_prepared(folder: Path) -> int:
    """Return how many rows of the dataset the folder stands for; lines of samples.jsonl where no manifest tells."""
    manifest = read_manifest(folder)
    if manifest is not None and is_as_prepared(folder, manifest):
        return manifest.rows_taken
    try:
        with (folder / "samples.jsonl").open("rb") as lines:
            return sum(1 for line in lines if line.strip())
    except OSError:
        return 0
