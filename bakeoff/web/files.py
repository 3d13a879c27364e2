"""Which file an address below `/files/<key>/` means, and as what it is sent."""

from pathlib import Path

import msgspec

from bakeoff.paths import data_dir
from bakeoff.web.place import Place
from bakeoff.web.problems import Refusal

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".md": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
}
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp"})


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """A file, its type, and whether the browser saves it rather than showing it."""

    path: Path
    media_type: str
    is_download: bool


def find_file(place: Place, kind: str, rest: str) -> Sent:
    """Return a file of a run, a comparison, an export, or a picture of the prepared data.

    Pictures are there because a report names them from where it lies: `reports/<run>` and `data` are neighbours.

    Raises:
        Refusal: when the address leads anywhere else, or to nothing.
    """
    first, _, inner = rest.partition("/")
    match kind:
        case "runs":
            root, wanted = place.run(first).path, inner
        case "compare" | "exports" if first.replace("-", "").replace(".", "").isalnum() and first.strip("."):
            root, wanted = place.own / kind / first, inner
        case "data":
            root, wanted = data_dir(), rest
        case _:
            raise Refusal(404, "there is no such file")
    path, top = (root / wanted).resolve(), root.resolve()
    suffix = path.suffix.lower()
    if not path.is_relative_to(top) or not path.is_file() or (kind == "data" and suffix not in _PICTURES):
        raise Refusal(404, f"there is no file {wanted!r}")
    is_download = kind == "exports" or suffix not in _TYPES
    return Sent(path=path, media_type=_TYPES.get(suffix, "application/octet-stream"), is_download=is_download)
