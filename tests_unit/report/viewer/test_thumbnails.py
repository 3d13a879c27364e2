"""Copies of images: bounded, named by what was asked, the same bytes every time, and gaps said in words."""

import hashlib
import io
from pathlib import Path

import pytest
from PIL import ExifTags, Image as PillowImage

from bakeoff.records import Image, Sample, TextTarget
from bakeoff.report.viewer.thumbnails import LONGEST_SIDE, Thumbnails, small_copy


def _sample(folder: Path, number: int, size: tuple[int, int] = (900, 300), mode: str = "RGB") -> Sample:
    path = folder / "data" / f"{number}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    PillowImage.new(mode, size, number).save(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    image = Image(path=str(path), sha256=digest, width=size[0], height=size[1])
    return Sample(id=f"s-{number}", track="t", question="?", target=TextTarget(answers=("a",)), images=(image,))


def _make(folder: Path, samples: list[Sample], **limits: int) -> Thumbnails:
    made = Thumbnails(folder / "run" / "samples" / "thumbnails", page=folder / "run", **limits)
    made.make((sample.images[0].sha256, sample) for sample in samples)
    return made


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "run" / "samples" / "thumbnails").glob("*")}


def test_a_copy_is_small_and_the_picture_names_it_and_its_file(tmp_path: Path) -> None:
    sample = _sample(tmp_path, 1)
    found = _make(tmp_path, [sample]).picture(sample.images[0].sha256, sample)
    assert (found["width"], found["height"], found["file"], found["href"]) == (
        900,
        300,
        "../data/1.png",
        "../data/1.png",
    )
    with PillowImage.open(io.BytesIO(_files(tmp_path)[found["copy"]])) as copy:
        assert (copy.format, copy.size) == ("WEBP", (LONGEST_SIDE, 213))
    assert "missing" not in found


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16", "CMYK"])
def test_images_of_every_mode_are_copied(mode: str) -> None:
    written = io.BytesIO()
    PillowImage.new(mode, (40, 20)).save(written, "TIFF")
    copy = small_copy(written.getvalue())
    assert copy is not None
    with PillowImage.open(io.BytesIO(copy)) as opened:
        assert opened.size == (40, 20)


def test_a_copy_is_what_models_saw_turned_by_exif_and_on_white() -> None:
    exif = PillowImage.Exif()
    exif[ExifTags.Base.Orientation] = 6  # the stored left side is on top
    picture = PillowImage.new("RGBA", (40, 20), (0, 90, 0, 0))
    picture.paste((200, 30, 40, 255), (0, 0, 20, 20))
    written = io.BytesIO()
    picture.save(written, "PNG", exif=exif)
    copy = small_copy(written.getvalue())
    assert copy is not None
    with PillowImage.open(io.BytesIO(copy)) as opened:
        assert opened.size == (20, 40)
        assert opened.convert("RGBA").getpixel((10, 35)) == (255, 255, 255, 255)
        assert opened.convert("RGB").getpixel((10, 5)) == (200, 30, 40)


def test_a_drawing_that_is_not_shrunk_keeps_every_pixel() -> None:
    picture = PillowImage.new("RGB", (64, 64), (250, 250, 250))
    picture.paste((200, 30, 40), (10, 10, 30, 30))
    written = io.BytesIO()
    picture.save(written, "PNG")
    copy = small_copy(written.getvalue())
    assert copy is not None
    with PillowImage.open(io.BytesIO(copy)) as opened:
        assert opened.convert("RGB").tobytes() == picture.tobytes()


def test_the_same_images_give_the_same_bytes(tmp_path: Path) -> None:
    samples = [_sample(tmp_path, number) for number in range(5)]
    _make(tmp_path, samples)
    first = _files(tmp_path)
    for path in (tmp_path / "run" / "samples" / "thumbnails").iterdir():
        path.unlink()
    _make(tmp_path, samples)
    assert _files(tmp_path) == first
    assert len(first) == 5


def test_images_beyond_the_number_are_left_out_and_counted(tmp_path: Path) -> None:
    samples = [_sample(tmp_path, number) for number in range(5)]
    made = _make(tmp_path, samples, most_images=2)
    assert len(_files(tmp_path)) == 2
    assert "copy" in made.picture(samples[1].images[0].sha256, samples[1])
    left_out = made.picture(samples[2].images[0].sha256, samples[2])
    assert ("copy" in left_out, "missing" in left_out, left_out["href"]) == (False, False, "../data/2.png")
    assert made.summary["text"].startswith("2 of 5 images copied beside the page; 3 left out by the limits of 2 images")


def test_images_beyond_the_bytes_are_left_out_and_counted(tmp_path: Path) -> None:
    samples = [_sample(tmp_path, number) for number in range(4)]
    one = len(small_copy(Path(samples[0].images[0].path).read_bytes()) or b"")
    made = _make(tmp_path, samples, most_bytes=2 * one + one // 2)
    assert len(_files(tmp_path)) == 2
    assert "2 left out" in made.summary["text"]


def test_an_image_that_is_gone_other_or_broken_is_said_with_its_place(tmp_path: Path) -> None:
    gone, other, broken = (_sample(tmp_path, number) for number in range(3))
    Path(gone.images[0].path).unlink()
    Path(other.images[0].path).write_bytes(b"other")
    Path(broken.images[0].path).write_bytes(b"broken")
    digest = hashlib.sha256(b"broken").hexdigest()
    made = Thumbnails(tmp_path / "thumbnails", page=tmp_path)
    image = Image(path=broken.images[0].path, sha256=digest, width=1, height=1)
    unread = Sample(id="b", track="t", question="?", target=TextTarget(answers=("a",)), images=(image,))
    made.make([(gone.images[0].sha256, gone), (other.images[0].sha256, other), (digest, unread), ("e" * 64, None)])
    said = [
        made.picture(key, s)["missing"] for key, s in ((gone.images[0].sha256, gone), (other.images[0].sha256, other))
    ]
    assert said == ["image not found at data/0.png", "the image at data/1.png is not the one that was asked"]
    assert made.picture(digest, unread)["missing"] == "the image at data/2.png is not readable"
    assert "not prepared here" in made.picture("e" * 64, None)["missing"]
    assert made.summary["text"].endswith("4 not found or not readable")


def test_a_run_that_left_its_data_keeps_its_copies(tmp_path: Path) -> None:
    sample = _sample(tmp_path, 1)
    digest = sample.images[0].sha256
    _make(tmp_path, [sample])
    Path(sample.images[0].path).unlink()
    made = Thumbnails(tmp_path / "run" / "samples" / "thumbnails", page=tmp_path / "run")
    made.make([(digest, None)])
    made.remove_others()
    assert list(made.picture(digest, None)) == ["copy"]
    assert len(_files(tmp_path)) == 1


def test_copies_that_no_sample_needs_any_more_are_removed(tmp_path: Path) -> None:
    first, second = _sample(tmp_path, 1), _sample(tmp_path, 2)
    _make(tmp_path, [first, second])
    _make(tmp_path, [second]).remove_others()
    assert [name[:8] for name in _files(tmp_path)] == [second.images[0].sha256[:8]]


def test_a_hash_that_is_no_hash_makes_no_path(tmp_path: Path) -> None:
    made = Thumbnails(tmp_path / "thumbnails", page=tmp_path)
    (tmp_path / "secret.webp").write_bytes(b"secret")
    made.make([("../secret", None)])
    assert "copy" not in made.picture("../secret", None)
