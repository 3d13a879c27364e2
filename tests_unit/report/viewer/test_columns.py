"""The index of a track: states, equal answers, groups, and a cause for every flip."""

from collections.abc import Callable

import msgspec
import pytest

from bakeoff.records import Record, Sample
from bakeoff.report.causes import CAUSES, cause_of
from bakeoff.report.viewer.columns import ERROR, RIGHT, TRUNCATED, UNPARSED, WRONG, is_disputed, state_of, track_index
from tests_unit.report.synthetic import failed, record

Answered = Callable[..., list[Record]]


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, RIGHT),
        ({"correct": False}, WRONG),
        ({"status": "truncated"}, RIGHT | TRUNCATED),
        ({"correct": False, "answer": None}, WRONG | UNPARSED),
    ],
)
def test_a_state_tells_right_wrong_cut_off_and_unparsed(
    samples: tuple[Sample, ...], changes: dict[str, object], state: int
) -> None:
    assert state_of(msgspec.structs.replace(record(samples[0]), **changes)) == state


def test_an_error_is_neither_right_nor_wrong_and_no_record_is_zero(samples: tuple[Sample, ...]) -> None:
    assert state_of(failed(samples[0])) == ERROR
    assert state_of(None) == 0


def test_arms_part_when_one_that_tried_is_right_and_another_is_not(samples: tuple[Sample, ...]) -> None:
    right, wrong = record(samples[0]), record(samples[0], right=False)
    assert is_disputed([right, wrong])
    assert is_disputed([right, failed(samples[0])])
    assert not is_disputed([right, None])
    assert not is_disputed([wrong, failed(samples[0])])


def test_the_same_letter_stands_for_the_same_answer(samples: tuple[Sample, ...]) -> None:
    one = record(samples[0])
    unread = msgspec.structs.replace(one, answer=None, output="nothing")
    other = msgspec.structs.replace(one, answer=None, output="something")
    rows = {"a": [one, one, unread, other, failed(samples[0]), None]}
    assert [column[0] for column in track_index(rows, [0])["answers"]] == ["0", "0", "1", "2", "-", "-"]


def test_every_flip_has_the_cause_that_the_tables_count(samples: tuple[Sample, ...], answered: Answered) -> None:
    one, two = answered(lambda i: i % 5 == 0), answered(lambda i: i % 7 == 0)
    two[1] = failed(samples[1])
    two[10] = msgspec.structs.replace(two[10], status="truncated")
    rows = {r.sample_id: [r, s] for r, s in zip(one, two, strict=True)}
    index = track_index(rows, [0])
    flips = [(a, b) for a, b in rows.values() if bool(a.correct) != bool(b.correct)]
    assert [list(CAUSES)[int(code, 36)] for code in index["causes"]["0-1"]] == [cause_of(a, b) for a, b in flips]
    assert len(set(index["causes"]["0-1"])) > 1


def test_groups_are_numbers_into_their_values_in_natural_order(samples: tuple[Sample, ...]) -> None:
    rows = {
        name: [record(samples[0], groups={"tiles": value} if value else {})]
        for name, value in (("a", "10"), ("b", "2"), ("c", ""))
    }
    assert track_index(rows, [0])["groups"] == [["tiles", ["2", "10"], [1, 0, -1]]]


def test_columns_are_as_long_as_there_are_samples(answered: Answered) -> None:
    rows = {r.sample_id: [r, None, r] for r in answered(lambda i: i % 3 == 0)}
    index = track_index(rows, [0])
    assert {len(column) for column in (index["ids"], *index["states"], *index["answers"])} == {120}
    assert index["causes"] == {"0-1": "", "0-2": "", "1-2": ""}
