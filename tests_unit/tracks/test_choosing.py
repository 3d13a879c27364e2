"""Which rows are taken: the reference system's shuffles to the index, equal shares, and refusals."""

import pytest

from bakeoff.errors import UsageProblem
from bakeoff.tracks import TRACKS
from bakeoff.tracks.choosing import equal_shares, prefix_of_shuffle
from bakeoff.tracks.source import Row


def rows(n: int, split: str = "s") -> list[Row]:
    return [Row(split=split, index=index, values={}) for index in range(n)]


@pytest.mark.parametrize(
    ("n", "first"),
    [
        (5349, [1088, 2949, 2287, 1778, 2874, 1740, 3510, 5133, 695, 2268]),
        (2801, [1880, 319, 2670, 1570, 1088, 2055, 334, 838, 1369, 274]),
        (1000, [776, 507, 895, 922, 33, 483, 85, 750, 354, 523]),
        (900, [92, 877, 443, 474, 589, 873, 251, 550, 311, 490]),
    ],
)
def test_shuffle_is_the_reference_systems(n: int, first: list[int]) -> None:
    found = prefix_of_shuffle(500)(rows(n), "subset")
    assert [row.index for row in found[:10]] == first
    assert len(found) == 500


def test_sizes_of_a_shuffle_are_prefixes_of_each_other() -> None:
    choose = prefix_of_shuffle(50)
    assert choose(rows(99), 20) == choose(rows(99), "subset")[:20]
    assert choose(rows(99), "full") == rows(99)
    assert len(choose(rows(9), "subset")) == 9


def test_blink_draws_are_the_reference_systems() -> None:
    source = TRACKS["blink"].source
    assert source is not None
    every = [row for split in source.splits for row in rows(split.rows, split.label)]
    chosen: dict[str, list[int]] = {}
    for row in source.choose(every, "subset"):
        chosen.setdefault(row.split, []).append(row.index)
    assert chosen["Art_Style"] == [68, 111, 82, 50, 41, 16, 84, 88, 105, 62, 30, 73, 9, 93, 47, 76]
    assert chosen["Counting"] == [45, 93, 9, 42, 79, 106, 103, 100, 40, 24, 66, 29, 109, 61, 89, 26]
    assert chosen["Visual_Similarity"] == [68, 70, 106, 51, 41, 25, 1, 45, 80, 131, 6, 0, 88, 107, 40, 7]


def test_refcoco_takes_64_of_each_split() -> None:
    source = TRACKS["refcoco"].source
    assert source is not None
    every = [row for split in source.splits for row in rows(split.rows, split.label)]
    chosen = [row.split for row in source.choose(every, source.default)]
    assert {split: chosen.count(split) for split in chosen} == {split.label: 64 for split in source.splits}
    assert len(every) == 32770


def test_groups_give_equal_shares_and_what_they_have() -> None:
    choose = equal_shares(lambda row: row.split, subset=6, order=("a", "b", "c"))
    every = [*rows(9, "a"), *rows(1, "b"), *rows(9, "c")]
    assert [row.split for row in choose(every, 7)] == [*"aaa", "b", *"ccc"]
    assert [row.split for row in choose(every, 8)] == [*"aaaa", "b", *"ccc"]
    assert len(choose(every, 99)) == 19
    assert choose(every, "full") == every
    small = {(row.split, row.index) for row in choose(every, "subset")}
    assert small <= {(row.split, row.index) for row in choose(every, 9)}


@pytest.mark.parametrize("size", [0, -1, "half", True])
@pytest.mark.parametrize("name", ["docvqa", "blink", "mmmu"])
def test_other_sizes_are_refused(name: str, size: str | int) -> None:
    source = TRACKS[name].source
    assert source is not None
    with pytest.raises(UsageProblem, match="there is no size"):
        source.choose([], size)


def test_every_track_declares_what_a_report_needs() -> None:
    for track in TRACKS.values():
        assert track.citation
        assert track.dataset
        assert track.revision
        assert track.licence
        assert track.official_metric
        assert len({protocol.name for protocol in track.protocols}) == len(track.protocols)
        if track.source is not None:
            assert track.full == sum(split.rows for split in track.source.splits)
            assert track.constants
            for one in track.published:
                assert 0.0 < one.value < 1.0
                assert one.source
                assert one.date
