"""A run that waits at a sample, so that a signal meets it there however slow the machine that sends it."""

import os
from pathlib import Path

HOLD_AT = "HOLD_AT"
"""The environment's variable with the number of the sample (from 1, in each process) at which the run waits."""

CONFTEST = """
import itertools
import os
import pathlib
import time

import pytest

count = itertools.count(1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    if next(count) == int(os.environ.get("HOLD_AT", "0")):
        pathlib.Path("held").touch()
        while not pathlib.Path("go-on").exists():
            time.sleep(0.01)
    return (yield)
"""


def write_conftest(folder: Path) -> None:
    """Let the runs of a folder hear `HOLD_AT`: one waits with a file `held`, until there is a file `go-on`."""
    (folder / "conftest.py").write_text(CONFTEST, "utf-8")


def holding_at(number: int) -> dict[str, str]:
    """Return this environment with the sample to wait at."""
    return {**os.environ, HOLD_AT: str(number)}
