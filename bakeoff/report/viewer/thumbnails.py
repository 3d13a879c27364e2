"""Small copies of images beside the page: same image, same bytes; as many as the limits let, the rest by reference."""

import hashlib
import io
import os
import urllib.parse
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from PIL import Image as PillowImage

from bakeoff.files import write_atomically
from bakeoff.pictures import BROKEN, as_shown
from bakeoff.records import Image, Sample
from bakeoff.report import numbers
from bakeoff.report.visible import visible_line

LONGEST_SIDE = 640
MOST_IMAGES = 600
MOST_BYTES = 24_000_000
_QUALITY = 80
_BATCH = 16
_DIGITS = 24
_WITHOUT_PALETTE = {"RGB", "RGBA", "L", "LA", "CMYK", "YCbCr"}


class Thumbnails:
    """The copies in `folder` for a page in the folder `page`; `make` comes before `picture`.

    A copy is named by the SHA-256 of the image that was asked, so one that lies there is used as it is: a run that was
    moved away from its data keeps its pictures.
    """

    def __init__(
        self, folder: Path, *, page: Path, most_images: int = MOST_IMAGES, most_bytes: int = MOST_BYTES
    ) -> None:
        self._folder = folder
        self._page = page
        self._most_images = most_images
        self._most_bytes = most_bytes
        self._names: dict[str, str] = {}
        self._missing: dict[str, str] = {}
        self._references: dict[str, str] = {}
        self._asked = 0

    def make(self, wanted: Iterable[tuple[str, Sample | None]]) -> None:
        """Copy the images `wanted`, the most needed first, until a limit is reached."""
        order: dict[str, Image | None] = {}
        for digest, sample in wanted:
            found = _image(digest, sample)
            if order.get(digest) is None:
                order[digest] = found
        self._asked = len(order)
        chosen = list(order.items())
        size, is_full = 0, False
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            for start in range(0, len(chosen), _BATCH):
                if is_full:
                    break
                batch = chosen[start : start + _BATCH]
                for (digest, _), copy in zip(batch, pool.map(self._copy, batch), strict=True):
                    if isinstance(copy, str):
                        self._missing[digest] = copy
                        continue
                    size += len(copy)
                    is_full = is_full or len(self._names) >= self._most_images or size > self._most_bytes
                    if not is_full:
                        self._keep(digest, copy)

    def picture(self, digest: str, sample: Sample | None) -> dict[str, Any]:
        """Return one image of a sample: its size, its copy, the file it came from, and what is wrong with that file."""
        image = _image(digest, sample)
        found: dict[str, Any] = {"width": image.width, "height": image.height} if image else {}
        if digest in self._names:
            found["copy"] = self._names[digest]
        if image:
            found |= {"file": self._reference(image), "href": urllib.parse.quote(self._reference(image))}
        if digest in self._missing and digest not in self._names:
            found["missing"] = self._missing[digest]
        return found

    @property
    def summary(self) -> dict[str, str]:
        """How many images there are, how many were copied, and what was left out, in words."""
        left_out = self._asked - len(self._names) - len(self._missing)
        text = f"{numbers.counted(len(self._names), self._asked)} images copied beside the page"
        if left_out:
            text += (
                f"; {numbers.count(left_out)} left out by the limits of {numbers.count(self._most_images)} images"
                f" and {numbers.memory(self._most_bytes)}: those are read from their files"
            )
        if self._missing:
            text += f"; {numbers.count(len(self._missing))} not found or not readable"
        return {"text": text}

    def remove_others(self) -> None:
        """Remove copies that this page does not name."""
        for path in sorted(self._folder.glob("*.webp")):
            if path.name not in self._names.values():
                path.unlink()

    def _copy(self, entry: tuple[str, Image | None]) -> bytes | str:
        """Return the bytes of a copy, or why there is none."""
        digest, image = entry
        kept = self._folder / _name(digest)
        if kept.is_file():
            return kept.read_bytes()
        if image is None:
            return "image not found: the samples of this track are not prepared here"
        try:
            content = Path(image.path).read_bytes()
        except OSError:
            return f"image not found at {visible_line(self._reference(image))}"
        if hashlib.sha256(content).hexdigest() != digest:
            return f"the image at {visible_line(self._reference(image))} is not the one that was asked"
        return small_copy(content) or f"the image at {visible_line(self._reference(image))} is not readable"

    def _keep(self, digest: str, copy: bytes) -> None:
        path = self._folder / _name(digest)
        if not path.is_file():
            write_atomically(path, copy, lasting=False)
        self._names[digest] = path.name

    def _reference(self, image: Image) -> str:
        """Return the path of the original as the page sees it, which names no home folder for data beside the run."""
        if image.path not in self._references:
            self._references[image.path] = Path(os.path.relpath(image.path, self._page)).as_posix()
        return self._references[image.path]


def small_copy(content: bytes) -> bytes | None:
    """Return an image as models saw it, as WebP of at most `LONGEST_SIDE` pixels; None when it cannot be read.

    A drawing that needs no shrinking is kept without loss where that takes fewer bytes.
    """
    shown, _ = as_shown(content)
    try:
        with PillowImage.open(io.BytesIO(shown)) as opened:
            size = opened.size
            small = opened if opened.mode in _WITHOUT_PALETTE else opened.convert("RGB")
            small.thumbnail((LONGEST_SIDE, LONGEST_SIDE), PillowImage.Resampling.LANCZOS)
            small = small.convert("RGB")
            is_whole = opened.format != "JPEG" and small.size == size
    except BROKEN:
        return None
    copies = [_webp(small, lossless=False)] + ([_webp(small, lossless=True)] if is_whole else [])
    return min(copies, key=len)


def _webp(image: PillowImage.Image, *, lossless: bool) -> bytes:
    written = io.BytesIO()
    image.save(written, "WEBP", quality=_QUALITY, method=2, lossless=lossless, exif=b"")
    return written.getvalue()


def _name(digest: str) -> str:
    safe = digest[:_DIGITS] if digest.isalnum() and digest.isascii() else hashlib.sha256(digest.encode()).hexdigest()
    return f"{safe[:_DIGITS]}.webp"


def _image(digest: str, sample: Sample | None) -> Image | None:
    """Return the prepared image that was asked."""
    return next((image for image in sample.images if image.sha256 == digest), None) if sample else None
