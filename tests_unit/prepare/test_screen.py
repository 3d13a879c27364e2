"""Plain lines away from a terminal, bars on one."""

import io

import pytest
from rich.console import Console

from bakeoff.prepare import Screen


def screen(*, terminal: bool) -> tuple[Screen, io.StringIO]:
    file = io.StringIO()
    return Screen(Console(file=file, force_terminal=terminal, width=120)), file


def test_away_from_a_terminal_every_tenth_is_a_line() -> None:
    plain, file = screen(terminal=False)
    with plain.task("docvqa: images", 100_000_000) as task:
        task.note("3 rows")
        for _ in range(100):
            task.advance(1_000_000)
    lines = file.getvalue().splitlines()
    assert lines[0] == "docvqa: images: 10 % of 100.0 MB, 3 rows"
    assert len(lines) == 10
    assert "\x1b" not in file.getvalue()


@pytest.mark.parametrize("total", [0, 9_999_999])
def test_small_work_is_no_line(total: int) -> None:
    plain, file = screen(terminal=False)
    with plain.task("rows", total) as task:
        task.advance(total)
    assert file.getvalue() == ""


def test_on_a_terminal_there_is_a_bar_with_bytes_and_rows() -> None:
    bars, file = screen(terminal=True)
    with bars.task("docvqa: images", 20_000_000) as task:
        task.advance(10_000_000)
        task.note("41 rows")
        bars.say("a note [not markup]")
    shown = file.getvalue()
    assert "10.0/20.0 MB" in shown
    assert "41 rows" in shown
    assert "a note [not markup]" in shown
