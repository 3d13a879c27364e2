"""speed.json: every round is kept, a pass measured again replaces the old one, figures follow from the file."""

from pathlib import Path

import pytest

from bakeoff.errors import UsageProblem
from bakeoff.runs import RunDirectory
from bakeoff.speed.store import Pass, Speed, read_speed, write_speed


def one(arm: str, number: int, *values: float) -> Pass:
    return Pass(arm=arm, setting="text", number=number, values={"total_s": values})


def test_a_run_that_timed_nothing_has_no_speed(tmp_path: Path) -> None:
    assert read_speed(RunDirectory(tmp_path)) is None


def test_what_is_written_is_read(tmp_path: Path) -> None:
    speed = Speed().with_pass(one("a", 0, 1.0)).with_pass(one("b", 0, 2.0))
    write_speed(RunDirectory(tmp_path), speed)
    assert read_speed(RunDirectory(tmp_path)) == speed


def test_passes_of_an_arm_are_joined_and_a_repeated_one_replaces_the_old() -> None:
    speed = Speed().with_pass(one("a", 0, 9.0)).with_pass(one("a", 1, 3.0)).with_pass(one("a", 0, 1.0, 2.0))
    found = speed.figures()["a"]["text"]["total_s"]
    assert (found.median, found.rounds, found.passes) == (2.0, 3, (1.5, 3.0))


def test_a_pass_that_failed_has_no_figure() -> None:
    failed = Pass(arm="a", setting="text", number=0, error="BackendError: no")
    assert Speed().with_pass(failed).figures() == {"a": {"text": {}}}


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "speed.json").write_text("{", "ascii")
    with pytest.raises(UsageProblem, match=r"speed\.json is not readable"):
        read_speed(RunDirectory(tmp_path))
