"""A pytest plugin that notes when the stages of a session began and what memory it had: `-p tools.bench.stopwatch`.

The figures go as JSON to the file named by `BAKEOFF_STOPWATCH`: seconds since the process began and CPU seconds, with
the peak of resident memory so far, at each stage. With `BAKEOFF_PROFILE` the main thread is profiled between the
collection and the report, and the profile goes to the file of that name.
"""

import cProfile
import json
import os
import resource
import sys
import time
from pathlib import Path

import psutil
import pytest

_BEGAN = psutil.Process().create_time()
_PROFILE = os.environ.get("BAKEOFF_PROFILE")
_PROFILER = cProfile.Profile()
_STAGES: dict[str, dict[str, float]] = {}


def mark(stage: str) -> None:
    """Note that `stage` begins; the first time counts."""
    if stage not in _STAGES:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        _STAGES[stage] = {
            "wall_s": time.time() - _BEGAN,
            "cpu_s": time.process_time(),
            "peak_bytes": peak if sys.platform == "darwin" else peak * 1024,
        }


@pytest.hookimpl(trylast=True)  # plugins are loaded, and samples are not yet read
def pytest_configure() -> None:
    """Note that the session begins."""
    mark("session")


@pytest.hookimpl(trylast=True)  # after everybody has selected and deselected
def pytest_collection_finish(session: pytest.Session) -> None:
    """Collection is over."""
    mark("running")
    if _PROFILE:
        _PROFILER.enable()
    _STAGES["running"]["samples"] = len(session.items)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note the first answer."""
    if report.when == "call":
        mark("answered")


@pytest.hookimpl(tryfirst=True)  # before the report is built
def pytest_sessionfinish() -> None:
    """Note that all samples are answered; what follows is the report."""
    if _PROFILE:
        _PROFILER.disable()
        _PROFILER.dump_stats(_PROFILE)
    mark("reporting")


@pytest.hookimpl(trylast=True)  # after all others
def pytest_unconfigure() -> None:
    """Write down what was noted."""
    mark("end")
    Path(os.environ["BAKEOFF_STOPWATCH"]).write_text(json.dumps(_STAGES), "utf-8")
