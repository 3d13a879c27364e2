"""The pytest plugin: the only code that talks to pytest. Hooks are thin; `roles` says who does what where.

`scan` asks whether this session runs benchmarks; `options` reads the command line; `planning` makes cases; `bench`
selects and answers; `speed` times; `opening` loads arms; `recorder` owns the run directory; `reporting` shows results;
`live` shows progress.
"""

from pathlib import Path

import pytest

from bakeoff.errors import UsageProblem
from bakeoff.files import disk_trouble_told
from bakeoff.plugin.options import add_options
from bakeoff.plugin.scan import SPEED, asks_for_speed, bench_tracks, declared_track
from bakeoff.tracks import TRACKS


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the group "bakeoff"."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Register one marker a track, so that `-m docvqa` selects it."""
    for name, track in TRACKS.items():
        config.addinivalue_line("markers", f"{name}: {track.title}")
    config.addinivalue_line("markers", f"{SPEED}: how fast an arm is; runs only where it is named")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the speed test out of a session that does not name it: it takes minutes, and scores nothing."""
    if collection_path.suffix != ".py" or not collection_path.is_file() or asks_for_speed(config):
        return None
    return True if declared_track(collection_path) == SPEED else None


@pytest.hookimpl(tryfirst=True)  # before xdist starts its workers, which are told what is found out here
def pytest_sessionstart(session: pytest.Session) -> None:
    """Take up this process's part if the command line reaches a benchmark module."""
    tracks = bench_tracks(session.config)
    if not tracks:
        return
    from bakeoff.plugin import roles  # noqa: PLC0415 - every pytest run loads this plugin; few run benchmarks

    try:
        with disk_trouble_told("Make room, or name another place with --run-dir DIR"):
            roles.begin(session.config, tracks)
    except UsageProblem as problem:
        raise pytest.UsageError(str(problem)) from problem
