"""Time at work is summed over sessions; the night between them is not in it."""

from pathlib import Path

import pytest

from bakeoff.records import Record, Session, to_line
from bakeoff.report.timing import measure
from bakeoff.runs import RunDirectory


def _at(hour: int, minute: int, second: float = 0.0) -> str:
    return f"2026-11-30T{hour:02}:{minute:02}:{second:06.3f}+00:00"


def _record(
    name: str, at: str, *, total_s: float | None = 1.0, status: str = "ok", memory: int | None = None
) -> Record:
    return Record(
        sample_id=name,
        track="t",
        status="error" if status == "error" else "ok",
        score=None if status == "error" else 1.0,
        total_s=total_s,
        started_at=at,
        completion_tokens=11,
        decode_s=0.5,
        ttft_s=0.2,
        peak_memory_bytes=memory,
    )


def _journal(folder: Path, *lines: Record | Session) -> RunDirectory:
    run = RunDirectory(folder)
    with run.open_journal("arm", {}) as journal:
        for line in lines:
            journal.append(to_line(line))
    return run


def _measure(folder: Path, *lines: Record | Session) -> tuple[float | None, float | None, float | None]:
    from bakeoff.journal import read_journal  # noqa: PLC0415 -- beside its use

    content = read_journal(_journal(folder, *lines).journal_path("arm"))
    found = measure(content, (record for record in content.records.values() if record.status != "error"))
    return found.wall_s, found.samples_per_s, found.load_s


def test_sessions_are_summed_without_the_night_between(tmp_path: Path) -> None:
    wall_s, per_s, load_s = _measure(
        tmp_path,
        Session(event="start", at=_at(9, 0), loaded_s=3.0),
        _record("a", _at(9, 0, 1)),
        _record("b", _at(9, 0, 3)),
        Session(event="end", at=_at(9, 0, 5)),
        Session(event="start", at=_at(18, 0), loaded_s=5.0),
        _record("c", _at(18, 0, 10), total_s=2.0),
    )
    assert wall_s == pytest.approx(3.0 + 2.0)
    assert per_s == pytest.approx(3 / 5.0)
    assert load_s == pytest.approx(8.0)


def test_a_superseded_error_took_time_and_is_no_answer(tmp_path: Path) -> None:
    wall_s, per_s, _ = _measure(
        tmp_path,
        Session(event="start", at=_at(9, 0)),
        _record("a", _at(9, 0, 0), status="error", total_s=4.0),
        _record("b", _at(9, 0, 4)),
        Session(event="start", at=_at(10, 0)),
        _record("a", _at(10, 0, 0)),
    )
    assert wall_s == pytest.approx(5.0 + 1.0)
    assert per_s == pytest.approx(2 / 6.0)


def test_records_in_flight_together_count_once(tmp_path: Path) -> None:
    wall_s, _, _ = _measure(
        tmp_path,
        Session(event="start", at=_at(9, 0)),
        _record("a", _at(9, 0, 0), total_s=10.0),
        _record("b", _at(9, 0, 1), total_s=2.0),
    )
    assert wall_s == pytest.approx(10.0)


def test_a_journal_without_session_marks_is_one_session(tmp_path: Path) -> None:
    wall_s, _, load_s = _measure(tmp_path, _record("a", _at(9, 0)), _record("b", _at(9, 1)))
    assert wall_s == pytest.approx(61.0)
    assert load_s is None


def test_unknown_times_are_absent_not_zero(tmp_path: Path) -> None:
    assert _measure(tmp_path, _record("a", "", total_s=None)) == (None, None, None)
    assert measure(None, ()).wall_s is None
