"""How far an examination is, told at every quarter."""

import pytest

from bakeoff.validity.telling import counted


@pytest.mark.parametrize(
    ("total", "told"), [(0, []), (1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (5, [2, 3, 4, 5]), (8, [2, 4, 6, 8])]
)
def test_no_more_than_four_lines_are_told_and_the_last_is_the_whole(total: int, told: list[int]) -> None:
    lines: list[str] = []
    assert list(counted(range(total), "asked", lines.append)) == list(range(total))
    assert lines == [f"{number} of {total} asked" for number in told]


def test_an_item_is_told_of_when_it_is_done_and_not_before() -> None:
    lines: list[str] = []
    for _ in counted(["only"], "asked", lines.append):
        assert lines == []
    assert lines == ["1 of 1 asked"]
