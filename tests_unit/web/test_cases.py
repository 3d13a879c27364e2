"""Custom cases through the app: the same checks and the same files as by hand."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow

from bakeoff.paths import data_dir
from bakeoff.scorers import SCORERS
from bakeoff.tracks import TRACKS, samples_of
from bakeoff.web import cases
from bakeoff.web.problems import Refusal

CASE: dict[str, Any] = {
    "id": "a",
    "category": "c",
    "prompt": "What?",
    "scorer": "contains",
    "expected": {"text": "yes"},
}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path))
    return tmp_path


def encoded(kind: str = "PNG", size: tuple[int, int] = (8, 4)) -> str:
    file = io.BytesIO()
    Pillow.new("RGB", size, (1, 2, 3)).save(file, kind)
    return base64.b64encode(file.getvalue()).decode()


def saved(**fields: Any) -> dict[str, Any]:
    return cases.save(cases.SaveCase(case={**CASE, **fields}))


def test_a_saved_case_is_a_sample_of_the_custom_track() -> None:
    image = cases.store_image(cases.NewImage(name="My sign.png", data=encoded()))
    assert (image["width"], image["height"]) == (8, 4)
    saved(images=[image["path"]], meta={"mine": 1})
    (sample,) = samples_of(TRACKS["custom"])
    assert (sample.id, sample.images[0].width) == ("a", 8)
    (found,) = cases.listed()["cases"]
    assert found == {"file": "cases.json", "case": {**CASE, "images": [image["path"]], "meta": {"mine": 1}}}


def test_an_id_is_taken_once_and_a_case_can_be_replaced_and_deleted() -> None:
    saved()
    saved(id="b")
    with pytest.raises(Refusal, match=r"taken by a case of cases\.json"):
        saved()
    with pytest.raises(Refusal, match=r"taken by a case of cases\.json"):
        cases.save(cases.SaveCase(case=CASE, file="other.json"))
    cases.save(cases.SaveCase(case={**CASE, "prompt": "New?"}, replaces="a"))
    assert [c["case"]["prompt"] for c in cases.listed()["cases"]] == ["New?", "What?"]
    cases.save(cases.SaveCase(case={**CASE, "id": "z"}, replaces="a"))
    assert [c["case"]["id"] for c in cases.listed()["cases"]] == ["z", "b"]
    cases.delete(cases.DeleteCase(id="z", file="cases.json"))
    cases.delete(cases.DeleteCase(id="b", file="cases.json"))
    assert not list((data_dir() / "tasks").glob("*.json"))
    with pytest.raises(Refusal, match="has no case"):
        cases.delete(cases.DeleteCase(id="b", file="cases.json"))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"id": "a b"}, "id"), ({"prompt": " "}, "prompt"), ({"scorer": "x"}, "scorer"),
        ({"expected": {}}, "expected.text"),
        ({"images": ["../x.png"]}, "images[0]"), ({"images": ["none.png"]}, "images[0]"),
        ({"images": ["a" * 400]}, "images[0]"),
        ({"scorer": "bbox_iou", "expected": {"bbox": [0, 0, 1]}}, "expected.bbox"), ({"max_tokens": 0}, "max_tokens"),
    ],
)  # fmt: skip
def test_a_mistake_names_its_field_and_not_a_file_of_ours(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(Refusal) as refused:
        saved(**fields)
    assert refused.value.code == field
    assert "bakeoff-case-" not in refused.value.message
    assert cases.listed()["cases"] == []


def test_a_file_that_cannot_be_read_is_left_alone_and_told_of() -> None:
    folder = data_dir() / "tasks"
    folder.mkdir()
    (folder / "cases.json").write_text("[{", "utf-8")
    with pytest.raises(Refusal, match="cannot be read and is left alone"):
        saved()
    assert (folder / "cases.json").read_text("utf-8") == "[{"
    assert cases.listed()["problems"][0]["file"] == "cases.json"


@pytest.mark.parametrize("name", ["../x.json", "/etc/x.json", ".x.json", "x", "a/b.json", "x.json\n"])
def test_a_case_goes_into_the_folder_of_cases_alone(name: str) -> None:
    with pytest.raises(Refusal, match="field file"):
        cases.save(cases.SaveCase(case=CASE, file=name))


@pytest.mark.parametrize(
    "data",
    ["!", base64.b64encode(b"<svg/>").decode(), encoded()[:40], base64.b64encode(b"\x89PNG\r\n\x1a\nxx").decode()],
)
def test_what_is_no_picture_is_refused(data: str) -> None:
    with pytest.raises(Refusal):
        cases.store_image(cases.NewImage(name="x.png", data=data))
    assert not (data_dir() / "images").exists()


def test_a_picture_that_exif_turns_has_the_size_that_is_shown() -> None:
    exif, file = Pillow.Exif(), io.BytesIO()
    exif[0x0112] = 6
    Pillow.new("RGB", (40, 20)).save(file, "JPEG", exif=exif)
    stored = cases.store_image(cases.NewImage(name="x.jpg", data=base64.b64encode(file.getvalue()).decode()))
    assert (stored["width"], stored["height"]) == (20, 40)


@pytest.mark.parametrize("name", ["../../evil.png", "C:\\x\\evil.png", "..", "", "\u202eevil<script>.png"])
def test_a_pictures_name_leads_nowhere(name: str) -> None:
    path = cases.store_image(cases.NewImage(name=name, data=encoded("JPEG")))["path"]
    assert Path(path).parent == Path("custom")
    assert path.endswith(".jpg")
    assert cases.read_image(path)[1] == "image/jpeg"


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "a\0b", "a" * 400, "", "custom/none.png"])
def test_only_pictures_below_the_image_root_are_read(path: str) -> None:
    (data_dir() / "secret").write_text("x", "utf-8")
    with pytest.raises(Refusal, match="there is no picture"):
        cases.read_image(path)


def test_an_output_is_scored_by_the_cases_own_rule() -> None:
    assert cases.try_output(CASE, "Yes, it is.") == {
        "score": 1.0,
        "correct": True,
        "answer": "Yes, it is.",
        "scorer": f"contains, version {_version()}",
        "metrics": {},
    }
    assert cases.try_output(CASE, "no")["correct"] is False


def _version() -> str:
    return SCORERS["contains"].version


def test_the_file_is_as_by_hand() -> None:
    saved(prompt="Größe?")
    text = (data_dir() / "tasks" / "cases.json").read_text("utf-8")
    assert json.loads(text) == [{**CASE, "prompt": "Größe?"}]
    assert "Größe" in text
