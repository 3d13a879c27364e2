"""Original image bytes, checked before they are sent."""

import hashlib
import io
from pathlib import Path

from PIL import Image as Pictures, ImageOps

from bakeoff.errors import BackendError
from bakeoff.records import Image

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
)


def image_bytes(image: Image) -> bytes:
    """Return the bytes of an image file, the very ones that were prepared.

    Raises:
        BackendError: when the file is absent or its hash is another; the sample then is an error, never a score.
    """
    try:
        content = Path(image.path).read_bytes()
    except OSError as error:
        raise BackendError(f"the image {image.path} cannot be read: {error}; prepare the track again") from error
    if hashlib.sha256(content).hexdigest() != image.sha256:
        raise BackendError(f"the image {image.path} is not the one that was prepared; prepare the track again")
    return content


def picture_of(content: bytes) -> Pictures.Image:
    """Return the picture that these bytes hold, turned as its EXIF data says and converted to RGB.

    Raises:
        BackendError: when they are not a picture that can be read.
    """
    try:
        return ImageOps.exif_transpose(Pictures.open(io.BytesIO(content))).convert("RGB")
    except (ValueError, OSError) as error:
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
