"""Which files make up a Core AI model: the bundles of its two functions, and the texts of the checkpoint."""

from pathlib import Path

import huggingface_hub
import msgspec
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

from bakeoff.errors import UsageProblem
from bakeoff.hashing import hash_json
from bakeoff.hub import file_sha256
from bakeoff.paths import cache_dir
from bakeoff.spec import ModelSpec

VISION = "gpu-pipelined/lfm2_5_vl_3b_vision_fp16/lfm2_5_vl_3b_vision_fp16.aimodel"
DECODER = "gpu-pipelined/lfm2_5_vl_3b_decode_int8lin/lfm2_5_vl_3b_decode_int8lin.aimodel"
"""Where the bundles lie at the pinned revision; later ones moved them."""

TEXTS, TEXTS_REVISION = "LiquidAI/LFM2.5-VL-3B", "5a414ead75d45db003906d06fb62bd5b6846cec0"
"""Tokenizer, template and sizes: of the checkpoint and commit that the bundles' model card says they were made from."""

TEXT_FILES = ("*.json", "*.jinja")
_NO_TEXTS = ("*.index.json",)


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """Local paths of a model; `texts` is a folder. The revisions are commits of the hub, None for files on disk."""

    vision: Path
    decoder: Path
    texts: Path
    revision: str | None = None
    texts_revision: str | None = None


def find_files(spec: ModelSpec) -> Files:
    """Find the files of `spec`, downloading what is not in the cache; a chunked export replaces the decoder.

    Raises:
        UsageProblem: when a file is absent or the hub cannot be reached.
    """
    local = Path(spec.location).expanduser()
    if local.is_dir():
        return Files(vision=_only(local, "vision"), decoder=_only(local, "decode"), texts=local)
    if spec.revision is None:
        raise UsageProblem(f"model {spec.name!r}: there is no folder {local}")
    try:
        bundles = [f"{VISION}/*", f"{DECODER}/*"]
        folder = Path(huggingface_hub.snapshot_download(spec.location, revision=spec.revision, allow_patterns=bundles))
        texts = Path(
            huggingface_hub.snapshot_download(
                TEXTS, revision=TEXTS_REVISION, allow_patterns=list(TEXT_FILES), ignore_patterns=list(_NO_TEXTS)
            )
        )
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise UsageProblem(
            f"model {spec.name!r}: {spec.location} or {TEXTS} cannot be read from the hub: {error}\n"
            "Check the network, and HF_TOKEN for a gated repository; or name a folder: --model coreai:<folder>"
        ) from error
    for name in (VISION, DECODER):
        if not (folder / name).is_dir():
            raise UsageProblem(f"model {spec.name!r}: {spec.location} at {spec.revision} has no {name}")
    chunked = chunked_export()
    return Files(
        vision=folder / VISION,
        decoder=chunked if chunked.is_dir() else folder / DECODER,
        texts=texts,
        revision=folder.name,
        texts_revision=texts.name,
    )


def chunked_export() -> Path:
    """Return where an own export of the decoder is looked for, one that reads several tokens in a call."""
    stem = f"{Path(DECODER).stem}_chunked"
    return cache_dir() / "coreai" / "exports" / stem / f"{stem}.aimodel"


def bundle_sha256(bundle: Path) -> str:
    """Return one hash over names and contents of a bundle; what a runtime derives from it, `.odix`, is no part.

    Raises:
        UsageProblem: when there is nothing in it.
    """
    files = sorted(path for path in bundle.rglob("*") if path.is_file() and path.suffix != ".odix")
    if not files:
        raise UsageProblem(f"{bundle} holds no program; download it again, or name another with coreai:<folder>")
    return hash_json([[path.relative_to(bundle).as_posix(), file_sha256(path)] for path in files])


def texts_sha256(folder: Path) -> dict[str, str]:
    """Return the hash of every file of the texts by name: sizes, preprocessing, tokenizer, template."""
    found = {path for pattern in TEXT_FILES for path in folder.glob(pattern)} - set(folder.glob(_NO_TEXTS[0]))
    return {path.name: file_sha256(path) for path in sorted(found)}


def _only(folder: Path, word: str) -> Path:
    found = sorted(path for path in folder.glob("*.aimodel") if word in path.name)
    if len(found) != 1:
        have = ", ".join(path.name for path in sorted(folder.glob("*.aimodel"))) or "none"
        raise UsageProblem(f"{folder} must hold one .aimodel with {word!r} in its name; it has: {have}")
    return found[0]
