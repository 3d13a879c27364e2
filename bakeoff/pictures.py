"""Pictures as files hold them: looked at without decoding more than must be, and made alike for all runtimes."""

import io
import struct
import warnings

from PIL import ExifTags, Image as Pillow, UnidentifiedImageError

VERSION = "2"
"""Raised by whatever changes what a runtime is given for a file."""

EXTENSIONS = {"JPEG": "jpg", "MPO": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif", "BMP": "bmp", "TIFF": "tif"}
"""What Pillow calls a format, and the file extension that it gets."""

_READERS = [kind for kind in EXTENSIONS if kind != "MPO"]
"""Pillow's readers; a JPEG of several frames comes out of the one for JPEG as MPO."""


BROKEN = (
    *(OSError, SyntaxError, ValueError, EOFError, TypeError, LookupError, ArithmeticError, struct.error),
    Pillow.DecompressionBombError,
)
"""What Pillow's decoders raise for data that is broken, or more than it should be."""

_UPRIGHT = 1
_SIDEWAYS = {5, 6, 7, 8}
"""Values of EXIF's orientation: as stored, and with width and height exchanged."""

_TURNS = {
    2: Pillow.Transpose.FLIP_LEFT_RIGHT,
    3: Pillow.Transpose.ROTATE_180,
    4: Pillow.Transpose.FLIP_TOP_BOTTOM,
    5: Pillow.Transpose.TRANSPOSE,
    6: Pillow.Transpose.ROTATE_270,
    7: Pillow.Transpose.TRANSVERSE,
    8: Pillow.Transpose.ROTATE_90,
}
"""What each value asks for; Pillow's own function would write the other, maybe broken, EXIF data again."""

_READ_BY_ALL = {"PNG", "JPEG", "MPO", "BMP", "GIF"}
"""Formats that every runtime reads; llama.cpp reads neither WebP nor TIFF."""

_PLAIN = {"1", "L", "P", "RGB"}
"""Modes of pixels that become RGB in one way only."""

_WITH_ALPHA = {"LA", "PA", "RGBA"}


class Unusable(ValueError):
    """Bytes that are not an image the suite can show to a model; the message says why."""


def look(content: bytes) -> tuple[str, int, int]:
    """Return extension, width and height of an image that is whole; turned by EXIF data, if at all.

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
                if _orientation(image) in _SIDEWAYS:
                    width, height = height, width
                if kind == "PNG":
                    image.verify()
                else:
                    image.draft("L", (max(1, image.width // 8), max(1, image.height // 8)))
                    image.load()
    except (Pillow.DecompressionBombWarning, Pillow.DecompressionBombError) as error:
        raise Unusable(f"decompression bomb: {error}") from error
    except UnidentifiedImageError as error:
        raise Unusable(f"its {len(content)} bytes are no image of a known format") from error
    except BROKEN as error:
        raise Unusable(f"corrupt image: {error}") from error
    return EXTENSIONS[kind], width, height


def as_shown(content: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return the bytes that every runtime is given for a file, and what was changed for that.

    Mostly they are the file's own. Where decoders differ, they are a PNG in RGB of what a viewer shows: transparency
    lies on white, EXIF's turning is done, 16 bits and CMYK are converted, WebP and TIFF are decoded. A transparent
    format without a transparent pixel is left alone, and so are bytes that cannot be read, which a runtime refuses.
    """
    try:
        with Pillow.open(io.BytesIO(content), formats=_READERS) as image:
            changes = _changes(image)
            return (_as_png(image), changes) if changes else (content, ())
    except BROKEN:
        return content, ()


def _changes(image: Pillow.Image) -> tuple[str, ...]:
    """Name what must be changed, in words for a record."""
    found = []
    if _orientation(image) != _UPRIGHT:
        found.append("turned by EXIF")
    if image.mode in _WITH_ALPHA or "transparency" in image.info:
        if _alpha_of(image) is not None:
            found.append("transparency on white")
    elif image.mode not in _PLAIN:
        found.append(f"{image.mode} to RGB")
    if image.format not in _READ_BY_ALL:
        found.append(f"{image.format} to PNG")
    return tuple(found)


def _as_png(image: Pillow.Image) -> bytes:
    """Return the first frame as a viewer shows it."""
    flat = _flat(image)
    if (orientation := _orientation(image)) != _UPRIGHT:
        flat = flat.transpose(_TURNS[orientation])
    file = io.BytesIO()
    flat.save(file, "PNG", compress_level=1)
    return file.getvalue()


def _flat(image: Pillow.Image) -> Pillow.Image:
    """Return a picture in RGB, on white where it is transparent."""
    if image.mode.startswith("I;16"):
        return image.convert("I").point(lambda value: value * (1 / 257)).convert("L").convert("RGB")
    alpha = _alpha_of(image)
    if alpha is None:
        return image.convert("RGB")
    flat = Pillow.new("RGB", image.size, "white")
    flat.paste(image.convert("RGBA").convert("RGB"), mask=alpha)
    return flat


def _alpha_of(image: Pillow.Image) -> Pillow.Image | None:
    """Return the alpha channel, None where every pixel is opaque."""
    if image.mode not in _WITH_ALPHA and ("transparency" not in image.info or image.mode not in _PLAIN):
        return None
    alpha = image.convert("RGBA").getchannel("A")
    return None if alpha.getextrema() == (255, 255) else alpha


def _orientation(image: Pillow.Image) -> int:
    """Return EXIF's orientation as far as the header tells it: behind the pixels of a PNG it is not looked for."""
    if "exif" not in image.info:
        return _UPRIGHT
    value = image.getexif().get(ExifTags.Base.Orientation, _UPRIGHT)
    return value if value in range(_UPRIGHT, 9) else _UPRIGHT
