"""The wrong samples on the page: which, with what, and what is said when something is missing."""

import base64
import hashlib
import io
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from PIL import ExifTags, Image as PillowImage

from bakeoff.records import BoxTarget, Image, Record
from bakeoff.report import samples as wrong, summarize
from bakeoff.report.boxes import answer_box
from bakeoff.report.pictures import LONGEST_SIDE, Album
from bakeoff.report.reading import read_run
from bakeoff.tracks import TRACKS
from tests_unit.report.synthetic import TRACK, RunMaker, record

Answered = Callable[..., list[Record]]


def _cards(maker: RunMaker) -> wrong.Wrong:
    return wrong.wrong_samples(read_run(maker.write()))


def test_samples_that_arms_disagree_on_come_first(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered(lambda i: i in {0, 30})).arm("two", answered(lambda i: i == 0))
    found = _cards(maker)
    assert [card.id for card in found.cards] == [maker.samples[30].id, maker.samples[0].id]
    assert found.shown == {"one": (2, 2), "two": (1, 1)}


def test_cards_are_capped_by_arm_and_say_so(
    maker: RunMaker, answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrong, "MOST_PER_ARM", 5)
    maker.arm("one", answered(lambda _: True))
    found = _cards(maker)
    assert len(found.cards) == 5
    assert found.shown["one"] == (5, 120)


def test_a_card_tells_question_target_output_answer_and_box(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered(lambda i: i < 3))
    cards = {card.id.split("-")[1]: card for card in _cards(maker).cards}
    box = cards["boxes"]
    assert (box.question, box.target) == ("Where is the rectangle?", "x 4 to 28, y 4 to 20 px")
    assert box.target_box is not None
    assert box.answers[0].box_text is not None
    assert box.answers[0].marked == box.answers[0].answer
    assert cards["choices"].target == "B: green"
    assert cards["words"].target == "hello + 1 more accepted"
    assert cards["words"].answers[0].before + cards["words"].answers[0].marked == "It is help"


def test_images_are_kept_once_and_small(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered(lambda i: i < 6))
    found = _cards(maker)
    assert len(found.images) == 2
    uri = next(iter(found.images.values()))
    with PillowImage.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))) as picture:
        assert (picture.format, picture.size) == ("PNG", (96, 64))


def test_missing_images_and_samples_are_said_in_words(maker: RunMaker, answered: Answered) -> None:
    track = TRACKS[TRACK]
    maker.arm("one", answered(lambda i: i == 0))
    shutil.rmtree(track.folder() / "images")
    card = _cards(maker).cards[0]
    assert card.pictures[0].missing == "image not found"
    assert card.question == "Where is the rectangle?"


def test_samples_that_are_not_prepared_leave_the_output(
    maker: RunMaker, answered: Answered, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    maker.arm("one", answered(lambda i: i == 0))
    elsewhere = msgspec.structs.replace(TRACKS[TRACK], folder=lambda: tmp_path / "nothing")
    monkeypatch.setitem(TRACKS, TRACK, elsewhere)
    run = read_run(maker.write())
    card = wrong.wrong_samples(run).cards[0]
    assert card.note is not None
    assert "not prepared here" in card.note
    assert (card.question, card.target, card.pictures[0].missing) == (None, "–", "image not found")
    assert "bbox_2d" in card.answers[0].before
    assert summarize(run).arms["one"].tracks[TRACK].n == 120


def test_a_sample_that_is_no_longer_what_was_asked_is_left_out(maker: RunMaker, answered: Answered) -> None:
    stale = [msgspec.structs.replace(found, image_sha256=("e" * 64,)) for found in answered(lambda i: i == 0)]
    maker.arm("one", stale)
    card = _cards(maker).cards[0]
    assert card.note is not None
    assert "not the one that was asked" in card.note
    assert card.target == "–"


def test_an_image_with_other_bytes_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    PillowImage.new("RGB", (1200, 300)).save(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    image = Image(path=str(path), sha256=digest, width=1200, height=300)
    assert Album().picture(image, "f" * 64).missing == "the image on disk is not the one that was asked"
    assert Album(budget=10).picture(image, digest).missing == "image not in this page: its size budget is used up"
    album = Album()
    assert album.picture(image, digest).key == f"image-{digest[:16]}"
    data = base64.b64decode(next(iter(album.uris.values())).partition(",")[2])
    with PillowImage.open(io.BytesIO(data)) as small:
        assert max(small.size) == LONGEST_SIDE


def test_a_picture_is_what_models_saw_turned_by_exif_and_on_white(tmp_path: Path) -> None:
    exif = PillowImage.Exif()
    exif[ExifTags.Base.Orientation] = 6
    path = tmp_path / "image.png"
    PillowImage.new("RGBA", (40, 20), (0, 90, 0, 0)).save(path, exif=exif)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    album = Album()
    album.picture(Image(path=str(path), sha256=digest, width=20, height=40), digest)
    data = base64.b64decode(next(iter(album.uris.values())).partition(",")[2])
    with PillowImage.open(io.BytesIO(data)) as small:
        assert (small.size, small.convert("RGBA").getpixel((5, 5))) == ((20, 40), (255, 255, 255, 255))


def test_an_image_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    path.write_bytes(b"no image")
    digest = hashlib.sha256(b"no image").hexdigest()
    image = Image(path=str(path), sha256=digest, width=1, height=1)
    assert Album().picture(image, digest).missing == "image not readable"


@pytest.mark.parametrize(
    ("scorer", "output", "drawn"),
    [
        ("box_iou", "[100, 200, 300, 400]", (10.0, 20.0, 30.0, 40.0)),
        ("box_iou@pixel", "[10, 20, 30, 40]", (10.0, 20.0, 30.0, 40.0)),
        ("box_iou@norm1", "[0.1, 0.2, 0.3, 0.4]", (10.0, 20.0, 30.0, 40.0)),
        ("box_iou@other", "[10, 20, 30, 40]", None),
        ("box_iou", "nowhere", None),
    ],
)
def test_answer_boxes_are_drawn_in_the_frame_they_were_scored_in(
    maker: RunMaker, scorer: str, output: str, drawn: tuple[float, ...] | None
) -> None:
    target = BoxTarget(box=(0.1, 0.2, 0.3, 0.4), image_size=(100, 100))
    answer = output if drawn or "other" in scorer else None
    said = record(maker.samples[0], output=output, answer=answer, scorer=scorer, metrics={"iou": 1.0})
    found = answer_box(said, target, (100, 100))
    assert found == (pytest.approx(drawn) if drawn else None)


def test_a_box_that_contradicts_its_score_is_not_drawn(maker: RunMaker) -> None:
    target = BoxTarget(box=(0.1, 0.2, 0.3, 0.4), image_size=(100, 100))
    said = record(
        maker.samples[0], output="[0, 0, 9, 9]", answer="[0, 0, 9, 9]", scorer="box_iou", metrics={"iou": 0.5}
    )
    assert answer_box(said, target, (100, 100)) is None
