"""The append-only journal of one arm: a header line, then records and session marks, one JSON object a line.

Its promises: the header is on disk before the first record; a line that was torn by a kill is cut off before anything
is appended; a record survives `kill -9` of the process at once and loss of power within a second; the last record of
a sample id wins.
"""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.records import Header, Line, Record, Session, from_line, journal_entry, to_line
from bakeoff.skips import Skip

T = TypeVar("T")

SYNC_EVERY_S = 0.5
"""How often written lines are forced to disk; half of what is promised."""

_TAIL = 65_536


class JournalContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a journal says: its header, the last record of every sample in order of first appearance, session marks.

    `history` holds every record in the order written, superseded ones included; `skipped` are the samples without a
    record that the arm is not asked.
    """

    header: Header
    records: dict[str, Record]
    sessions: tuple[Session, ...]
    history: tuple[Record, ...]
    skipped: dict[str, Skip] = {}


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far an arm has come: the samples it is done with, and by sample the attempt of those that ended in an error.

    A sample that the arm is not asked is done with.
    """

    recorded: frozenset[str]
    errored: dict[str, int]

    @property
    def answered(self) -> frozenset[str]:
        """Samples whose last record is not an error: what a resumed run leaves alone."""
        return self.recorded - self.errored.keys()


class _Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What a line says of progress; a line that is no record has no sample."""

    type: str
    sample_id: str = ""
    status: str = ""
    attempt: int = 1


class Journal:
    """A journal open for appending by its single writer. Use as a context manager or call `close`.

    `advice` is what to type when the disk is full; without it, how to go on with the run.

    Raises:
        UsageProblem: when the file exists with another header.
    """

    def __init__(self, path: Path, header: Header, advice: str | None = None) -> None:
        self.path = path
        self._advice = advice or f"Make room, then go on with --resume={path.absolute().parent.parent}"
        self._sync_lock = threading.Lock()
        self._dirty = False
        self._closed = threading.Event()
        self._trouble: OSError | None = None
        self._size = _cut_torn_line(path) if path.exists() else 0
        is_new = self._size == 0
        self._file = path.open("ab", buffering=0)
        if is_new:
            self._begin(header)
        else:
            stored = read_header(path)
            if msgspec.structs.replace(stored, run=header.run) != header:  # a run keeps its journals under a new name
                self._file.close()
                raise UsageProblem(f"{path} belongs to arm {stored.arm!r} of run {stored.run!r} with other inputs")
        self._syncer = threading.Thread(target=self._sync_forever, name=f"sync {path.name}", daemon=True)
        self._syncer.start()

    def append(self, line: str) -> None:
        """Hand one line to the operating system; when this returns, a kill of this process cannot lose it."""
        if self._trouble is not None:
            raise self._problem(self._trouble)
        rest = memoryview(line.encode("ascii") + b"\n")
        whole = self._size + len(rest)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            os.ftruncate(self._file.fileno(), self._size)  # half a line would spoil the next one
            raise self._problem(error) from error
        self._size = whole
        self._dirty = True

    def sync(self) -> None:
        """Force what was appended to the disk."""
        with self._sync_lock:
            if self._dirty and not self._file.closed:
                self._dirty = False
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Force everything to the disk and close the file. Closing twice is fine.

        Raises:
            UsageProblem: when the disk does not take what was written; the file is closed all the same.
        """
        if self._closed.is_set():
            return
        self._closed.set()
        self._syncer.join()
        try:
            self.sync()
        except OSError as error:
            raise self._problem(error) from error
        finally:
            self._file.close()
        if self._trouble is not None:
            raise self._problem(self._trouble)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, header: Header) -> None:
        """Write the header; a journal without one would be in the way of every reader."""
        try:
            self.append(to_line(header))
            self.sync()
            _sync_folder(self.path.parent)
        except BaseException:
            self._file.close()
            self.path.unlink(missing_ok=True)
            raise

    def _problem(self, error: OSError) -> UsageProblem:
        return UsageProblem(f"cannot write to {self.path}: {error}.\n{self._advice}")

    def _sync_forever(self) -> None:
        while not self._closed.wait(SYNC_EVERY_S):
            try:
                self.sync()
            except OSError as error:  # told by the next record: what was written so far may not be on the disk
                self._trouble = error
                return


def read_header(path: Path) -> Header:
    """Read the first line of a journal and no more.

    Raises:
        UsageProblem: when it is not a header.
    """
    _, first = next(stream_journal(path), (0, None))
    if not isinstance(first, Header):
        raise UsageProblem(f"{path} does not begin with a journal header; move it away and run again with --resume")
    return first


def read_journal(path: Path) -> JournalContent:
    """Read a journal; a torn last line is passed over.

    Raises:
        UsageProblem: when the file does not begin with a header or a whole line is not readable.
    """
    header = read_header(path)
    entries = tuple(entry for _, entry in stream_journal(path))
    history = tuple(entry for entry in entries if isinstance(entry, Record))
    records = {record.sample_id: record for record in history}
    skips = (entry for entry in entries if isinstance(entry, Skip))
    return JournalContent(
        header=header,
        records=records,
        sessions=tuple(entry for entry in entries if isinstance(entry, Session)),
        history=history,
        skipped={skip.sample_id: skip for skip in skips if skip.sample_id not in records},
    )


def stream_journal(path: Path) -> Iterator[tuple[int, Line]]:
    """Yield each entry with the byte at which its line begins, one at a time; a torn last line is passed over.

    Raises:
        UsageProblem: when a whole line is not readable.
    """
    return _lines(path, journal_entry)


def read_progress(path: Path) -> Progress:
    """Read which samples a journal holds: what a resumed run must know, in a tenth of the time and memory.

    Raises:
        UsageProblem: as `read_journal`, but values that progress does not hang on are not looked at.
    """
    read_header(path)
    last = {mark.sample_id: mark for _, mark in _lines(path, _read_mark) if mark.type in {"record", "skip"}}
    return Progress(
        recorded=frozenset(last),
        errored={name: mark.attempt for name, mark in last.items() if mark.status == "error"},
    )


def _read_mark(line: str) -> _Mark:
    return from_line(line, _Mark)


def _lines(path: Path, read: Callable[[str], T]) -> Iterator[tuple[int, T]]:
    start = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                yield start, read(line.decode("ascii"))
                start += len(line)
            except ValueError as error:
                raise UsageProblem(
                    f"{path}:{number} is not readable: {error}.\n"
                    "Remove that line to keep the rest; --resume answers its sample again."
                ) from error


def _cut_torn_line(path: Path) -> int:
    """Cut `path` after its last line end and return what remains, in bytes; only the end of the file is read."""
    with path.open("r+b") as file:
        size = whole = file.seek(0, os.SEEK_END)
        while whole > 0:
            start = max(whole - _TAIL, 0)
            file.seek(start)
            found = file.read(whole - start).rfind(b"\n") + 1
            whole = start + found
            if found:
                break
        if whole != size:
            file.truncate(whole)
            os.fsync(file.fileno())
    return whole


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
