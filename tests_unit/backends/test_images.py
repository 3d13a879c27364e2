"""Every runtime is given the same bytes of an image, and what was changed in them stands in the record."""

import hashlib
import io
from pathlib import Path

import pytest
from PIL import Image as Pillow

from bakeoff.backends.changes import changes_of, is_unchanged
from bakeoff.backends.images import image_bytes, picture_of
from bakeoff.errors import BackendError
from bakeoff.records import Image


def stored(folder: Path, picture: Pillow.Image, name: str = "a.png") -> Image:
    path = folder / name
    picture.save(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Image(path=str(path), sha256=digest, width=picture.width, height=picture.height)


def test_a_plain_image_is_given_as_it_was_prepared(tmp_path: Path) -> None:
    image = stored(tmp_path, Pillow.new("RGB", (8, 4), (1, 2, 3)))
    assert image_bytes(image) == Path(image.path).read_bytes()
    assert is_unchanged(image)
    assert changes_of([image]) == ()


def test_a_transparent_image_is_given_on_white_every_time_and_told(tmp_path: Path) -> None:
    clear = stored(tmp_path, Pillow.new("RGBA", (8, 4), (0, 99, 0, 0)))
    plain = stored(tmp_path, Pillow.new("RGB", (8, 4)), "b.png")
    for image in (plain, clear, clear):
        given = image_bytes(image)
    assert Pillow.open(io.BytesIO(given)).mode == "RGB"
    assert picture_of(given).getpixel((1, 1)) == (255, 255, 255)
    assert changes_of([plain, clear, clear]) == ("transparency on white",)
    assert changes_of([plain]) == ()


def test_a_file_that_changed_is_refused(tmp_path: Path) -> None:
    image = stored(tmp_path, Pillow.new("RGBA", (8, 4), (0, 99, 0, 0)))
    Pillow.new("RGB", (8, 4)).save(image.path)
    with pytest.raises(BackendError, match="is not the one that was prepared"):
        image_bytes(image)
