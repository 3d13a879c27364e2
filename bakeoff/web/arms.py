"""The arms that the launcher offers: whether they can run here, and whether their weights are on this disk.

Nothing is loaded and no hub is asked; the hub's cache is looked at as a folder, since its client takes a second and
thirty megabytes to load.
"""

import os
from pathlib import Path

import msgspec

from bakeoff.backends import BACKENDS, availability
from bakeoff.errors import UsageProblem
from bakeoff.models import ALIASES, DEFAULT_MODELS, ModelSpec, resolve


class ArmRow(msgspec.Struct, frozen=True, kw_only=True):
    """One arm to choose. `reason` is why it cannot run here; `bytes` is None where nothing is on this disk.

    `place` is `embedded`, `disk`, `cache`, `server`, `absent` (not downloaded yet) or `missing` (a path that is not
    there).
    """

    name: str
    backend: str
    family: str
    location: str
    reason: str | None
    place: str
    bytes: int | None
    is_default: bool


def arm_rows() -> list[ArmRow]:
    """Return every alias."""
    return [describe(resolve(name)) for name in ALIASES]


def typed_arm(name: str) -> tuple[ArmRow | None, str]:
    """Return the arm that a typed name means, or None and what is wrong with it."""
    try:
        return describe(resolve(name.strip())), ""
    except UsageProblem as problem:
        return None, str(problem)


def describe(spec: ModelSpec) -> ArmRow:
    """Return what can be said of an arm without loading or asking anything."""
    place, size = _where(spec)
    return ArmRow(
        name=spec.name,
        backend=spec.backend,
        family=("Embedded checkpoint, " if spec.is_tiny else "") + BACKENDS[spec.backend].long_title,
        location=Path(spec.location).name if spec.is_tiny else spec.location,
        reason=availability(spec.backend),
        place=place,
        bytes=size,
        is_default=spec.name in DEFAULT_MODELS,
    )


def _where(spec: ModelSpec) -> tuple[str, int | None]:
    if BACKENDS[spec.backend].model_in in {"servers", "nowhere"}:
        return "server", None
    local = Path(spec.location).expanduser()
    if local.exists():
        files = [local, Path(spec.projector)] if local.is_file() and spec.projector else [local]
        return "embedded" if spec.is_tiny else "disk", sum(_size(file) for file in files)
    is_repository = spec.location.count("/") == 1 and not spec.location.startswith((".", "/", "~"))
    if not is_repository or local.suffix == ".gguf":
        return "missing", None
    size = _cached(spec)
    return ("absent", None) if size is None else ("cache", size)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    except OSError:
        return 0


def _cached(spec: ModelSpec) -> int | None:
    """Return the size of a model in the hub's cache, None unless a snapshot holds all the weights it names."""
    folder = hub_cache() / f"models--{spec.location.replace('/', '--')}" / "snapshots"
    for snapshot in sorted(folder.glob("*")):
        files = [file for file in snapshot.rglob("*") if file.is_file()]
        meant = BACKENDS[spec.backend].cached(spec, {file.name for file in files})
        if meant:
            return sum(file.stat().st_size for file in files if file.name in meant)
    return None


def hub_cache() -> Path:
    """Return the hub's cache folder by the rules of its client."""
    home = os.environ.get("HF_HOME") or str(Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "huggingface")
    return Path(os.environ.get("HF_HUB_CACHE") or str(Path(home) / "hub")).expanduser()
