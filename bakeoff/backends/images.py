"""Image bytes, checked before they are sent, and the same for every runtime."""

import hashlib
import io
from pathlib import Path

from PIL import Image as Pictures

from bakeoff.backends.changes import is_unchanged, remember
from bakeoff.errors import BackendError
from bakeoff.pictures import BROKEN, as_shown
from bakeoff.records import Image

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
)


def image_bytes(image: Image) -> bytes:
    """Return what runtimes are given for an image: the bytes that were prepared, or a PNG where decoders would differ.

    See `pictures.as_shown`; what was changed is kept for the record.

    Raises:
        BackendError: when the file is absent or its hash is another; the sample then is an error, never a score.
    """
    try:
        content = Path(image.path).read_bytes()
    except OSError as error:
        raise BackendError(f"the image {image.path} cannot be read: {error}; prepare the track again") from error
    if hashlib.sha256(content).hexdigest() != image.sha256:
        raise BackendError(f"the image {image.path} is not the one that was prepared; prepare the track again")
    if is_unchanged(image):  # a transparent format without a transparent pixel takes a decode to know
        return content
    shown, changes = as_shown(content)
    remember(image, changes)
    return shown


def picture_of(content: bytes) -> Pictures.Image:
    """Return the picture in RGB that the bytes of `image_bytes` hold.

    Raises:
        BackendError: when they are not a picture that can be read.
    """
    try:
        return Pictures.open(io.BytesIO(content)).convert("RGB")
    except BROKEN as error:
        raise BackendError(f"an image of the prompt is not readable: {error}") from error


def mime_type(content: bytes) -> str:
    """Return the MIME type that the bytes themselves show, whatever the file is called.

    Raises:
        BackendError: for a format that is not one of PNG, JPEG, GIF, BMP, WebP.
    """
    for signature, name in _SIGNATURES:
        if content.startswith(signature):
            return name
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    raise BackendError(f"an image begins with {content[:8]!r}, which is no format that runtimes read")
