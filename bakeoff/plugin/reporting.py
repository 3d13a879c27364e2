"""What people see of a run: outcomes while it goes, gates, files and the table at its end.

Registered where the run directory is owned: in the controller, or in a session without workers.
"""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bakeoff.errors import UsageProblem
from bakeoff.files import disk_trouble_told
from bakeoff.plugin.junit import add_gate_cases
from bakeoff.plugin.options import Options
from bakeoff.plugin.recorder import Recorder
from bakeoff.tracks import TRACKS
from bakeoff.validity.baseline import read_baseline
from bakeoff.validity.gates import check_gates, write_gates
from bakeoff.validity.reference import reference_agreements
from bakeoff.validity.results import GateResult
from bakeoff.validity.rules import rule_warnings
from bakeoff.wording import some

if TYPE_CHECKING:
    from bakeoff.report import Results


class Reporting:
    """Takes finished records in, and gives gates, reports and the exit code out.

    Raises:
        UsageProblem: when the baseline is not a run, which is better known before the first sample than after the last.
    """

    def __init__(self, options: Options, recorder: Recorder, warning: str | None = None) -> None:
        self.resumed = 0
        self.unprepared: list[str] = []
        self._options = options
        self._recorder = recorder
        self._results: Results | None = None
        self._gates: tuple[GateResult, ...] = ()
        self._problem: str | None = None
        self._warnings = rule_warnings(options.gates, options.margin_pp)
        self._warnings += (warning,) if warning else ()
        if options.gates.baseline is not None:
            arms = read_baseline(options.gates.baseline).arms
            lost = [spec.arm for spec in recorder.plan.arms if spec.arm not in arms and len(arms) > 1]
            self._warnings += tuple(f"--baseline has no arm {arm}: --max-drop cannot be held for it" for arm in lost)

    @property
    def page(self) -> Path:
        """Where the report lies."""
        return self._recorder.run.path / "report.html"

    @property
    def summary(self) -> str:
        """Badge, reasons and the final table as plain text; empty until the report is built."""
        if self._results is None:
            return ""
        from bakeoff.report import terminal_table  # noqa: PLC0415 - loaded when the report was built

        validity = self._results.validity
        found = f"{self._results.run}: {self._results.state}\nbadge: {validity.badge}"
        return "\n\n".join(("\n  ".join((found, *validity.reasons)), terminal_table(self._results)))

    def pytest_report_header(self) -> list[str]:
        """Say which arms will run, of which tracks samples may be chosen, and where it goes."""
        plan = self._recorder.plan
        arms = ", ".join(spec.arm for spec in plan.arms)
        lines = [f"bakeoff: {arms} -> {self._recorder.run.path}"]
        lines += [f"prepared: {', '.join(plan.tracks)}"] if plan.tracks else []
        if plan.unprepared:
            missing = [name for name in plan.unprepared if TRACKS[name].source is not None]
            own = [name for name in plan.unprepared if name not in missing]
            lines += [f"not prepared: {', '.join(missing)} (bakeoff prepare)"] if missing else []
            lines += [_own_cases(plan.unprepared[name]) for name in own]
        lines += [f"warning: {text}" for text in self._warnings]
        return lines

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Append the record that came with a report; the line is not kept on the report, which lives to the end."""
        line = report.__dict__.pop("bakeoff_line", None)
        if line is not None:
            self.record(report.__dict__["bakeoff_arm"], line)

    def record(self, arm: str, line: str) -> None:
        """Append a record; one that the disk does not take ends the session: the next would be asked for nothing."""
        if self._recorder.trouble is None:
            with contextlib.suppress(UsageProblem):  # kept as trouble
                self._recorder.append(arm, line)
        if self._recorder.trouble is not None:
            pytest.exit("a record could not be written", returncode=pytest.ExitCode.INTERRUPTED)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int | pytest.ExitCode) -> None:
        """Close the journals, hold the gates, build the reports, set the exit code."""
        if not self._recorder.is_open:
            return
        self._recorder.close()
        try:
            self._build(session.config)
        except UsageProblem as problem:
            self._problem = str(problem)
        finally:
            self._recorder.release()
        session.exitstatus = self._exit_status(exitstatus)

    def _build(self, config: pytest.Config) -> None:
        """Hold the gates and write the reports.

        Raises:
            UsageProblem: when a file of the run is not readable, or the disk does not take what is written.
        """
        from bakeoff.report import build  # noqa: PLC0415 - takes a while to load, and is needed at the very end

        run = self._recorder.run
        with disk_trouble_told(f"Make room, then build the report with: bakeoff report {run.path}"):
            self._gates = check_gates(run, self._options.gates)
            write_gates(run, self._gates)
            add_gate_cases(config, self._gates, undecided=self._options.gates.undecided)
            self._results = build(run)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table, the gates, and where the report lies; and what could not be written, which comes last."""
        if self._results is not None:
            self._tell_results(terminalreporter)
        problem = self._recorder.trouble or self._problem  # a run that is gone on with builds its report at the end
        if problem is not None:
            terminalreporter.write_line(f"ERROR: {problem}", red=True)

    def _tell_results(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._results is None:
            return
        from bakeoff.report import terminal_table  # noqa: PLC0415 - loaded above

        write = terminalreporter.write_line
        terminalreporter.section("bakeoff", sep="=", bold=True)
        if self.resumed:
            write(f"resumed: {some(self.resumed, 'sample')} already recorded")
        write(terminal_table(self._results))
        for problem in self.unprepared:
            write(problem, red=True)
        for agreement in reference_agreements(self._recorder.run):
            write(agreement.sentence)
        for text in self._warnings:
            write(f"warning: {text}", yellow=True)
        for gate in (gate for gate in self._gates if gate.is_told):
            write(f"gate {gate.gate}: {gate.outcome}: {gate.detail}", red=gate.outcome != "pass")
        write(f"report: {self.page}")

    def _exit_status(self, status: int | pytest.ExitCode) -> int | pytest.ExitCode:
        if self.unprepared:
            return pytest.ExitCode.USAGE_ERROR
        if status == pytest.ExitCode.NO_TESTS_COLLECTED and self.resumed:
            status = pytest.ExitCode.OK
        has_failed = any(gate.fails(self._options.gates.undecided) for gate in self._gates)
        if status == pytest.ExitCode.OK and (self._problem is not None or self._recorder.trouble is not None):
            return pytest.ExitCode.USAGE_ERROR
        if status == pytest.ExitCode.OK and has_failed:
            return pytest.ExitCode.TESTS_FAILED
        return status


def pytest_report_teststatus(report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str, object] | None:
    """Give wrong and truncated answers a word of their own; they passed as tests."""
    outcome = getattr(report, "bakeoff_outcome", None)
    if outcome == "moved":
        return "moved", "m", "MOVED"
    if getattr(report, "when", None) != "call" or not report.passed:
        return None
    if outcome == "wrong":
        return "wrong", "w", ("WRONG", {"yellow": True})
    if outcome == "truncated":
        return "truncated", "t", ("TRUNCATED", {"yellow": True})
    return None


def _own_cases(problem: str) -> str:
    """Return a line on a user's own cases: that there are none, or that a file of them cannot be used."""
    if problem.startswith("no custom cases"):
        return "no cases of your own: custom (docs/custom-cases.md)"
    return f"warning: your own cases are left out: {problem.splitlines()[0]}"
