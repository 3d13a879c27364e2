"""Custom cases: what is refused and how it is said, and what a case becomes."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from bakeoff.errors import DataMissing
from bakeoff.records import BoxTarget, NumberTarget, OptionTarget, Sample, TextTarget
from bakeoff.tracks import TRACKS, content_sha256, samples_of
from bakeoff.tracks.baselines import answered
from bakeoff.tracks.cases import options_in, read_cases

Item = dict[str, Any]
GOOD: Item = {
    "id": "one",
    "category": "signs",
    "images": ["custom/a.png"],
    "prompt": "What does it say?",
    "scorer": "contains",
    "expected": {"text": "EXIT"},
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path))
    (tmp_path / "tasks").mkdir()
    (tmp_path / "images" / "custom").mkdir(parents=True)
    Image.new("RGB", (64, 48), "white").save(tmp_path / "images" / "custom" / "a.png")
    return tmp_path


def write(data: Path, *items: Item, name: str = "mine.json") -> None:
    (data / "tasks" / name).write_text(json.dumps(items if len(items) != 1 else items[0]), "utf-8")


def load() -> tuple[Sample, ...]:
    return samples_of(TRACKS["custom"])


def test_case_becomes_a_sample(data: Path) -> None:
    write(data, {**GOOD, "system": "Be brief.", "max_tokens": 7, "meta": {"platform": "web"}})
    (sample,) = load()
    assert (sample.id, sample.track, sample.question, sample.system) == ("one", "custom", GOOD["prompt"], "Be brief.")
    assert sample.groups == {"category": "signs", "scorer": "contains", "max_tokens": "7"}
    (image,) = sample.images
    assert (image.width, image.height, len(image.sha256)) == (64, 48, 64)
    assert Path(image.path) == (data / "images" / "custom" / "a.png").resolve()
    protocol = TRACKS["custom"].protocol(None)
    assert protocol.budget is not None
    assert protocol.budget(sample) == 7


def test_one_object_and_lists_in_the_order_of_file_names(data: Path) -> None:
    write(data, {**GOOD, "id": "z"}, name="b.json")
    write(data, {**GOOD, "id": "y"}, {**GOOD, "id": "x"}, name="a.json")
    assert [sample.id for sample in load()] == ["y", "x", "z"]


def expecting(scorer: str, **expected: object) -> Item:
    return {"scorer": scorer, "expected": expected}


@pytest.mark.parametrize(
    ("change", "field", "expected"),
    [
        ({"id": None}, "id", "a text that is not blank"),
        ({"id": "a b"}, "id", "letters, digits"),
        ({"category": 3}, "category", "a text that is not blank"),
        ({"prompt": " "}, "prompt", "a text that is not blank"),
        ({"prompt": "half \ud83d of a smile"}, "prompt", "a text that is not blank"),
        (expecting("anls", answers=["a", "\udc00"]), "expected.answers", "a list of texts"),
        ({"system": 1}, "system", "a text that is not blank"),
        ({"scorer": "contain"}, "scorer", "one of contains, exact"),
        ({"scorer": None}, "scorer", "one of contains, exact"),
        ({"expected": "EXIT"}, "expected", "an object"),
        ({"max_tokens": 0}, "max_tokens", "a whole number from 1"),
        ({"max_tokens": "9"}, "max_tokens", "a whole number from 1"),
        ({"max_tokens": True}, "max_tokens", "a whole number from 1"),
        ({"images": "custom/a.png"}, "images", "a list of paths"),
        ({"images": [3]}, "images[0]", "a path below the image root"),
        ({"images": ["custom/a.png", "/etc/passwd"]}, "images[1]", "stays below the image root"),
        ({"images": ["custom/../../x.png"]}, "images[0]", "stays below the image root"),
        ({"images": ["..\\x.png"]}, "images[0]", "stays below the image root"),
        ({"images": ["C:\\x.png"]}, "images[0]", "stays below the image root"),
        ({"images": ["custom/none.png"]}, "images[0]", "an image below"),
        ({"images": ["custom/a\0.png"]}, "images[0]", "a path below"),
        ({"images": ["custom/\ud800.png"]}, "images[0]", "a path below"),
        ({"images": [5000 * "x"]}, "images[0]", "a path below"),
        ({"images": ["loop.png"]}, "images[0]", "a path below"),
        ({"image": ["custom/a.png"], "images": ...}, "image", "the name images"),
        ({"max_token": 9}, "max_token", "the name max_tokens"),
        (expecting("bbox_iou", bbox=[1, 2, 3, 4], IoU=0.9), "expected.IoU", "the name iou"),
        (expecting("contains"), "expected.text", "a text that is not blank"),
        (expecting("choice", text=""), "expected.text", "a text that is not blank"),
        (expecting("anls", answers=[]), "expected.answers", "a list of texts"),
        (expecting("anls", answers=["a", 2]), "expected.answers", "a list of texts"),
        (expecting("anls", answers=["a"], anls=2), "expected.anls", "a number from 0 to 1"),
        (expecting("bbox_iou", bbox=[1, 2, 3]), "expected.bbox", "four numbers"),
        (expecting("bbox_iou", bbox=[1, 2, 3, "4"]), "expected.bbox", "four numbers"),
        (expecting("bbox_iou", bbox=[1, 2, 3, float("nan")]), "expected.bbox", "four numbers"),
        (expecting("bbox_iou", bbox=[1, 2, 3, 10**400]), "expected.bbox", "four numbers"),
        (expecting("bbox_iou", bbox=[1, 2, 3, 4], iou=10**400), "expected.iou", "a number from 0 to 1"),
        (expecting("mathvista", kind="value", answer=10**400), "expected.answer", "a text or a number"),
        (expecting("bbox_iou", bbox=[10, 20, 5, 40]), "expected.bbox", "with x1 < x2"),
        (expecting("click_point", bbox=[10, 20, 50, 1040]), "expected.bbox", "grid of 0 to 1000"),
        (expecting("click_in_box", bbox=[0.1, 0.2, 0.5, 0.4]), "expected.bbox", "multiply them by 1000"),
        (expecting("bbox_iou", bbox=[1, 2, 3, 4], iou="half"), "expected.iou", "a number from 0 to 1"),
        (expecting("mc_option", gold="E"), "expected.gold", "a letter from A to D"),
        (expecting("mc_option", gold="AB", n=3), "expected.gold", "a letter from A to C"),
        (expecting("mc_option", gold="A", n=99), "expected.n", "a whole number from 1 to 26"),
        (expecting("choice_letter", text="the first"), "expected.text", "a letter from A to D"),
        (expecting("mathvista", kind="number", answer="1"), "expected.kind", "mc or value"),
        (expecting("mathvista", kind="value", answer=None), "expected.answer", "a text or a number"),
        (expecting("mathvista", kind="mc", gold="F"), "expected.gold", "a letter from A to E"),
    ],
)
def test_refusal_names_file_item_field_and_what_was_expected(
    change: Item, field: str, expected: str, data: Path
) -> None:
    (data / "images" / "loop.png").symlink_to("loop.png")
    changed = {**GOOD, "id": "two", **change}
    write(data, GOOD, {name: value for name, value in changed.items() if value is not ...})
    with pytest.raises(DataMissing) as refused:
        load()
    said = str(refused.value)
    assert said.startswith(f"{data / 'tasks' / 'mine.json'}, item 1, field {field}: expected ")
    assert expected in said
    assert ", found " in said
    assert len(said) < 1000


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "expected JSON"),
        (100_000 * "[", "expected an object or a list of objects, found lists in lists"),
        ('{"id": "a", "id": "b"}', "item 0, field id: expected it once, found it twice"),
        ('[{"id": "a", "expected": {"n": 2, "n": 3}}]', "item 0, field expected.n: expected it once"),
        ("[1]", "item 0: expected an object"),
        ('"x"', "item 0: expected an object"),
    ],
)
def test_what_is_no_list_of_objects_is_refused(content: str, expected: str, data: Path) -> None:
    (data / "tasks" / "bad.json").write_text(content, "utf-8")
    with pytest.raises(DataMissing, match=re.escape(expected)):
        load()


def test_file_in_another_encoding_is_refused(data: Path) -> None:
    (data / "tasks" / "bad.json").write_bytes(b'{"id": "\xff"}')
    with pytest.raises(DataMissing, match="JSON in UTF-8"):
        load()


def test_mark_at_the_beginning_of_a_file_is_no_part_of_it(data: Path) -> None:
    (data / "tasks" / "mine.json").write_text(json.dumps(GOOD, indent=1), "utf-8-sig", newline="\r\n")
    assert [sample.id for sample in load()] == ["one"]


def test_file_that_cannot_be_read_is_refused_with_its_name(data: Path) -> None:
    (data / "tasks" / "gone.json").symlink_to(data / "nowhere")
    with pytest.raises(DataMissing, match=r"gone\.json cannot be read: No such file"):
        load()
    (data / "tasks" / "gone.json").unlink()
    (data / "tasks" / "folder.json").mkdir()
    with pytest.raises(DataMissing, match=r"folder\.json cannot be read: Is a directory"):
        load()


def test_hidden_files_that_systems_leave_are_no_cases(data: Path) -> None:
    write(data, GOOD)
    (data / "tasks" / "._mine.json").write_bytes(b"\x00\x05\x16\x07\xff")
    assert [sample.id for sample in load()] == ["one"]


def test_fields_of_an_owners_own_are_left_alone(data: Path) -> None:
    write(data, {**GOOD, "difficulty": 3, "expected": {"text": "EXIT", "note": "seen from afar"}})
    assert len(load()) == 1


def test_no_cases_are_missing_data_that_points_to_the_guide(data: Path) -> None:
    with pytest.raises(DataMissing, match=r"docs/custom-cases\.md"):
        load()
    assert data.is_dir()


def test_id_that_another_file_has_is_refused_with_both_places(data: Path) -> None:
    write(data, GOOD, name="a.json")
    write(data, {**GOOD, "id": "two"}, GOOD, name="b.json")
    with pytest.raises(
        DataMissing, match=r"b\.json, item 1, field id: .*'one', which is also that of .*a\.json, item 0"
    ):
        load()


def test_link_out_of_the_image_root_is_refused(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.png"
    Image.new("RGB", (4, 4)).save(outside)
    (data / "images" / "link.png").symlink_to(outside)
    write(data, {**GOOD, "images": ["link.png"]})
    with pytest.raises(DataMissing, match=r"images\[0\]: expected a path that stays below"):
        load()


def saved(kind: str, mode: str = "RGB", size: tuple[int, int] = (64, 48)) -> bytes:
    file = io.BytesIO()
    Image.new(mode, size).save(file, kind)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no picture", "are no image of a known format"),
        (b"", "it holds no bytes"),
        (b"%PDF-1.4", "are no image of a known format"),
        (b"<svg/>", "are no image of a known format"),
        (saved("ICO"), "are no image of a known format"),
        (saved("PNG")[:-20], "corrupt image"),
        (saved("PNG")[:60], "corrupt image"),
        (saved("JPEG")[:-300], "corrupt image"),
        (saved("PNG", "1", (10_000, 10_000)), "decompression bomb"),
    ],
)
def test_file_that_is_no_whole_picture_is_refused(data: Path, content: bytes, reason: str) -> None:
    (data / "images" / "a.png").write_bytes(content)
    write(data, {**GOOD, "images": ["a.png"]})
    with pytest.raises(DataMissing, match=rf"images\[0\]: expected a whole picture \(PNG.*{reason}"):
        load()


@pytest.mark.parametrize(
    ("kind", "mode"), [("JPEG", "CMYK"), ("PNG", "LA"), ("PNG", "I;16"), ("PNG", "P"), ("WEBP", "RGBA"), ("TIFF", "L")]
)
def test_pictures_of_every_kind_are_taken(data: Path, kind: str, mode: str) -> None:
    (data / "images" / "a.png").write_bytes(saved(kind, mode))
    write(data, {**GOOD, "images": ["a.png"]})
    ((image,),) = (sample.images for sample in load())
    assert (image.width, image.height) == (64, 48)


def test_content_hash_is_of_cases_and_image_bytes(data: Path) -> None:
    write(data, GOOD)
    first = content_sha256(load())
    assert content_sha256(load()) == first
    Image.new("RGB", (64, 48), "black").save(data / "images" / "custom" / "a.png")
    assert content_sha256(load()) != first


def target_of(data: Path, scorer: str, prompt: str = "?", **expected: object) -> Sample:
    write(data, {**GOOD, "prompt": prompt, "scorer": scorer, "expected": expected})
    return load()[0]


def test_targets(data: Path) -> None:
    box = target_of(data, "click_in_box", bbox=[100, 200, 300, 400]).target
    assert box == BoxTarget(box=(0.1, 0.2, 0.3, 0.4), image_size=(64, 48))
    options = "Which?\n(A) red\n(B) green\nor blue\n(C) none"
    letter = target_of(data, "choice_letter", options, text="c").target
    assert letter == OptionTarget(letter="C", count=3, options=("red", "green\nor blue", "none"))
    assert target_of(data, "mathvista", kind="value", answer=1.25).target == NumberTarget(value="1.25", precision=2)
    assert target_of(data, "mathvista", kind="value", answer="$1,200").target == NumberTarget(value="1200")
    assert target_of(data, "mathvista", kind="value", answer="north").target == TextTarget(answers=("north",))


def test_thresholds_are_the_cases_own(data: Path) -> None:
    protocol = TRACKS["custom"].protocol(None)
    sample = target_of(data, "bbox_iou", bbox=[100, 100, 200, 200], iou=0.3)
    assert answered(sample, protocol, "[100, 100, 200, 140]").score == 1.0
    strict = target_of(data, "bbox_iou", bbox=[100, 100, 200, 200], iou=0.5)
    assert answered(strict, protocol, "[100, 100, 200, 149]").score == 0.0
    assert answered(strict, protocol, "[100, 100, 200, 150]").score == 1.0
    lenient = target_of(data, "anls", answers=["abcd"], anls=0.2)
    assert answered(lenient, protocol, "axyz").score == 0.25
    assert answered(target_of(data, "anls", answers=["abcd"]), protocol, "axyz").score == 0.0


def test_equal_rules_are_one_object_so_that_a_run_names_them_once(data: Path) -> None:
    write(
        data,
        *({**GOOD, "id": name, **expecting("bbox_iou", bbox=[1, 2, 30, 40], iou=0.7)} for name in "ab"),
    )
    scorers = {TRACKS["custom"].protocol(None).scorer(sample) for sample in load()}
    assert [scorer.name for scorer in scorers] == ["bbox_iou@0.7"]


@pytest.mark.parametrize(
    ("prompt", "count", "options"),
    [
        ("Q\nA. one\nB. two\nDo it.", 2, ("one", "two")),
        ("Q\n(A) one\n(B) two\n(C) three", None, ("one", "two", "three")),
        ("(A) is a point. Which?\n(A) one\n(B) two", 2, ("one", "two")),
        ("Q\nA. one\nB. two", 3, ()),
        ("Q\nB. one\nC. two", None, ()),
        ("no options", None, ()),
    ],
)
def test_options_are_the_lettered_lines_that_close_a_prompt(
    prompt: str, count: int | None, options: tuple[str, ...]
) -> None:
    assert options_in(prompt, count) == options


def test_reading_opens_no_image(data: Path) -> None:
    write(data, {**GOOD, "images": ["custom/none.png"]})
    assert [case.images for case in read_cases(data / "tasks")] == [("custom/none.png",)]
