"""Ids, prompts, golds, groups and draws are those of the reference system, item for item."""

from collections.abc import Callable
from typing import Any

import pytest

from bakeoff.records import BoxTarget, ImagePart, Message, NumberTarget, OptionTarget, Sample, Text, TextTarget
from bakeoff.tracks import TRACKS
from bakeoff.tracks.source import Source
from bakeoff.tracks.track import Protocol
from tests_unit.tracks.reference import NAMES, Item, images, items, mmmu_rows, needs_reference, row, sha256_of

pytestmark = needs_reference


def source(name: str) -> Source:
    found = TRACKS[name].source
    assert found is not None
    return found


def built(name: str, item: Item) -> Sample:
    sample = source(name).build(row(name, item), images(item))
    assert sample is not None
    return sample


def protocol(name: str, protocol_name: str | None = None) -> Protocol:
    return TRACKS[name].protocol(protocol_name)


def said(message: Message) -> str:
    """Return a message's text with images written as the reference system does."""
    numbers = iter(range(1, 10))
    return "".join(part.text if isinstance(part, Text) else f"<image {next(numbers)}>" for part in message.parts)


@pytest.mark.parametrize("name", NAMES)
def test_ids_are_the_reference_systems(name: str) -> None:
    found = [built(name, item).id for item in items(name)]
    assert found == [item["id"] for item in items(name)]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "mmmu"])
def test_prompts_are_the_reference_systems(name: str) -> None:
    asks = protocol(name, "bbox" if name == "screenspot" else None)
    for item in items(name):
        *before, user = asks.render(built(name, item))
        assert [said(message) for message in before] == ([item["system"]] if "system" in item else [])
        shown = [part.image.path for part in user.parts if isinstance(part, ImagePart)]
        assert shown == item["images"]
        assert [type(part) for part in user.parts] == [ImagePart] * len(shown) + [Text]
        assert "".join(part.text for part in user.parts if isinstance(part, Text)) == item["prompt"]


UNNAMED = {"mmmu_val_Agriculture_25", "mmmu_val_Materials_14", "mmmu_val_Pharmacy_3", "mmmu_val_Pharmacy_21"}
OUT_OF_ORDER = {"mmmu_val_Math_18"}  # an image is mentioned again


def test_mmmu_prompts_differ_by_images_in_their_places_only() -> None:
    for item in items("mmmu"):
        (message,) = protocol("mmmu").render(built("mmmu", item))
        shown = [part.image.path for part in message.parts if isinstance(part, ImagePart)]
        assert sorted(shown) == sorted(item["images"])
        if item["id"] not in UNNAMED:
            text = "".join(
                part.text if isinstance(part, Text) else f"<image {item['images'].index(part.image.path) + 1}>"
                for part in message.parts
            )
            assert text == item["prompt"]


def test_mmmu_shows_images_that_the_text_does_not_name_first() -> None:
    for item in items("mmmu"):
        if item["id"] in UNNAMED:
            (message,) = protocol("mmmu").render(built("mmmu", item))
            first = message.parts[0]
            assert isinstance(first, ImagePart)
            assert first.image.path == item["images"][1]


def gold_of(sample: Sample) -> dict[str, Any]:
    match sample.target:
        case BoxTarget(box=box):
            return {"bbox": [round(value * 1000) for value in box]}
        case TextTarget(answers=answers):
            return {"answers": list(answers)}
        case OptionTarget(letter=letter, count=count):
            return {"gold": letter, "n": count}
        case NumberTarget(value=value):
            return {"answer": value}


EXPECTED: dict[str, Callable[[Item], dict[str, Any]]] = {
    "screenspot": lambda item: {"bbox": item["expected"]["bbox"]},
    "refcoco": lambda item: {"bbox": item["expected"]["bbox"]},
    "docvqa": lambda item: {"answers": item["expected"]["answers"]},
    "infographicvqa": lambda item: {"answers": item["expected"]["answers"]},
    "mmmu": lambda item: item["expected"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_golds_are_the_reference_systems(name: str) -> None:
    for item in items(name):
        assert gold_of(built(name, item)) == EXPECTED[name](item)


def test_blink_golds_are_letters_in_either_form() -> None:
    for item in items("blink"):
        assert gold_of(built("blink", item))["gold"] == item["expected"]["text"].strip("()")


def test_mathvista_golds_are_letters_numbers_and_lists() -> None:
    kinds = []
    for item in items("mathvista"):
        sample, expected = built("mathvista", item), item["expected"]
        kinds.append(type(sample.target))
        if expected["kind"] == "mc":
            assert gold_of(sample) == {"gold": expected["gold"], "n": expected["n"]}
        else:
            assert list(gold_of(sample).values()) in ([expected["answer"]], [[expected["answer"]]])
    assert {kind: kinds.count(kind) for kind in kinds} == {OptionTarget: 540, NumberTarget: 458, TextTarget: 2}


GROUPS = {
    "screenspot": {"platform": "platform", "element": "data_type", "source": "data_source"},
    "refcoco": {"split": "subset"},
    "docvqa": {"type": "question_type"},
    "infographicvqa": {"type": "question_type"},
    "blink": {"task": "config"},
    "mathvista": {"question_type": "question_type", "task": "subject", "grade": "level"},
    "mmmu": {"subject": "subject", "question_type": "question_type"},
}


@pytest.mark.parametrize("name", NAMES)
def test_groups_are_the_reference_systems(name: str) -> None:
    for item in items(name):
        groups = built(name, item).groups
        for dimension, key in GROUPS[name].items():
            assert groups[dimension].replace("multiple_choice", "multi_choice") == item["meta"][key]


def drawn(name: str, size: str | int) -> list[str]:
    by_id = {item["id"]: item for item in items(name)}
    rows = mmmu_rows() if name == "mmmu" else [row(name, item) for item in items(name)]
    ids = {(found.split, found.index): known for known, found in ((k, row(name, i)) for k, i in by_id.items())}
    return [ids.get((found.split, found.index), "open") for found in source(name).choose(rows, size)]


@pytest.mark.parametrize(
    ("name", "size", "n", "sha256"),
    [
        ("screenspot", "subset", 48, "c62ad337236286bff18bdc7930622854a0bcf94c0708e92f03ab873dff8f4db0"),
        ("blink", "subset", 224, "353bec450219cecfa435ccefa141e58473d6670cb04d6a28deb7efe2f4e69ceb"),
        ("mathvista", "subset", 300, "9b4524649bb2c992cf77087c8cc3b252d8cfd2bd4b4ba848a37785f27de9a992"),
        ("mmmu", "subset", 281, "dcfeea3f43c9e901755dc1536a5cd784383d03efa00378ea0a7d06a9fb0ba40d"),
    ],
)
def test_draws_are_the_reference_systems(name: str, size: str, n: int, sha256: str) -> None:
    ids = drawn(name, size)
    assert (len(ids), sha256_of(ids)) == (n, sha256)


def test_mmmu_has_open_questions_only_when_asked_for() -> None:
    assert drawn("mmmu", "choice") == [item["id"] for item in items("mmmu")]
    assert len(drawn("mmmu", 847)) == 847
    full = drawn("mmmu", "full")
    assert (len(full), full.count("open")) == (900, 53)


def test_full_keeps_the_order_of_the_dataset() -> None:
    for name in ("screenspot", "blink", "mathvista"):
        assert drawn(name, "full") == [item["id"] for item in items(name)]
