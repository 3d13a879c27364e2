"""A bench of three lines in a folder of its own, run by a real pytest in a process of its own."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bakeoff.journal import JournalContent, read_journal
from bakeoff.records import Record, Sample
from bakeoff.runs import RunDirectory
from bakeoff.tracks import TRACKS, load_samples
from bakeoff.tracks.baselines import oracle_output
from tests_unit.bare import BARE

BENCH = """
TRACK = "calibration"
def test_sample(case): case.check()
"""

PROTOCOL = TRACKS["calibration"].protocols[0]

MODES = {"alone": (), "n2": ("-n2",)}
ALL_MODES = {"no-xdist": ("-p", "no:xdist"), "n0": ("-n0",), "n2": ("-n2",)}
"""What `-n0` and an absent xdist could change is looked at where outcomes are; elsewhere both are as `alone` is."""


def calibration() -> tuple[Sample, ...]:
    return load_samples(TRACKS["calibration"].folder())


class BenchRun:
    """What a pytest run left behind."""

    def __init__(self, result: pytest.RunResult, folder: Path) -> None:
        self.result = result
        self.folder = folder

    @property
    def code(self) -> int:
        return int(self.result.ret)

    @property
    def text(self) -> str:
        return self.result.stdout.str() + self.result.stderr.str()

    @property
    def runs(self) -> list[RunDirectory]:
        return [RunDirectory(path.parent) for path in sorted(self.folder.glob("reports/*/run.json"))]

    @property
    def run(self) -> RunDirectory:
        (run,) = self.runs
        return run

    @property
    def results(self) -> dict[str, Any]:
        return dict(json.loads((self.run.path / "results.json").read_text("utf-8")))

    def journal(self, arm: str | None = None) -> JournalContent:
        (path,) = [self.run.journal_path(arm)] if arm else sorted(self.run.path.glob("records/*.jsonl"))
        return read_journal(path)

    @property
    def records(self) -> Mapping[str, Record]:
        return self.journal().records


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., str]:
    """Write a script for the fake model and return its name for `--model`."""
    return writer(tmp_path)


def writer(folder: Path) -> Callable[..., str]:
    """Return what writes scripts into a folder and returns their names for `--model`."""

    def write(name: str = "scripted", *, wrong: tuple[str, ...] = (), **more: Any) -> str:
        answers = {s.id: "nothing to see" if s.id in wrong else oracle_output(s, PROTOCOL) for s in calibration()}
        path = folder / f"{name}.json"
        path.write_text(json.dumps({"answers": {**answers, **more.pop("answers", {})}, **more}), "utf-8")
        return f"fake:{path}"

    return write


@pytest.fixture
def bench(pytester: pytest.Pytester) -> Callable[..., BenchRun]:
    """Run `pytest` on the three-line bench with the given arguments."""
    pytester.makepyfile(test_calibration=BENCH)
    pytester.makeini("[pytest]\nstrict = true\n")

    def run(*arguments: str) -> BenchRun:
        result = pytester.run(sys.executable, "-m", "pytest", *BARE, *arguments)
        return BenchRun(result, pytester.path)

    return run


@pytest.fixture(params=list(MODES.values()), ids=list(MODES))
def mode(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The two ways to run: in one process and with two workers."""
    return tuple(request.param)
