"""Which part this process plays, and the wiring of that part: alone, controller, or worker."""

import json
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from bakeoff.backends import IN_PROCESS, Backend, Settings, open_backend
from bakeoff.errors import UsageProblem
from bakeoff.models import ModelSpec
from bakeoff.plugin import reporting
from bakeoff.plugin.bench import Bench
from bakeoff.plugin.opening import StandaloneOpener, WorkerOpener, backend_settings, describe, say
from bakeoff.plugin.options import RESUMED_FIELDS, Options, raw_options, read_options
from bakeoff.plugin.planning import Plan, make_plan
from bakeoff.plugin.recorder import Recorder
from bakeoff.plugin.scan import bench_tracks
from bakeoff.runs import RunDirectory, Selection, new_run_path, newest_unfinished


def begin(session: pytest.Session) -> None:
    """Take up this process's part if the command line reaches a benchmark module; do nothing otherwise.

    Raises:
        UsageProblem: when what was asked for cannot be done.
    """
    config = session.config
    tracks = bench_tracks(config)
    if not tracks:
        return
    manager = config.pluginmanager
    manager.register(reporting, "bakeoff-outcomes")
    if hasattr(config, "workerinput"):
        manager.register(_worker(config, tracks), "bakeoff-bench")
        return
    run, options, raw = _run_and_options(config)
    plan = make_plan(options, tracks)
    recorder = Recorder(config, run, plan, raw)
    restore = _sigterm_as_interrupt()
    config.add_cleanup(restore)
    reports = reporting.Reporting(options, recorder)
    manager.register(reports, "bakeoff-reporting")
    if _worker_count(config):
        manager.register(Controller(config, plan, options, recorder, reports), "bakeoff-controller")
    else:
        bench = Bench(
            plan,
            options,
            StandaloneOpener(config, options, recorder),
            answered=recorder.answered(retry_errors=options.retry_errors),
            attempts=recorder.attempts(),
            stored_selection=recorder.stored_selection,
        )
        manager.register(bench, "bakeoff-bench")
        manager.register(Alone(config, bench, recorder, reports), "bakeoff-alone")


class Alone:
    """A session without workers: the run begins when it is known that something was selected."""

    def __init__(self, config: pytest.Config, bench: Bench, recorder: Recorder, reports: reporting.Reporting) -> None:
        self._config = config
        self._bench = bench
        self._recorder = recorder
        self._reports = reports

    def pytest_collection_finish(self) -> None:
        """Open the run directory, unless this only lists or nothing was selected."""
        self._reports.resumed = self._bench.resumed
        if self._bench.selection and not self._config.option.collectonly:
            self._recorder.open(self._bench.selection)


class Controller:
    """The process that owns the run and its servers while xdist's workers do the asking."""

    def __init__(
        self, config: pytest.Config, plan: Plan, options: Options, recorder: Recorder, reports: reporting.Reporting
    ) -> None:
        self._config = config
        self._plan = plan
        self._options = options
        self._recorder = recorder
        self._reports = reports
        self._backends: dict[str, Backend] = {}
        self._refuse_what_cannot_share()
        if not config.option.collectonly:
            self._open()

    def pytest_configure_node(self, node: Any) -> None:
        """Tell a new worker all it may not find out for itself, frozen at the beginning."""
        node.workerinput["bakeoff"] = json.dumps(
            {
                "run": str(self._recorder.run.path),
                "stored": {name: self._recorder.manifest.options.get(name) for name in RESUMED_FIELDS},
                "urls": {arm: getattr(backend, "url", "") for arm, backend in self._backends.items()},
                "answered": {
                    arm: sorted(ids)
                    for arm, ids in self._recorder.answered(retry_errors=self._options.retry_errors).items()
                },
                "attempts": self._recorder.attempts(),
                "selection": self._recorder.stored_selection,
            }
        )

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Write down what the first worker selected; all workers collect the same."""
        if self._recorder.is_open:
            self._recorder.add_selection(self._selected(ids))

    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker counted; a crashed worker tells nothing."""
        self._reports.resumed = max(self._reports.resumed, getattr(node, "workeroutput", {}).get("bakeoff_resumed", 0))

    @pytest.hookimpl(tryfirst=True)  # before the report is built
    def pytest_sessionfinish(self) -> None:
        """End the servers."""
        self._close()

    def pytest_unconfigure(self) -> None:
        """End the servers also when the session broke before its end."""
        self._close()

    def _open(self) -> None:
        self._recorder.open({})
        try:
            for spec in self._plan.arms:
                settings = self._settings(spec)
                backend = self._backends[spec.arm] = open_backend(spec, settings)
                self._recorder.begin_arm(spec, backend.identity, backend.load_s, describe(settings, backend))
        except BaseException:
            self._close()
            self._recorder.close()
            self._recorder.release()
            raise

    def _close(self) -> None:
        for backend in self._backends.values():
            backend.close()
        self._backends.clear()

    def _settings(self, spec: ModelSpec) -> Settings:
        prompts = self._plan.prompts()
        workers = _worker_count(self._config)
        return backend_settings(
            spec, self._options, self._recorder.run, prompts, say(self._config), concurrency=workers
        )

    def _selected(self, ids: list[str]) -> Selection:
        selection: Selection = {}
        known = self._plan.case_ids()
        for nodeid in ids:
            place = known.get(nodeid.partition("[")[2].rpartition("]")[0])
            if place is not None:
                arm, track, sample = place
                selection.setdefault(arm, {}).setdefault(track, []).append(sample)
        return selection

    def _refuse_what_cannot_share(self) -> None:
        in_process = [spec.name for spec in self._plan.arms if spec.backend in IN_PROCESS]
        if in_process:
            raise UsageProblem(
                f"{', '.join(in_process)} would be loaded once in every worker. Leave -n out: prompts of an arm are "
                "kept in flight by --concurrency N; or name server models only, such as --model tiny-gguf-bf16 -n 2."
            )
        servers = [spec.name for spec in self._plan.arms if spec.backend != "fake"]
        if len(servers) > 1:
            raise UsageProblem(
                f"-n takes one model at a time, but {', '.join(servers)} are named. Leave -n out, or run them one "
                "after the other into the same directory with --run-dir DIR, then --resume DIR."
            )


