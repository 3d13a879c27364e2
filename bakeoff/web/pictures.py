"""Pictures of samples: found by track and hash among what is prepared, and sent only if they are pictures."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from bakeoff.errors import BakeoffError
from bakeoff.paths import data_dir
from bakeoff.tracks import TRACKS
from bakeoff.web.problems import Refusal

_KINDS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"BM": "image/bmp",
}


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A sample's question, and the files of its pictures by hash."""

    question: str
    files: dict[str, str]


def media_type(content: bytes) -> str | None:
    """Return the type of a picture by its first bytes, None when it is none that a browser draws safely."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _KINDS.items() if content.startswith(start)), None)


def read_picture(track: str, sample: str, digest: str) -> tuple[bytes, str]:
    """Return the bytes and type of a sample's picture.

    Raises:
        Refusal: when there is no such sample or picture, or the file is none.
    """
    shown = find_sample(track, sample)
    name = shown.files.get(digest) if shown else None
    if name is None:
        raise Refusal(404, f"sample {sample!r} of {track!r} has no such picture here")
    path, root = Path(name).resolve(), _root(track).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        raise Refusal(404, f"the picture of sample {sample!r} is not below {root}")
    content = path.read_bytes()
    kind = media_type(content)
    if kind is None:
        raise Refusal(404, f"the picture of sample {sample!r} is of a kind that is not shown")
    return content, kind


def find_sample(track: str, sample: str) -> Shown | None:
    """Return a prepared sample, None when it is not there; the file is searched, not kept in memory."""
    if track not in TRACKS:
        return None
    if TRACKS[track].load is not None:
        return _custom(sample)
    path = TRACKS[track].folder() / "samples.jsonl"
    try:
        status = path.stat()
    except OSError:
        return None
    return _search(path, sample, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _search(path: Path, sample: str, _changed_ns: int) -> Shown | None:
    wanted = json.dumps(sample).encode()
    with path.open("rb") as lines:
        for line in lines:
            if wanted in line:
                found: Any = json.loads(line)
                if isinstance(found, dict) and found.get("id") == sample:
                    files = {i["sha256"]: str(path.parent / i["path"]) for i in found.get("images") or ()}
                    return Shown(question=str(found.get("question", "")), files=files)
    return None


def _custom(sample: str) -> Shown | None:
    try:
        samples = TRACKS["custom"].load() if TRACKS["custom"].load else ()
    except BakeoffError:
        return None
    found = next((one for one in samples if one.id == sample), None)
    return None if found is None else Shown(question=found.question, files={i.sha256: i.path for i in found.images})


def _root(track: str) -> Path:
    return data_dir() / "images" if TRACKS[track].load is not None else TRACKS[track].folder()
