"""Images by content: looked at without decoding more than must be, stored once under their hash."""

import hashlib
import io
import re
import warnings
from pathlib import Path

from PIL import Image as Pillow, UnidentifiedImageError

from bakeoff.files import write_atomically
from bakeoff.records import Image

EXTENSIONS = {"JPEG": "jpg", "MPO": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif", "BMP": "bmp", "TIFF": "tif"}
"""What Pillow calls a format, and the file extension that it gets."""

_READERS = [kind for kind in EXTENSIONS if kind != "MPO"]
"""Pillow's readers; a JPEG of several frames comes out of the one for JPEG as MPO."""

OURS = re.compile(rf"[0-9a-f]{{16}}\.({'|'.join(sorted(set(EXTENSIONS.values())))})")


class Unusable(ValueError):
    """Bytes that are not an image the suite can show to a model; the message says why."""


def look(content: bytes) -> tuple[str, int, int]:
    """Return extension, width and height of an image that is whole.

    Size comes from the header. That the rest is there is checked as cheaply as the format allows: checksums of a PNG,
    an eighth-size decode of a JPEG, a decode of anything else.

    Raises:
        Unusable: when the bytes are no known image, are cut off, or declare more pixels than Pillow's bomb limit.
    """
    if not content:
        raise Unusable("the row names an image file and holds no bytes of it")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Pillow.DecompressionBombWarning)
            with Pillow.open(io.BytesIO(content), formats=_READERS) as image:
                kind, (width, height) = str(image.format), image.size
                if kind == "PNG":
                    image.verify()
                else:
                    image.draft("L", (max(1, width // 8), max(1, height // 8)))
                    image.load()
    except (Pillow.DecompressionBombWarning, Pillow.DecompressionBombError) as error:
        raise Unusable(f"decompression bomb: {error}") from error
    except UnidentifiedImageError as error:
        raise Unusable(f"its {len(content)} bytes are no image of a known format") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        # Pillow's decoders report broken data with all of these.
        raise Unusable(f"corrupt image: {error}") from error
    return EXTENSIONS[kind], width, height


class ImageStore:
    """The images of one track, in `folder/images`; a file is named after the hash of its bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._whole: dict[str, bool] = {}
        self._put: dict[str, Image] = {}

    def put(self, content: bytes) -> Image:
        """Store `content` unless it is there, and describe it.

        Raises:
            Unusable: as `look`.
            OSError: when it cannot be written.
        """
        digest = hashlib.sha256(content).hexdigest()
        if digest in self._put:
            return self._put[digest]
        extension, width, height = look(content)
        image = Image(path=f"images/{digest[:16]}.{extension}", sha256=digest, width=width, height=height)
        if not self.holds(image):
            # What a power cut takes is found by its hash when the track is prepared again.
            write_atomically(self.folder / image.path, content, lasting=False)
            self._whole[image.path] = True
        self._put[digest] = image
        return image

    def holds(self, image: Image) -> bool:
        """Return whether the file of `image` is there with the bytes it should have; each file is hashed once."""
        if image.path not in self._whole:
            path = self.folder / image.path
            self._whole[image.path] = path.is_file() and _sha256(path) == image.sha256
        return self._whole[image.path]

    def prune(self, keep: set[str]) -> int:
        """Remove stored images whose paths are not in `keep`, and what broken-off writes left; return how many.

        Files with names that this class does not give stay.
        """
        removed = 0
        for path in sorted((self.folder / "images").glob("*")):
            if (OURS.fullmatch(path.name) and f"images/{path.name}" not in keep) or _is_leftover(path.name):
                path.unlink()
                removed += 1
        return removed


def _is_leftover(name: str) -> bool:
    return name.startswith(".") and OURS.fullmatch(name[1:].rpartition(".")[0]) is not None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
