"""A published number gets a verdict only where it answers the question that was asked here."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from bakeoff.records import Record
from bakeoff.report import build
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


def test_the_card_stands_in_the_markdown_report(
    maker: RunMaker, answered: Answered, publish: Callable[..., None]
) -> None:
    publish()
    run = maker.arm("mlx:org/Toy-3B-bf16", answered(lambda i: i % 10 == 0)).write()
    build(run)
    text = (run.path / "report.md").read_text("utf-8")
    assert "## Published numbers" in text
    assert "Reproduced: the interval here contains the published 90.0." in text
    assert "the maker's card; 2026-08-17" in text
