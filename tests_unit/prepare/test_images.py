"""Looking at images and storing them."""

import io
from pathlib import Path

import pytest
from PIL import Image as Pillow

from bakeoff.pictures import Unusable, look
from bakeoff.prepare.images import ImageStore
from tests_unit.prepare.pages import picture


@pytest.mark.parametrize(
    ("kind", "extension"),
    [("PNG", "png"), ("JPEG", "jpg"), ("WEBP", "webp"), ("GIF", "gif"), ("BMP", "bmp"), ("TIFF", "tif")],
)
def test_extension_and_size_come_from_the_content(kind: str, extension: str) -> None:
    assert look(picture(1, kind)) == (extension, 72, 48)


def test_a_jpeg_of_several_frames_is_a_jpeg() -> None:
    file = io.BytesIO()
    first, second = (Pillow.open(io.BytesIO(picture(n))) for n in (1, 2))
    first.save(file, "MPO", save_all=True, append_images=[second])
    assert look(file.getvalue()) == ("jpg", 72, 48)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16"])
def test_every_mode_of_pixels_is_looked_at(mode: str) -> None:
    file = io.BytesIO()
    Pillow.new(mode, (30, 20)).save(file, "JPEG" if mode == "CMYK" else "PNG")
    assert look(file.getvalue())[1:] == (30, 20)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_what_is_cut_off_is_found_in_every_format(kind: str, part: float) -> None:
    content = picture(1, kind)
    with pytest.raises(Unusable):
        look(content[: int(part * len(content))])


def test_a_flipped_bit_in_a_png_is_found() -> None:
    content = bytearray(picture(1))
    content[len(content) // 2] ^= 1
    with pytest.raises(Unusable, match="corrupt image"):
        look(bytes(content))


@pytest.mark.parametrize("content", [b"<svg/>", b"%PDF-1.4", b"\x00" * 100])
def test_what_is_no_known_image_is_refused(content: bytes) -> None:
    with pytest.raises(Unusable, match="no image of a known format"):
        look(content)


@pytest.mark.parametrize("factor", [1.5, 3])
def test_a_bomb_is_refused_from_its_header(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", int(72 * 48 / factor))
    with pytest.raises(Unusable, match="decompression bomb"):
        look(picture(1))


def test_a_file_that_was_changed_is_not_held_and_is_written_again(tmp_path: Path) -> None:
    content = picture(1)
    image = ImageStore(tmp_path).put(content)
    path = tmp_path / image.path
    path.write_bytes(b"x" + content)
    assert not ImageStore(tmp_path).holds(image)
    assert ImageStore(tmp_path).put(content) == image
    assert path.read_bytes() == content


def test_pruning_takes_stale_images_and_leftovers_and_nothing_else(tmp_path: Path) -> None:
    store = ImageStore(tmp_path)
    kept, stale = store.put(picture(1)), store.put(picture(2))
    for name in (f".{Path(stale.path).name}.4711", "mine.png", ".hidden"):
        (tmp_path / "images" / name).write_bytes(b"x")
    assert store.prune({kept.path}) == 2
    assert {path.name for path in (tmp_path / "images").iterdir()} == {Path(kept.path).name, "mine.png", ".hidden"}
