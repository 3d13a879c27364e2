import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from bakeoff.errors import UsageProblem
from bakeoff.journal import Journal, read_journal, read_progress
from bakeoff.records import Header, Record, to_line
from bakeoff.skips import Skip
from tests_unit.doubles.full_disk import no_file_above

HEADER = Header(run="r", arm="a", fingerprint="f")


def record(name: str, score: float | None = 1.0) -> Record:
    return Record(sample_id=name, track="t", status="error" if score is None else "ok", score=score)


def write(path: Path, *records: Record) -> None:
    with Journal(path, HEADER) as journal:
        for entry in records:
            journal.append(to_line(entry))


def test_the_header_is_on_disk_before_the_first_record(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with Journal(path, HEADER):
        assert read_journal(path).header == HEADER


def test_the_last_record_of_a_sample_wins_and_the_others_stay_in_the_history(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, record("x", None), record("y"), record("x", 0.5))
    content = read_journal(path)
    assert {name: r.score for name, r in content.records.items()} == {"x": 0.5, "y": 1.0}
    assert len(content.history) == 3


@pytest.mark.parametrize("torn", [b'{"type":"rec', b"\xff", b'{"type":"record"}x'])
def test_a_torn_last_line_is_passed_over_and_cut_off_before_appending(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "a.jsonl"
    write(path, record("x"))
    with path.open("ab") as file:
        file.write(torn)
    assert set(read_journal(path).records) == {"x"}
    write(path, record("y"))
    assert set(read_journal(path).records) == {"x", "y"}


def test_a_file_torn_inside_its_header_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"type":"head')
    write(path, record("x"))
    assert set(read_journal(path).records) == {"x"}


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, record("x"))
    with path.open("ab") as file:
        file.write(b"not json\n")
    with pytest.raises(UsageProblem, match=r"a\.jsonl:3 is not readable.*\n.*--resume"):
        read_journal(path)


@pytest.mark.parametrize(
    "other", [Header(run="r", arm="b", fingerprint="f"), Header(run="r", arm="a", fingerprint="g")]
)
def test_a_journal_of_another_arm_or_of_other_inputs_is_refused(tmp_path: Path, other: Header) -> None:
    path = tmp_path / "a.jsonl"
    write(path, record("x"))
    with pytest.raises(UsageProblem, match="other inputs"):
        Journal(path, other)


def test_a_journal_of_a_run_that_was_given_another_name_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, record("x"))
    with Journal(path, Header(run="renamed", arm="a", fingerprint="f")) as journal:
        journal.append(to_line(record("y")))
    assert set(read_journal(path).records) == {"x", "y"}


def test_a_write_that_fails_half_way_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    with Journal(path, HEADER) as journal:
        journal.append(to_line(record("x")))

        class Full:
            def __init__(self, file: object) -> None:
                self.file = file

            def write(self, data: bytes) -> int:
                self.file.write(bytes(data)[:5])  # type: ignore[attr-defined]  # a raw file
                raise OSError(28, "No space left on device")

            def __getattr__(self, name: str) -> object:
                return getattr(self.file, name)

        real = journal._file
        monkeypatch.setattr(journal, "_file", Full(real))
        with pytest.raises(UsageProblem, match="No space left"):
            journal.append(to_line(record("y")))
        monkeypatch.setattr(journal, "_file", real)
        journal.append(to_line(record("z")))
    assert set(read_journal(path).records) == {"x", "z"}


def test_records_survive_kill_9_of_the_writer(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    code = f"""
        from pathlib import Path
        from bakeoff.journal import Journal
        from bakeoff.records import Header, Record, to_line
        journal = Journal(Path({str(path)!r}), Header(run="r", arm="a", fingerprint="f"))
        for number in range(10**9):
            journal.append(to_line(Record(sample_id=str(number), track="t", status="ok", score=1.0)))
            print(number, flush=True)
    """
    writer = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    told = -1
    for line in writer.stdout:
        told = int(line)
        if told >= 200:
            break
    os.kill(writer.pid, signal.SIGKILL)
    writer.stdout.close()
    writer.wait()
    kept = read_journal(path).records
    assert all(str(number) in kept for number in range(told + 1))


def test_lines_are_forced_to_disk_without_a_further_append(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with Journal(tmp_path / "a.jsonl", HEADER) as journal:
        synced.clear()
        journal.append(to_line(record("x")))
        deadline = time.monotonic() + 30
        while not synced and time.monotonic() < deadline:
            time.sleep(0.05)
        assert synced


def test_progress_says_what_a_resumed_run_must_know(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, record("x", None), record("y"), record("x", 0.5), record("z", None))
    progress = read_progress(path)
    assert progress.recorded == {"x", "y", "z"}
    assert progress.answered == {"x", "y"}
    assert progress.errored == {"z": 1}


def test_progress_names_a_broken_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, record("x"))
    with path.open("ab") as file:
        file.write(b"not json\n")
    with pytest.raises(UsageProblem, match=r"a\.jsonl:3 is not readable"):
        read_progress(path)


def test_a_torn_line_longer_than_what_is_read_at_a_time_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, record("x"))
    with path.open("ab") as file:
        file.write(b"x" * 200_000)
    write(path, record("y"))
    assert set(read_journal(path).records) == {"x", "y"}


def test_a_file_that_is_one_long_torn_line_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 200_000)
    write(path, record("x"))
    assert set(read_journal(path).records) == {"x"}


def test_a_skipped_sample_is_done_with_and_has_no_record(tmp_path: Path) -> None:
    path = tmp_path / "arm.jsonl"
    with Journal(path, HEADER) as journal:
        for name in ("x", "y"):
            journal.append(to_line(Skip(sample_id=name, track="t", reason="two images")))
        journal.append(to_line(record("y")))
    content, progress = read_journal(path), read_progress(path)
    assert (set(content.records), set(content.skipped)) == ({"y"}, {"x"})
    assert progress.answered == {"x", "y"}
    assert not progress.errored


def test_a_disk_that_fails_behind_the_scenes_is_told_by_the_next_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path, HEADER)
    failed = threading.Event()

    def fail(_: int) -> None:
        failed.set()
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("bakeoff.journal.os.fsync", fail)
    journal.append(to_line(record("x")))
    assert failed.wait(60)
    journal._syncer.join(60)
    with pytest.raises(UsageProblem, match="Input/output error"):
        journal.append(to_line(record("y")))
    with pytest.raises(UsageProblem, match=r"Input/output error.*\n.*--resume="):
        journal.close()
    assert journal._file.closed


def test_a_journal_whose_header_does_not_fit_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "records" / "a.jsonl"
    path.parent.mkdir()
    with no_file_above(20), pytest.raises(UsageProblem, match="File too large"):
        Journal(path, HEADER)
    assert not path.exists()
