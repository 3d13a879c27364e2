"""Whether images were read once, counted from records."""

from typing import Any

import pytest

from bakeoff.records import Record
from bakeoff.validity.reuse import FEW, Reuse, check_reuse, count_reuse, told

ASKED = {"image_reuse": True}


def records(cached: list[int | None], image: str = "a", **changes: Any) -> list[Record]:
    """One record for each count of cached tokens, all on one image of 64 tokens."""
    fields: dict[str, Any] = {"track": "t", "status": "ok", "image_sha256": (image,), "image_tokens": 64, **changes}
    return [Record(sample_id=f"{image}{n}", cached_tokens=found, **fields) for n, found in enumerate(cached)]


def test_reuse_that_never_reached_an_image_is_found_and_concerns_no_score() -> None:
    found = check_reuse("arm", ASKED, records([0, 14, 14, 14, 14, 63]))
    assert found is not None
    assert (found.kind, found.arms, found.serious) == ("image reuse", ("arm",), False)
    assert "read it again for every one of 5 later questions" in found.sentence


def test_one_question_that_was_answered_from_a_state_is_enough_to_say_nothing() -> None:
    assert check_reuse("arm", ASKED, records([0, 0, 0, 0, 0, 64])) is None


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"image_reuse": False}, records([0] * 9)),
        ({}, records([0] * 9)),
        (ASKED, records([None] * 9)),
        (ASKED, records([0] * FEW)),
        (ASKED, [record for image in "abcdefghi" for record in records([0], image)]),
        (ASKED, records([0] * 9, image_sha256=())),
        (ASKED, records([0] * 9, image_tokens=None)),
        (ASKED, records([0] * 9, status="error")),
    ],
    ids=["off", "not told", "not counted", "few", "one question each", "no image", "no image tokens", "errors"],
)
def test_nothing_is_said_where_nothing_can_be_known(settings: dict[str, bool], found: list[Record]) -> None:
    assert check_reuse("arm", settings, found) is None


def test_questions_are_counted_by_image_and_track() -> None:
    found = count_reuse("arm", [*records([0, 64, 70]), *records([0, 0], "b"), *records([0, 64], track="u")])
    assert (found.later, found.reused) == (4, 3)
    assert found.sentence == "arm needed one reading of an image for 3 of 4 later questions on it"


def test_several_arms_are_told_in_one_sentence() -> None:
    one, two = Reuse(arm="one", later=12, reused=11), Reuse(arm="two", later=12, reused=12)
    assert told([one]) == one.sentence
    assert told([one, two]).endswith("needed no second reading of it: one for 11 of 12, two for 12 of 12")
    nothing = Reuse(arm="three", later=9, reused=0)
    assert "three for 0 of 9" in told([one, nothing])
