"""Pictures as files hold them: looked at without decoding more than must be."""

import io
import warnings

from PIL import Image as Pillow, UnidentifiedImageError

EXTENSIONS = {"JPEG": "jpg", "MPO": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif", "BMP": "bmp", "TIFF": "tif"}
"""What Pillow calls a format, and the file extension that it gets."""

_READERS = [kind for kind in EXTENSIONS if kind != "MPO"]
"""Pillow's readers; a JPEG of several frames comes out of the one for JPEG as MPO."""


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
        raise Unusable("it holds no bytes")
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