def _worker(config: pytest.Config, tracks: tuple[str, ...]) -> Bench:
    told = json.loads(getattr(config, "workerinput", {}).get("bakeoff", "{}"))
    stored = {name: value for name, value in told.get("stored", {}).items() if value is not None}
    options = read_options(config, stored)
    bench = Bench(
        make_plan(options, tracks),
        options,
        WorkerOpener(options, RunDirectory(Path(told["run"])), told["urls"]),
        answered={arm: frozenset(ids) for arm, ids in told["answered"].items()},
        attempts=told["attempts"],
        stored_selection=told["selection"],
        is_worker=True,
    )
    config.pluginmanager.register(WorkerCount(config, bench), "bakeoff-worker-count")
    return bench


class WorkerCount:
    """Tells the controller, which never collects, what a worker left out as already recorded."""

    def __init__(self, config: pytest.Config, bench: Bench) -> None:
        self._config = config
        self._bench = bench

    def pytest_sessionfinish(self) -> None:
        """Put the count where xdist carries it to the controller."""
        getattr(self._config, "workeroutput", {})["bakeoff_resumed"] = self._bench.resumed


def _run_and_options(config: pytest.Config) -> tuple[RunDirectory, Options, dict[str, Any]]:
    """Return the run directory, the options, and their raw form to store."""
    resume = config.getoption("bakeoff_resume")
    named = config.getoption("bakeoff_run_dir")
    reports = config.rootpath / "reports"
    if resume is None:
        path = Path(named).resolve() if named else new_run_path(reports)
        run = RunDirectory(path)
        if run.exists():
            raise UsageProblem(f"{path} holds a run already. Go on with it by --resume={named}, or name another place")
        raw = raw_options(config)
        return run, read_options(config, {}), raw
    if named:
        raise UsageProblem("--resume names the run to go on with; leave --run-dir out")
    path = Path(resume).resolve() if resume else newest_unfinished(reports)
    run = RunDirectory(path)
    if not run.exists():
        raise UsageProblem(
            f"--resume {resume}: there is no run. Write --resume=DIR, or put --resume behind the test paths so that "
            "it does not take one of them for a directory"
        )
    stored = run.manifest().options
    return run, read_options(config, stored), {**stored, **raw_options(config)}


def _worker_count(config: pytest.Config) -> int:
    return len(config.getoption("tx", default=None) or ())


def _sigterm_as_interrupt() -> Callable[[], None]:
    """Make SIGTERM end the session as Ctrl-C does, with teardown and report; return how to undo it."""
    if threading.current_thread() is not threading.main_thread():
        return lambda: None

    def interrupt(signum: int, frame: FrameType | None) -> None:
        del signum, frame
        raise KeyboardInterrupt("terminated")

    before = signal.signal(signal.SIGTERM, interrupt)
    return lambda: signal.signal(signal.SIGTERM, before) and None
