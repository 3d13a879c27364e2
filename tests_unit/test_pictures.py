"""What runtimes are given for a file: its own bytes, or one picture that no decoder reads otherwise."""

import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from PIL import ExifTags, Image as Pillow, ImageOps

from bakeoff.pictures import Unusable, as_shown, look

RED, WHITE = (200, 10, 20), (255, 255, 255)


def saved(image: Pillow.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def shown(content: bytes) -> Pillow.Image:
    """Return the picture of `content` as a runtime gets it, which must be a plain PNG."""
    given, _ = as_shown(content)
    image = Pillow.open(io.BytesIO(given))
    assert (image.format, image.mode, dict(image.info)) == ("PNG", "RGB", {})
    return image


def changes(content: bytes) -> tuple[str, ...]:
    return as_shown(content)[1]


def with_hole(mode: str) -> Pillow.Image:
    """Return 8 by 4 pixels of red, the left half transparent over a stored green."""
    image = Pillow.new("RGBA", (8, 4), (*RED, 255))
    image.paste((0, 99, 0, 0), (0, 0, 4, 4))
    return image.convert(mode)


@pytest.mark.parametrize(
    "content",
    [
        saved(Pillow.new("RGB", (8, 4), RED), "PNG"),
        saved(Pillow.new("RGB", (8, 4), RED), "JPEG"),
        saved(Pillow.new("L", (8, 4), 7), "JPEG"),
        saved(Pillow.new("P", (8, 4), 1), "PNG"),
        saved(Pillow.new("1", (8, 4), 1), "PNG"),
        saved(Pillow.new("RGB", (8, 4), RED), "BMP"),
        saved(Pillow.new("P", (8, 4), 1), "GIF"),
        saved(Pillow.new("RGBA", (8, 4), (*RED, 255)), "PNG"),
        saved(Pillow.new("LA", (8, 4), (7, 255)), "PNG"),
        b"no picture",
        saved(Pillow.new("RGB", (8, 4), RED), "PNG")[:40],
    ],
)
def test_what_all_decoders_read_alike_is_given_as_it_is(content: bytes) -> None:
    assert as_shown(content) == (content, ())


@pytest.mark.parametrize("mode", ["RGBA", "LA"])
def test_transparency_lies_on_white(mode: str) -> None:
    content = saved(with_hole(mode), "PNG")
    assert changes(content) == ("transparency on white",)
    image = shown(content)
    assert image.getpixel((1, 1)) == WHITE
    assert image.getpixel((6, 1)) == with_hole(mode).convert("RGB").getpixel((6, 1))


def test_half_transparent_pixels_are_mixed_with_white() -> None:
    content = saved(Pillow.new("RGBA", (2, 2), (0, 0, 0, 128)), "PNG")
    assert shown(content).getpixel((0, 0)) == (127, 127, 127)


@pytest.mark.parametrize(("mode", "kind", "key"), [("P", "PNG", 0), ("P", "GIF", 0), ("L", "PNG", 0)])
def test_a_colour_that_stands_for_transparent_lies_on_white(mode: str, kind: str, key: int) -> None:
    image = Pillow.new(mode, (8, 4), 1)
    image.paste(key, (0, 0, 4, 4))
    content = saved(image, kind, transparency=key)
    assert changes(content) == ("transparency on white",)
    assert shown(content).getpixel((1, 1)) == WHITE


def test_a_colour_that_stands_for_transparent_and_does_not_occur_changes_nothing() -> None:
    content = saved(Pillow.new("RGB", (8, 4), RED), "PNG", transparency=(1, 2, 3))
    assert as_shown(content) == (content, ())


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_what_exif_turns_is_turned_and_measured_so(kind: str) -> None:
    exif = Pillow.Exif()
    exif[ExifTags.Base.Orientation] = 6  # the stored left side is on top
    image = Pillow.new("RGB", (80, 40), RED)
    image.paste(WHITE, (0, 0, 40, 40))
    content = saved(image, kind, exif=exif)
    assert changes(content) == ("turned by EXIF",)
    assert shown(content).size == (40, 80)
    assert look(content)[1:] == (40, 80)
    blue = np.asarray(shown(content))[:, :, 2]
    assert blue[:30].min() > 240
    assert blue[50:].max() < 60


@pytest.mark.parametrize("orientation", range(2, 9))
def test_every_turn_is_that_of_pillow(orientation: int) -> None:
    exif = Pillow.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    image = Pillow.new("RGB", (4, 2))
    image.putdata([(20 * n, 9, 200 - 9 * n) for n in range(8)])
    content = saved(image, "PNG", exif=exif)
    turned = ImageOps.exif_transpose(Pillow.open(io.BytesIO(content)))
    assert (shown(content).size, shown(content).tobytes()) == (turned.size, turned.tobytes())
    assert look(content)[1:] == turned.size


def test_exif_that_cannot_be_written_again_is_no_obstacle() -> None:
    exif = Pillow.Exif()
    exif[ExifTags.Base.Orientation] = 6
    exif[ExifTags.Base.XResolution] = 72.0
    content = saved(Pillow.new("RGB", (8, 4), RED), "JPEG", exif=exif)
    broken = content.replace(b"\x01\x1a\x00\x05", b"\x01\x1a\x00\x02")  # the resolution as text, not a fraction
    assert broken != content
    assert shown(broken).size == (4, 8)


@pytest.mark.parametrize("error", [TypeError, KeyError, ZeroDivisionError, struct.error])
def test_whatever_a_decoder_stumbles_over_is_a_corrupt_image(monkeypatch: pytest.MonkeyPatch, error: Any) -> None:
    def stumble(*_: object) -> None:
        raise error("as seen with broken TIFF and EXIF data")

    content = saved(Pillow.new("RGB", (8, 4), RED), "TIFF")
    monkeypatch.setattr("PIL.TiffImagePlugin.TiffImageFile.load", stumble)
    with pytest.raises(Unusable, match="corrupt image"):
        look(content)
    assert as_shown(content) == (content, ())


def test_exif_that_turns_nothing_changes_nothing() -> None:
    exif = Pillow.Exif()
    exif[ExifTags.Base.Orientation] = 1
    exif[ExifTags.Base.Make] = "A camera"
    content = saved(Pillow.new("RGB", (8, 4), RED), "JPEG", exif=exif)
    assert as_shown(content) == (content, ())


def test_sixteen_bits_keep_their_brightness() -> None:
    content = saved(Pillow.new("I;16", (8, 4), 128 * 257), "PNG")
    assert changes(content) == ("I;16 to RGB",)
    assert shown(content).getpixel((1, 1)) == (128, 128, 128)


def test_cmyk_becomes_rgb() -> None:
    content = saved(Pillow.new("CMYK", (8, 4), (0, 0, 0, 0)), "JPEG")
    assert changes(content) == ("CMYK to RGB",)
    assert shown(content).getpixel((1, 1)) == WHITE


@pytest.mark.parametrize(("kind", "options"), [("WEBP", {"lossless": True}), ("TIFF", {})])
def test_formats_that_not_every_runtime_reads_are_decoded(kind: str, options: dict[str, object]) -> None:
    content = saved(Pillow.new("RGB", (8, 4), RED), kind, **options)
    assert changes(content) == (f"{kind} to PNG",)
    assert shown(content).getpixel((1, 1)) == RED


def test_of_an_animation_the_first_frame_is_shown() -> None:
    frames = [Pillow.new("RGB", (8, 4), colour) for colour in (RED, WHITE)]
    content = saved(frames[0], "WEBP", lossless=True, save_all=True, append_images=frames[1:])
    assert shown(content).getpixel((1, 1)) == RED


def test_a_bomb_is_left_to_the_runtime() -> None:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 6, 0, 0, 0)
    content = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")
    assert as_shown(content) == (content, ())
