"""What preparing shows: bars on a terminal, plain lines elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from bakeoff.prepare.problems import megabytes

WORTH_LINES_BYTES = 10_000_000
"""Less than this is done before a second line could be read."""


class Task:
    """One piece of work of a known size; `note` is the text beside its bar."""

    def advance(self, size: int) -> None:
        """Count `size` more bytes."""

    def note(self, text: str) -> None:
        """Show `text` beside the bar."""


class _Bar(Task):
    def __init__(self, progress: Progress, label: str, total: int) -> None:
        self._progress = progress
        self._id = progress.add_task(label, total=total, note="")

    def advance(self, size: int) -> None:
        self._progress.advance(self._id, size)

    def note(self, text: str) -> None:
        self._progress.update(self._id, note=text)


class _Lines(Task):
    """Says how far it is at every tenth of the work."""

    def __init__(self, console: Console, label: str, total: int) -> None:
        self._console, self._label, self._total = console, label, max(total, 1)
        self._done, self._tenths, self._note = 0, 0, ""

    def advance(self, size: int) -> None:
        self._done += size
        tenths = min(10, 10 * self._done // self._total)
        if tenths > self._tenths and self._total >= WORTH_LINES_BYTES:
            self._tenths = tenths
            note = f", {self._note}" if self._note else ""
            self._console.print(f"{self._label}: {tenths * 10} % of {megabytes(self._total)}{note}", markup=False)

    def note(self, text: str) -> None:
        self._note = text


class Screen:
    """Where preparing speaks."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(soft_wrap=True, highlight=False)

    def say(self, text: str) -> None:
        """Print one line of plain text."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def task(self, label: str, total: int) -> Iterator[Task]:
        """Show work of `total` bytes while the context is open."""
        if not self._console.is_terminal:
            yield _Lines(self._console, label, total)
            return
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )
        with Progress(*columns, console=self._console, transient=True) as progress:
            yield _Bar(progress, label, total)
