"""The pytest plugin: the only code that talks to pytest. Hooks are thin; `roles` says who does what where.

`scan` asks whether this session runs benchmarks; `options` reads the command line; `planning` makes cases; `bench`
selects and answers; `opening` loads arms; `recorder` owns the run directory; `reporting` shows results; `live`
shows progress.
"""

import pytest

from bakeoff.errors import UsageProblem
from bakeoff.plugin.options import add_options
from bakeoff.plugin.scan import bench_tracks
from bakeoff.tracks import TRACKS


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the group "bakeoff"."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register one marker a track, so that `-m docvqa` selects it."""
    for name, track in TRACKS.items():
        config.addinivalue_line("markers", f"{name}: {track.title}")


@pytest.hookimpl(tryfirst=True)  # before xdist starts its workers, which are told what is found out here
def pytest_sessionstart(session: pytest.Session) -> None:
    """Take up this process's part if the command line reaches a benchmark module."""
    tracks = bench_tracks(session.config)
    if not tracks:
        return
    from bakeoff.plugin import roles  # noqa: PLC0415 - every pytest run loads this plugin; few run benchmarks

    try:
        roles.begin(session.config, tracks)
    except UsageProblem as problem:
        raise pytest.UsageError(str(problem)) from problem
