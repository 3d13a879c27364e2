"""Gates as testcases of `--junitxml`, so that a CI system shows them where it shows tests."""

from collections.abc import Iterable
from typing import Literal

import pytest
from _pytest.junitxml import xml_key  # pytest has no public way to reach its JUnit writer

from bakeoff.validity.results import GateResult


def add_gate_cases(config: pytest.Config, gates: Iterable[GateResult], *, undecided: Literal["pass", "fail"]) -> None:
    """Add one testcase `gates` for each gate: failed where the run fails by it; nothing without `--junitxml`.

    The reports go to the JUnit writer alone: a gate is no test of the session, which ends with the same count of them.
    """
    xml = config.stash.get(xml_key, None)
    if xml is None:
        return
    for gate in (gate for gate in gates if gate.is_told):
        for when in ("call", "teardown"):
            xml.pytest_runtest_logreport(_report(gate, when, is_failed=gate.fails(undecided) and when == "call"))


def _report(gate: GateResult, when: Literal["call", "teardown"], *, is_failed: bool) -> pytest.TestReport:
    return pytest.TestReport(
        nodeid=f"gates::{gate.gate}",
        location=("gates", None, gate.gate),
        keywords={},
        outcome="failed" if is_failed else "passed",
        longrepr=f"{gate.outcome}: {gate.detail}" if is_failed else None,
        when=when,
        user_properties=[("outcome", gate.outcome), ("detail", gate.detail)] if when == "teardown" else (),
    )
