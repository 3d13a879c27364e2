"""Weights on disk and on the Hugging Face hub: which files a model needs, where they are, and what they hash to."""

import hashlib
import json
from pathlib import Path

import huggingface_hub
import msgspec
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

from bakeoff.errors import UsageProblem
from bakeoff.paths import cache_dir
from bakeoff.spec import ModelSpec


class GgufFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Local paths of a GGUF model; `revision` is the hub's commit, None for files named on disk."""

    weights: Path
    projector: Path | None
    revision: str | None


def gguf_files(spec: ModelSpec) -> GgufFiles:
    """Find the weights and projector of `spec`, downloading what is not in the cache.

    Raises:
        UsageProblem: when a file is absent, the quantisation does not exist (the message lists those that do), or the
            hub cannot be reached.
    """
    if spec.quant is None:
        weights = _existing(spec, Path(spec.location), "weights")
        projector = None if spec.projector is None else _existing(spec, Path(spec.projector), "projector")
        return GgufFiles(weights=weights, projector=projector, revision=None)
    try:
        info = huggingface_hub.HfApi().model_info(spec.location, revision=spec.revision)
        files = sorted(s.rfilename for s in info.siblings or () if s.rfilename.endswith(".gguf"))
        weights_name = spec.weights or _pick_weights(spec, files)
        projector_name = spec.projector or _pick_projector(spec, files)
        paths = [
            Path(huggingface_hub.hf_hub_download(spec.location, name, revision=info.sha))
            for name in (weights_name, projector_name)
            if name is not None
        ]
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise _unreachable(spec, error) from error
    return GgufFiles(weights=paths[0], projector=paths[1] if len(paths) > 1 else None, revision=info.sha)


def model_folder(spec: ModelSpec) -> tuple[Path, str | None]:
    """Return the local folder of an MLX or transformers model and the hub's commit, None for a folder on disk.

    Raises:
        UsageProblem: when there is no such folder or repository.
    """
    local = Path(spec.location)
    if local.is_dir():
        return local, None
    if spec.location.startswith(("/", ".", "~")) or spec.location.count("/") != 1:
        raise UsageProblem(f"model {spec.name!r}: there is no folder {spec.location}")
    try:
        path = Path(huggingface_hub.snapshot_download(spec.location, revision=spec.revision))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise _unreachable(spec, error) from error
    return path, path.name


def weights_sha256(files: list[Path]) -> str:
    """Return one hash over the contents of `files`, in the order given.

    Hashes of single files are kept in the cache folder by path, size and time of change, because hashing gigabytes
    at every start would cost seconds.
    """
    whole = hashlib.sha256()
    for file in files:
        whole.update(bytes.fromhex(file_sha256(file)))
    return whole.hexdigest()


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file's bytes, from the cache when size and time of change are the same."""
    real = file.resolve()
    status = real.stat()
    store = cache_dir() / "sha256.json"
    key = f"{real}|{status.st_size}|{status.st_mtime_ns}"
    known = _read_cache(store)
    if key not in known:
        with real.open("rb") as stream:
            known[key] = hashlib.file_digest(stream, "sha256").hexdigest()
        if status.st_size > _WORTH_CACHING_BYTES:
            store.parent.mkdir(parents=True, exist_ok=True)
            temporary = store.with_suffix(f".{hashlib.sha256(key.encode()).hexdigest()[:8]}")
            temporary.write_text(json.dumps(known), "utf-8")
            temporary.replace(store)
    return known[key]


_WORTH_CACHING_BYTES = 100_000_000


def _read_cache(store: Path) -> dict[str, str]:
    try:
        return msgspec.json.decode(store.read_bytes(), type=dict[str, str])
    except (OSError, ValueError):
        return {}  # a cache that cannot be read is made again


def _existing(spec: ModelSpec, path: Path, what: str) -> Path:
    if not path.is_file():
        raise UsageProblem(f"model {spec.name!r}: the {what} file {path} does not exist")
    return path


def _pick_weights(spec: ModelSpec, files: list[str]) -> str:
    models = [name for name in files if "mmproj" not in name.lower()]
    wanted = f"-{spec.quant}.gguf".lower()
    found = [name for name in models if f"-{name.rpartition('/')[2]}".lower().endswith(wanted)]
    if len(found) == 1:
        return found[0]
    have = ", ".join(models) or "no GGUF file at all"
    raise UsageProblem(f"model {spec.name!r}: {spec.location} has {len(found)} files for {spec.quant}; it has {have}")


def _pick_projector(spec: ModelSpec, files: list[str]) -> str | None:
    """Return the repository's projector: the only one, else the one of the same quantisation; never a guess."""
    projectors = [name for name in files if "mmproj" in name.lower()]
    same = [name for name in projectors if str(spec.quant).lower() in name.lower()]
    if len(projectors) <= 1:
        return projectors[0] if projectors else None
    if len(same) == 1:
        return same[0]
    raise UsageProblem(
        f"model {spec.name!r}: {spec.location} has several projectors ({', '.join(projectors)}).\n"
        "Download the files and name both: <weights>.gguf,mmproj=<projector>.gguf"
    )


def _unreachable(spec: ModelSpec, error: Exception) -> UsageProblem:
    return UsageProblem(
        f"model {spec.name!r}: {spec.location} cannot be read from the hub: {error}\n"
        "Check the name, the network, and HF_TOKEN for a gated repository; or name files on disk."
    )
