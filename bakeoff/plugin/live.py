"""Progress while a run goes: one line an arm.

On a terminal the line is redrawn in place and stands for pytest's dots. Elsewhere, and where pytest itself writes a
line a test (`-v`), shows the tests' own output (`-s`), or runs in CI, it is a plain line every half minute and at the
end of each arm. `-q` shows pytest's dots alone.

Registered where records arrive: in the controller, or in a session without workers.
"""

import os
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any, Literal

import pytest

from bakeoff.plugin.tally import ArmTally, brief_of
from bakeoff.records import Record
from bakeoff.runs import Selection

PLAIN_EVERY_S = 30.0
REDRAWN_EVERY_S = 0.25
_CLEARED = "\r\x1b[2K"

Mode = Literal["line", "plain", "off"]


class Live:
    """Shows progress by the terminal reporter that pytest has, or not at all where it has none."""

    def __init__(
        self,
        config: pytest.Config,
        stored: Callable[[str], Mapping[str, Record]],
        answered: Mapping[str, frozenset[str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        self._stored = stored
        self._answered = answered
        self._clock = clock
        self.mode = find_mode(config, self._reporter, os.environ)
        self._tallies: dict[str, ArmTally] = {}
        self._told: set[str] = set()
        self._shown_at = clock()
        self._is_open = False
        self._is_silent = False

    def expect(self, selection: Selection) -> None:
        """Take note of what the session selected; what is already recorded of it counts as done."""
        for arm, tracks in selection.items():
            if arm in self._tallies:
                continue  # another worker told the same
            tally = self._tallies[arm] = ArmTally(arm, self._clock())
            ids = {sample for samples in tracks.values() for sample in samples}
            done = self._answered.get(arm, frozenset())
            if self.mode != "off" and done and not ids <= done:
                for sample, record in self._stored(arm).items():
                    if sample in done:
                        tally.take(brief_of(record), None)
            tally.selected = tally.done + len(ids - done)
        if self.mode == "line" and self._tallies:
            self._reporter.showfspath = False  # the line stands where pytest would write file names

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # around pytest's own, which writes in between
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, None, None]:
        """Count the record that came with a report, and show it; the brief is not kept on the report."""
        brief = report.__dict__.pop("bakeoff_brief", None)
        self._is_silent = brief is not None and self.mode == "line"
        if brief is None and (report.when == "call" or not report.passed):
            self._close_line()
        try:
            yield
        finally:
            self._is_silent = False
        if brief is not None and self.mode != "off":
            self._take(report.__dict__["bakeoff_arm"], brief)

    @pytest.hookimpl(wrapper=True)  # around those that know the category
    def pytest_report_teststatus(self, report: Any) -> Generator[None, Any, Any]:
        """Leave the letter of a sample out while the line stands for it."""
        status = yield
        if self._is_silent and getattr(report, "when", None) == "call":
            return status[0], "", ""
        return status

    @pytest.hookimpl(tryfirst=True)  # before the report is built, which takes a moment
    def pytest_sessionfinish(self) -> None:
        """Leave a last line of each arm that was not finished."""
        self._tell_all(lambda tally: tally.has_begun)

    def _take(self, arm: str, brief: Mapping[str, Any]) -> None:
        now = self._clock()
        tally = self._tallies.setdefault(arm, ArmTally(arm, now))
        tally.take(brief, now)
        if self.mode == "plain":
            # The last arm is told at the end of the session, behind pytest's own "[100%]".
            self._tell_all(lambda other: other.arm != arm and other.is_done)
        if self.mode == "line" and tally.is_done:
            self._tell(tally)
        elif now - self._shown_at >= (REDRAWN_EVERY_S if self.mode == "line" else PLAIN_EVERY_S):
            self._shown_at = now
            self._show(tally)

    def _show(self, tally: ArmTally) -> None:
        from bakeoff.report.progress import live_line, plain_line  # noqa: PLC0415 - as above

        if self.mode == "line":
            self._draw(live_line(tally.progress(), self._reporter._tw.fullwidth))  # noqa: SLF001 - as pytest's plugins do
        else:
            begin_line(self._reporter)
            self._reporter.write_line(plain_line(tally.progress()))

    def _tell_all(self, is_meant: Callable[[ArmTally], bool]) -> None:
        for arm, tally in self._tallies.items():
            if arm not in self._told and is_meant(tally):
                self._tell(tally)

    def _tell(self, tally: ArmTally) -> None:
        """Show an arm for the last time."""
        self._told.add(tally.arm)
        if self.mode == "off":
            return
        self._show(tally)
        self._close_line()

    def _draw(self, line: str) -> None:
        if not self._is_open:
            begin_line(self._reporter)
        self._reporter.write_raw(f"{_CLEARED}{line}", flush=True)
        self._is_open = True
        self._reporter.currentfspath = -2  # whoever writes next begins a new line

    def _close_line(self) -> None:
        if self._is_open:
            self._is_open = False
            self._reporter.ensure_newline()


def begin_line(reporter: Any) -> None:
    """End pytest's line if it is in the middle of one, and only then."""
    if reporter.currentfspath:
        reporter.ensure_newline()
    elif reporter._tw.width_of_current_line:  # noqa: SLF001 - `ensure_newline` knows of file names only
        reporter.line("")


def find_mode(config: pytest.Config, reporter: Any, environment: Mapping[str, str]) -> Mode:
    """Return how progress can be shown so that nothing of pytest's own output is disturbed."""
    if reporter is None or reporter.verbosity < 0 or config.option.collectonly:
        return "off"
    is_plain = environment.get("NO_COLOR") or environment.get("CI") or environment.get("TERM", "dumb") == "dumb"
    has_lines_of_its_own = reporter.verbosity > 0 or config.getoption("capture", "no") == "no"
    if is_plain or has_lines_of_its_own or getattr(config.option, "setupshow", None) or not reporter.isatty:
        return "plain"
    return "line"
