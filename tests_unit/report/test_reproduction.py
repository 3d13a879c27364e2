"""A published number gets a verdict only where it answers the question that was asked here."""

import html
import json
import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from bakeoff.records import Record
from bakeoff.report import build
from bakeoff.report.published import published_table
from bakeoff.tracks import TRACKS, Published
from tests_unit.report.synthetic import FINGERPRINT, TRACK, RunMaker

Answered = Callable[..., list[Record]]

CARD = Published(
    metric="accuracy",
    value=0.9,
    model="Toy-3B",
    protocol="default",
    source="the maker's card",
    date="2026-08-17",
    same_as="default",
)


@pytest.fixture
def publish(samples: object, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let the toy track name a published number."""
    del samples

    def name(**changes: Any) -> None:
        card = msgspec.structs.replace(CARD, **changes)
        monkeypatch.setitem(TRACKS, TRACK, msgspec.structs.replace(TRACKS[TRACK], published=(card,)))

    return name


def cards(maker: RunMaker, records: list[Record], model: str = "mlx:org/Toy-3B-bf16") -> list[dict[str, Any]]:
    run = maker.arm(model, records).write()
    build(run)
    found: list[dict[str, Any]] = json.loads((run.path / "results.json").read_text("utf-8"))["reproductions"]
    return found


@pytest.mark.parametrize(("value", "verdict"), [(0.9, "reproduced"), (0.5, "differs"), (1.0, "differs")])
def test_the_interval_decides_where_the_question_is_the_same(
    maker: RunMaker, answered: Answered, publish: Callable[..., None], value: float, verdict: str
) -> None:
    publish(value=value)
    (card,) = cards(maker, answered(lambda i: i % 10 == 0))
    assert (card["verdict"], card["published"], card["n"], card["reasons"]) == (verdict, value, 120, [])
    assert (card["ci95"][0] <= value <= card["ci95"][1]) is (verdict == "reproduced")
    assert card["source"] == "the maker's card"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"same_as": ""}, "asked by default, published by: default"),
        ({"note": "per expression"}, "per expression"),
    ],
)
def test_another_question_gets_no_verdict_however_close_the_numbers(
    maker: RunMaker, answered: Answered, publish: Callable[..., None], changes: dict[str, Any], reason: str
) -> None:
    publish(**changes)
    (card,) = cards(maker, answered(lambda i: i % 10 == 0))
    assert card["verdict"] == "other protocol"
    assert card["reasons"] == [reason]
    assert card["sentence"] == f"Other protocol: {reason}. No verdict; the interval here contains the published 90.0."


def test_a_part_of_the_samples_gets_no_verdict(
    maker: RunMaker, answered: Answered, publish: Callable[..., None]
) -> None:
    publish()
    (card,) = cards(maker, answered()[:90])
    assert card["verdict"] == "other protocol"
    assert card["reasons"] == ["90 of 120 samples"]


def test_a_number_of_another_model_is_not_shown(
    maker: RunMaker, answered: Answered, publish: Callable[..., None]
) -> None:
    publish()
    assert cards(maker, answered(), "mlx:org/Other-3B") == []


def test_a_model_that_only_carries_the_name_is_another_model(
    maker: RunMaker, answered: Answered, publish: Callable[..., None]
) -> None:
    publish()
    assert cards(maker, answered(), "mlx:org/Better-Toy-3B") == []


def test_sampling_is_told_as_a_difference(maker: RunMaker, answered: Answered, publish: Callable[..., None]) -> None:
    publish()
    run = maker.arm("mlx:org/Toy-3B", answered(), fingerprint={**FINGERPRINT, "sampling.temperature": 0.2}).write()
    (card,) = build(run).reproductions
    assert (card.verdict, card.reasons) == ("other protocol", ("sampled at temperature 0.2",))


def test_a_group_is_laid_beside_the_published_group(
    maker: RunMaker, answered: Answered, publish: Callable[..., None]
) -> None:
    publish(group="family:boxes", metric="micro", value=0.4)
    (card,) = cards(maker, answered(lambda i: i % 3 == 0))
    assert (card["group"], card["n"], card["value"]) == ("family:boxes", 40, 0.0)


def test_one_table_holds_what_is_published_and_what_came_out_of_each_arm_of_that_model(
    maker: RunMaker, answered: Answered, publish: Callable[..., None]
) -> None:
    publish()
    maker.arm("mlx:org/Toy-3B-bf16", answered(lambda i: i % 10 == 0)).arm("other", answered(), backend="gguf")
    heads, rows = published_table(build(maker.write()))
    (told,) = [dict(zip(heads, row, strict=True)) for row in rows]
    assert (told["Published"], told["Model"], told["Arm"]) == ("90.0", "Toy-3B", "mlx:org/Toy-3B-bf16")
    assert re.fullmatch(r"90\.0 \([\d.]+–[\d.]+\), n 120", told["Here"])
    assert told["In words"] == "Reproduced: the interval here contains the published 90.0."
    assert told["Source"] == "the maker's card; 2026-08-17"


def test_a_published_number_that_no_arm_can_be_laid_beside_still_stands_there(
    maker: RunMaker, answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = msgspec.structs.replace(CARD, model="Other-7B", note="another prompt")
    monkeypatch.setitem(TRACKS, TRACK, msgspec.structs.replace(TRACKS[TRACK], published=(CARD, other)))
    heads, rows = published_table(build(maker.arm("mlx:org/Toy-3B-bf16", answered()).write()))
    told = [dict(zip(heads, row, strict=True)) for row in rows]
    assert [(row["Model"], row["Arm"]) for row in told] == [
        ("Toy-3B", "mlx:org/Toy-3B-bf16"),
        ("Other-7B", "none of this model"),
    ]
    assert (told[1]["Here"], told[1]["In words"]) == ("–", "another prompt")


def test_page_and_markdown_have_that_table_once(
    maker: RunMaker, answered: Answered, publish: Callable[..., None]
) -> None:
    publish()
    run = maker.arm("mlx:org/Toy-3B-bf16", answered(lambda i: i % 10 == 0)).write()
    build(run)
    for name in ("report.md", "report.html"):
        text = html.unescape((run.path / name).read_text("utf-8"))
        assert text.count("Published values<" if name.endswith("html") else "### Published values") == 1
        assert text.count("Reproduced: the interval here contains the published 90.0.") == 1
        assert text.count("the maker's card; 2026-08-17") == 1
