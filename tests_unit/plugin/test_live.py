"""Progress while a run goes, on a terminal of its own and into a pipe, by real pytest processes."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bakeoff.plugin.live import Live, find_mode
from bakeoff.plugin.tally import ArmTally, brief_of
from bakeoff.records import Record
from tests_unit.bare import BARE
from tests_unit.plugin.conftest import BENCH, BenchRun, calibration

Bench = Callable[..., BenchRun]
Script = Callable[..., str]
Terminal = Callable[..., list[str]]

PLAIN = re.compile(r"^bakeoff: \S+ \d+/\d+ .*errors=\d+ cut=\d+ unparsed=\d+$", re.MULTILINE)
UNSET = ("CI", "NO_COLOR", "COLUMNS", "PYTEST_ADDOPTS")


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """Run pytest on a pseudo-terminal; return what each line of it showed in the end."""
    (tmp_path / "test_calibration.py").write_text(BENCH, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nstrict = true\n", "utf-8")

    def run(*arguments: str, columns: int = 100, **environment: str) -> list[str]:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        known = {name: value for name, value in os.environ.items() if name not in UNSET}
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *BARE, "--parity", "off", *arguments],
            cwd=tmp_path,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**known, "TERM": "xterm", **environment},
        )
        os.close(theirs)
        written = b""
        while piece := _read(ours):
            written += piece
        os.close(ours)
        assert process.wait() in {0, 1}, written.decode()
        return _shown(written.decode())

    return run


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # how Linux says that the other side is closed
        return b""


def _shown(text: str) -> list[str]:
    """Return the lines as they stand at the end: a carriage return with a clearing begins a line anew."""
    lines = []
    for line in text.split("\r\n"):
        last = line.rpartition("\r")[2]
        lines.append(re.sub("\x1b\\[[0-9;]*[A-Za-z]", "", last).replace("\u202f", " "))
    return lines


def _ends(text: str) -> list[str]:
    """Return the last line of each finished arm; a slow machine has some before."""
    return [line for line in PLAIN.findall(text) if "so far" not in line]


@pytest.mark.parametrize("mode", [("-p", "no:xdist"), ("-n2",)], ids=["alone", "n2"])
def test_a_terminal_ends_with_one_line_an_arm_and_no_dots(
    terminal: Terminal, script: Script, mode: tuple[str, ...]
) -> None:
    script("good")
    script("bad", wrong=tuple(sample.id for sample in calibration()))
    lines = terminal("--model", "fake:good.json,fake:bad.json", "--limit", "40", *mode)
    (good,) = [line for line in lines if line.startswith("fake-good.json  calibration  40/40  ")]
    (bad,) = [line for line in lines if line.startswith("fake-bad.json  calibration  40/40  ")]
    assert "  mean 100 (" in good
    assert "  mean 0 (0–" in bad
    assert all(len(line) < 100 for line in (good, bad))
    assert not any(re.search(r"\.{5}|w{5}|\[100%\]", line) for line in lines)
    assert any("40 passed, 40 wrong" in line for line in lines)


def test_failed_samples_are_counted_in_the_line_and_told_at_the_end(terminal: Terminal, script: Script) -> None:
    script("broken", fail=[sample.id for sample in calibration()][::2])
    lines = terminal("--model", "fake:broken.json", "--limit", "12", columns=60)
    (live,) = [line for line in lines if re.match(r"fake-broken.json  (calibration  )?12/12  ", line)]
    assert re.search(r"errors [1-9]", live)
    assert len(live) < 60
    assert any(line.startswith("FAILED test_calibration.py::test_sample[") for line in lines)


def test_a_line_a_test_leaves_room_for_plain_lines_alone(terminal: Terminal) -> None:
    lines = terminal("--model", "fake:oracle", "--limit", "6", "-v")
    assert len(_ends("\n".join(lines))) == 1
    assert sum("PASSED" in line for line in lines) == 6
    assert not any(line.startswith("fake-oracle  calibration") for line in lines)


def test_a_pipe_gets_plain_lines_and_no_escapes(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    run = bench("--model", f"{script('one')},{script('two')}", "--limit", "40", "--parity", "off", *mode)
    assert run.code == 0
    assert "\x1b" not in run.text
    found = _ends(run.text)
    assert sorted(line.split()[1][-8:] for line in found) == ["one.json", "two.json"]
    assert all(" 40/40 calibration mean=100.0 ci=" in line for line in found)


def test_a_resumed_run_counts_what_is_recorded(bench: Bench, script: Script) -> None:
    drawn = "--limit", "40", "--parity", "off"
    model = script("torn", fail=[sample.id for sample in calibration() if sample.id.endswith("3")])
    first = bench("--model", model, *drawn, "-x", "--run-dir", "reports/r", "--tb=no")
    second = bench("--resume=reports/r", *drawn, "--tb=no")
    begun, (ended,) = PLAIN.findall(first.text)[-1], _ends(second.text)
    done = int(begun.split()[2].partition("/")[0])
    assert 0 < done < 40
    assert ended.split()[2] == "40/40"
    assert int(re.findall(r" n=(\d+)", ended)[0]) + int(re.findall(r"errors=(\d+)", ended)[0]) == 40


def _mode(verbosity: int = 0, environment: dict[str, str] | None = None, **option: Any) -> str:
    reporter = SimpleNamespace(verbosity=verbosity, isatty=option.pop("isatty", True))
    options = {"collectonly": False, "capture": "fd", "setupshow": False, **option}
    config: Any = SimpleNamespace(option=SimpleNamespace(**options), getoption=lambda name, _=None: options[name])
    return find_mode(config, reporter, {"TERM": "xterm", **(environment or {})})


def test_a_line_is_redrawn_only_where_nothing_of_pytest_is_disturbed() -> None:
    assert _mode() == "line"
    assert _mode(isatty=False) == "plain"
    assert _mode(verbosity=1) == "plain"
    assert _mode(capture="no") == "plain"
    assert _mode(setupshow=True) == "plain"
    assert _mode(verbosity=-1) == "off"
    assert _mode(collectonly=True) == "off"


@pytest.mark.parametrize("environment", [{"CI": "1"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_the_environment_can_ask_for_plain_lines(environment: dict[str, str]) -> None:
    assert _mode(environment=environment) == "plain"


def test_without_a_terminal_plugin_nothing_is_shown(pytestconfig: pytest.Config) -> None:
    assert find_mode(pytestconfig, None, {}) == "off"


class Watched:
    """A reporter that keeps what is written, in place of pytest's."""

    verbosity = 0
    isatty = False
    currentfspath = None

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._tw = type("Writer", (), {"width_of_current_line": 0, "fullwidth": 80})()

    def write_line(self, line: str) -> None:
        self.lines.append(line)

    def ensure_newline(self) -> None:
        """Nothing is open here."""


def test_plain_lines_come_every_half_minute_and_not_more(pytestconfig: pytest.Config) -> None:
    now = 0.0
    live = Live(pytestconfig, lambda _: {}, {}, clock=lambda: now)
    reporter = Watched()
    live._reporter, live.mode = reporter, "plain"
    live.expect({"arm": {"calibration": [str(place) for place in range(100)]}})
    record = Record(sample_id="x", track="calibration", status="ok", score=1.0, correct=True, answer="a")
    for place in range(99):
        now = float(place)
        live._take("arm", {**brief_of(record), "cluster": str(place)})
    assert [line.split()[2] for line in reporter.lines] == ["31/100", "61/100", "91/100"]
    assert "rate=60/min left=0:39" in reporter.lines[1]


def test_the_rate_leaves_out_the_time_before_the_first_answer() -> None:
    tally = ArmTally("arm", now=0.0)
    record = Record(sample_id="x", track="t", status="ok", score=1.0, answer="a")
    for place in range(11):
        tally.take(brief_of(record), 600.0 + 2 * place)
    assert tally.progress().per_s == pytest.approx(0.5)
    assert tally.progress().took_s == 20.0
