"""Images of samples as small PNGs inside the page: same file, same bytes out; anything else is said in words."""

import base64
import hashlib
import io
from pathlib import Path

import msgspec
from PIL import Image as PillowImage

from bakeoff.pictures import BROKEN, as_shown
from bakeoff.records import Image

LONGEST_SIDE = 480
BUDGET_BYTES = 2_000_000
"""How many bytes of PNG one page may hold."""


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """One image of a sample. `key` is its id in the page; `missing` says why there is none."""

    key: str | None
    width: int
    height: int
    missing: str | None = None


class Album:
    """Thumbnails of one page, each image once, until the budget is used up."""

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._left = budget
        self._pictures: dict[str, Picture] = {}
        self.uris: dict[str, str] = {}
        """Key -> data URI, in order of first use."""

    def picture(self, image: Image, asked_sha256: str) -> Picture:
        """Return the picture of an image that was asked with the bytes `asked_sha256`."""
        if asked_sha256 not in self._pictures:
            self._pictures[asked_sha256] = self._load(image, asked_sha256)
        return self._pictures[asked_sha256]

    def _load(self, image: Image, asked_sha256: str) -> Picture:
        def without(reason: str) -> Picture:
            return Picture(key=None, width=image.width, height=image.height, missing=reason)

        try:
            content = Path(image.path).read_bytes()
        except OSError:
            return without("image not found")
        if hashlib.sha256(content).hexdigest() != asked_sha256:
            return without("the image on disk is not the one that was asked")
        thumbnail = _thumbnail(content)
        if thumbnail is None:
            return without("image not readable")
        if len(thumbnail) > self._left:
            return without("image not in this page: its size budget is used up")
        self._left -= len(thumbnail)
        key = f"image-{asked_sha256[:16]}"
        self.uris[key] = f"data:image/png;base64,{base64.b64encode(thumbnail).decode('ascii')}"
        return Picture(key=key, width=image.width, height=image.height)


def _thumbnail(content: bytes) -> bytes | None:
    shown, _ = as_shown(content)  # what the models saw: turned, and on white
    try:
        with PillowImage.open(io.BytesIO(shown)) as opened:
            small = opened.convert("RGB")
    except BROKEN:
        return None
    small.thumbnail((LONGEST_SIDE, LONGEST_SIDE), PillowImage.Resampling.LANCZOS)
    written = io.BytesIO()
    small.save(written, "PNG", compress_level=9)
    return written.getvalue()
