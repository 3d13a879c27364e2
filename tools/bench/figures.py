"""What the benchmarks share: a figure with its limit, and a run of a command with its peak of memory."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).parents[2]
_MB = 1_000_000


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One measured value with its limit: kept when at most `limit`, or at least, for what should be large.

    With `is_told_only` it is printed and decides nothing: seconds, say, on a machine that others use too.
    """

    what: str
    value: float
    unit: str
    limit: float
    is_at_least: bool = False
    is_told_only: bool = False

    @property
    def is_kept(self) -> bool:
        """Whether the limit holds."""
        return self.value >= self.limit if self.is_at_least else self.value <= self.limit

    @property
    def line(self) -> str:
        """The figure in words."""
        word = "limit, not held here" if self.is_told_only else "limit"
        bound = "at least" if self.is_at_least else "at most"
        mark = "" if self.is_kept else "  <- missed"
        return f"  {self.what:<58} {self.value:>9.2f} {self.unit:<9} ({word}: {bound} {self.limit:g}){mark}"


def tell(figures: Sequence[Figure], last: str) -> bool:
    """Print the figures and then the one that stands for all; return whether every limit that counts is kept."""
    for figure in figures:
        print(figure.line)
    print(last, flush=True)
    return all(figure.is_kept or figure.is_told_only for figure in figures)


def megabytes(count: float) -> float:
    """Return bytes as megabytes of a million."""
    return count / _MB


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="bakeoff-bench-") as folder:
        yield Path(folder).resolve()


def run_pytest(
    folder: Path, *arguments: str, data: Path | None = None, profile: Path | None = None
) -> dict[str, dict[str, float]]:
    """Run pytest in `folder` under the stopwatch and return its stages; with `profile` write a profile there too.

    Raises:
        RuntimeError: with the output, when pytest did not end with a report.
    """
    watch = folder / "stopwatch.json"
    watch.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(folder)]
    command += ["-p", "no:cacheprovider", "-p", "tools.bench.stopwatch", *arguments]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(ROOT), "BAKEOFF_STOPWATCH": str(watch)}
    if data is not None:
        environment["BAKEOFF_DATA"] = str(data)
    if profile is not None:
        environment["BAKEOFF_PROFILE"] = str(profile)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1} or not watch.is_file():
        raise RuntimeError(
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        )
    stages: dict[str, dict[str, float]] = json.loads(watch.read_text("utf-8"))
    return stages


def run_python(code: str, *arguments: str, data: Path | None = None) -> dict[str, Any]:
    """Run a piece of Python in a process of its own and return the JSON of its last line."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(ROOT)} | ({"BAKEOFF_DATA": str(data)} if data is not None else {})
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
