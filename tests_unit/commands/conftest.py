"""Runs of the synthetic track, and the command line called in this process."""

from collections.abc import Callable

import pytest
from typer.testing import CliRunner, Result

from bakeoff.cli import app
from tests_unit.plugin.conftest import bench, script
from tests_unit.report.synthetic import answered, maker, samples

__all__ = ["answered", "bench", "maker", "samples", "script"]

Cli = Callable[..., Result]


@pytest.fixture
def cli() -> Cli:
    """Call `bakeoff` with the given arguments; an error of ours is in the result's `exception`."""

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return call
