"""Images by content, stored once under their hash."""

import hashlib
import re
from pathlib import Path

from bakeoff.files import write_atomically
from bakeoff.pictures import EXTENSIONS, Unusable, look
from bakeoff.records import Image

OURS = re.compile(rf"[0-9a-f]{{16}}\.({'|'.join(sorted(set(EXTENSIONS.values())))})")


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
        if not content:
            raise Unusable("the row names an image file and holds no bytes of it")
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
