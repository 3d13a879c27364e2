"""What a worker tells of a sample: a finished line, a word for its outcome, and a few counts, on pytest's report."""

from typing import Any

import pytest

from bakeoff.plugin.tally import brief_of, brief_of_skip
from bakeoff.records import Record, to_line
from bakeoff.skips import Skip


def properties_of(found: Record | Skip) -> list[tuple[str, Any]]:
    """Return what JUnit and other readers of pytest's reports are told of a sample."""
    if isinstance(found, Skip):
        return [("track", found.track), ("status", "skipped")]
    return [("track", found.track), ("score", found.score), ("answer", found.answer), ("status", found.status)]


def attach(report: pytest.TestReport, arm: str, found: Record | Skip) -> None:
    """Put what became of a sample on its report, in types that cross from a worker to the controller."""
    brief = brief_of_skip(found) if isinstance(found, Skip) else brief_of(found)
    vars(report).update(
        bakeoff_arm=arm, bakeoff_line=to_line(found), bakeoff_outcome=outcome_of(found), bakeoff_brief=brief
    )


def outcome_of(found: Record | Skip) -> str:
    """Return the word shown for a sample: correct, wrong, truncated, error or skipped."""
    if isinstance(found, Skip):
        return "skipped"
    if found.status != "ok":
        return found.status
    return "correct" if found.correct else "wrong"
