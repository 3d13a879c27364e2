"""ModelSpec, which is what a typed model name means, and what reading such a name takes."""

import contextlib
import json
import re
from pathlib import Path

import msgspec

from bakeoff.families import Family, family_of

REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
"""`owner/name` on the hub."""


class ModelSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One model on one backend.

    `name` is what was typed; `arm` is a file name made of it; `location` is a folder, a file, or `owner/name` on the
    hub; `revision` is a branch, tag or commit of the hub, None for its main branch; `weights` and `projector` are files
    inside a GGUF repository, or files on disk; `quant` picks files in a repository by name; `local_paths` are the
    files and folders of this disk that the name means, nothing for what lies on a hub or a server; `is_tiny` says that
    this is the embedded checkpoint, which only the calibration track means anything for.
    """

    name: str
    arm: str
    backend: str
    location: str
    revision: str | None = None
    weights: str | None = None
    projector: str | None = None
    quant: str | None = None
    local_paths: tuple[str, ...] = ()
    is_tiny: bool = False

    @property
    def family(self) -> Family:
        """Family of models by the `config.json` of a local folder, else by name."""
        config = Path(self.location) / "config.json"
        if config.is_file():
            with contextlib.suppress(ValueError, OSError):
                return family_of(json.loads(config.read_text(encoding="utf-8")))
        return family_of(self.location)


def safe_name(name: str) -> str:
    """Return `name` as a file name: letters, digits and `. _ -` stay, runs of anything else become one `-`."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.") or "model"


def split_revision(body: str) -> tuple[str, str | None]:
    """Split `<place>[@revision]`; an @ inside a path is none."""
    before, at, revision = body.rpartition("@")
    return (before, revision) if at and revision and "/" not in revision else (body, None)


def folder_on_disk(location: str) -> tuple[str, ...]:
    """Return `location` when it is written as a path of this disk; nothing for what may be a name on the hub."""
    return (location,) if location.startswith(("/", "./", "../", "~")) else ()


def folder_or_repository(name: str, backend: str) -> ModelSpec | None:
    """Read `<backend>:<folder or owner/name>[@revision]`; None when `name` has another form."""
    kind, _, body = name.partition(":")
    location, revision = split_revision(body)
    if kind != backend or not location:
        return None
    return ModelSpec(
        name=name,
        arm=safe_name(f"{backend}-{location.rstrip('/').rpartition('/')[2]}"),
        backend=backend,
        location=location,
        revision=revision,
        local_paths=folder_on_disk(location),
    )
