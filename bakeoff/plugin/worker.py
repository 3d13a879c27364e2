"""An xdist worker: it is told everything by the controller, decides what to select, and asks."""

import atexit
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from bakeoff.plugin.bench import Bench
from bakeoff.plugin.opening import WorkerOpener
from bakeoff.plugin.options import Options, read_options
from bakeoff.plugin.planning import make_plan
from bakeoff.runs import RunDirectory


def worker_bench(config: pytest.Config, tracks: tuple[str, ...]) -> Bench:
    """Return the Bench of a worker, made only from what the controller froze at the beginning."""
    told = json.loads(getattr(config, "workerinput", {}).get("bakeoff", "{}"))
    stored = {name: value for name, value in told.get("stored", {}).items() if value is not None}
    options = read_options(config, stored)
    bench = Bench(
        make_plan(options, tracks),
        options,
        _opener(options, told),
        answered={arm: frozenset(ids) for arm, ids in told["answered"].items()},
        attempts=told["attempts"],
        stored_selection=told["selection"],
        is_worker=True,
    )
    config.pluginmanager.register(WorkerCount(config, bench), "bakeoff-worker-count")
    return bench


def _opener(options: Options, told: dict[str, Any]) -> WorkerOpener:
    """Return who opens arms here; on a host of a fleet nothing is written but a log in a folder that goes away."""
    host = told.get("host")
    if host is None:
        return WorkerOpener(options, RunDirectory(Path(told["run"])), told["servers"])
    folder = tempfile.mkdtemp(prefix="bakeoff-host-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return WorkerOpener(options, RunDirectory(Path(folder)), told["servers"], host=host)


class WorkerCount:
    """Tells the controller, which never collects, what a worker left out as already recorded."""

    def __init__(self, config: pytest.Config, bench: Bench) -> None:
        self._config = config
        self._bench = bench

    def pytest_sessionfinish(self) -> None:
        """Put the count where xdist carries it to the controller."""
        getattr(self._config, "workeroutput", {})["bakeoff_resumed"] = self._bench.resumed
