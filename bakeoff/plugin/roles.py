"""Which part this process plays, and the wiring of that part: alone, controller, or worker."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bakeoff.errors import UsageProblem
from bakeoff.models import ModelSpec
from bakeoff.plugin import html, reporting
from bakeoff.plugin.bench import CALIBRATION, Bench
from bakeoff.plugin.budgets import probe_budgets
from bakeoff.plugin.choosing import chooses_sample, selects_tracks
from bakeoff.plugin.controller import Controller, worker_count
from bakeoff.plugin.fleet import host_specs
from bakeoff.plugin.live import Live
from bakeoff.plugin.opening import StandaloneOpener, say
from bakeoff.plugin.options import Options, asks_for_budget_probe, read_options, storable
from bakeoff.plugin.planning import make_plan
from bakeoff.plugin.recorder import Recorder
from bakeoff.plugin.rooting import misled, project_folder
from bakeoff.plugin.scan import SPEED
from bakeoff.plugin.stopping import Stopping
from bakeoff.plugin.worker import worker_bench
from bakeoff.records import Sample
from bakeoff.runs import RunDirectory, new_run_path, newest_unfinished


def begin(config: pytest.Config, tracks: tuple[str, ...]) -> None:
    """Take up this process's part in running `tracks`.

    Raises:
        UsageProblem: when what was asked for cannot be done.
    """
    manager = config.pluginmanager
    manager.register(reporting, "bakeoff-outcomes")
    is_timed, tracks = SPEED in tracks, tuple(track for track in tracks if track != SPEED)
    if is_timed and (hasattr(config, "workerinput") or worker_count(config)):
        raise UsageProblem("speed is not measured while workers share the machine. Leave -n out")
    if hasattr(config, "workerinput"):
        manager.register(worker_bench(config, tracks), "bakeoff-bench")
        return
    run, options, raw = _run_and_options(config)
    plan = make_plan(options, tracks)
    if plan.lacking and options.resume is None and not selects_tracks(config):
        raise UsageProblem(next(iter(plan.lacking.values())))
    if not config.option.collectonly:
        _refuse_missing_files(plan.arms)
    if asks_for_budget_probe(config) and not config.option.collectonly:
        raw = probe_budgets(options, plan, raw, say(config), _meant(config))
        options = read_options(config, {"max_tokens": raw["max_tokens"]})
        plan = make_plan(options, tracks)
    recorder = Recorder(config, run, plan, raw)
    stopping = Stopping(has_workers=bool(worker_count(config) or host_specs(config)))
    config.add_cleanup(stopping.listen())
    manager.register(stopping, "bakeoff-stopping")
    reports = reporting.Reporting(options, recorder, misled(config))
    manager.register(reports, "bakeoff-reporting")
    answered = recorder.answered(retry_errors=options.retry_errors)
    live = Live(config, recorder.stored_records, answered)
    manager.register(live, "bakeoff-live")
    page = config.getoption("htmlpath", default=None)
    if page:
        manager.register(html, "bakeoff-html-header")
        manager.register(html.HtmlRows(Path(page), reports), "bakeoff-html-rows")
    if host_specs(config):
        from bakeoff.plugin.fleet_controller import FleetController  # noqa: PLC0415 - few runs have hosts

        manager.register(
            FleetController(config, plan, options, recorder, reports=reports, live=live), "bakeoff-controller"
        )
    elif worker_count(config):
        manager.register(Controller(config, plan, options, recorder, reports=reports, live=live), "bakeoff-controller")
    else:
        bench = Bench(
            plan,
            options,
            StandaloneOpener(config, options, recorder),
            answered=answered,
            attempts=recorder.attempts(),
            stored_selection=recorder.stored_selection,
        )
        manager.register(bench, "bakeoff-bench")
        manager.register(Alone(config, bench, recorder, reports, live), "bakeoff-alone")
    if is_timed:
        from bakeoff.plugin.speed import SpeedBench  # noqa: PLC0415 - draws pictures; few sessions time

        manager.register(SpeedBench(config, options, plan.arms, recorder), "bakeoff-speed")


class Alone:
    """A session without workers: the run begins when it is known that something was selected."""

    def __init__(
        self, config: pytest.Config, bench: Bench, recorder: Recorder, reports: reporting.Reporting, live: Live
    ) -> None:
        self._config = config
        self._bench = bench
        self._recorder = recorder
        self._reports = reports
        self._live = live

    def pytest_collection_finish(self) -> None:
        """Open the run directory, unless this only lists or nothing was selected."""
        self._reports.resumed = self._bench.resumed
        if self._bench.selection and not self._config.option.collectonly:
            try:
                self._recorder.open(self._bench.selection)
                self._live.expect(self._bench.selection)
            except UsageProblem as problem:
                raise pytest.UsageError(str(problem)) from problem


def _run_and_options(config: pytest.Config) -> tuple[RunDirectory, Options, dict[str, Any]]:
    """Return the run directory, the options, and their raw form to store."""
    resume = config.getoption("bakeoff_resume")
    named = config.getoption("bakeoff_run_dir")
    reports = project_folder(config) / "reports"
    if resume is None:
        path = Path(named).resolve() if named else new_run_path(reports)
        run = RunDirectory(path)
        if run.exists():
            raise UsageProblem(f"{path} holds a run already. Go on with it by --resume={named}, or name another place")
        return run, read_options(config, {}), storable(config, {})
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
    _refuse_other_samples(config, stored)
    return run, read_options(config, stored), storable(config, stored)


def _refuse_other_samples(config: pytest.Config, stored: Mapping[str, Any]) -> None:
    """Refuse options that would choose other samples than the run has.

    Raises:
        UsageProblem: naming the first, with both values.
    """
    for name in ("limit", "shard"):
        asked, before = config.getoption(f"bakeoff_{name}"), stored.get(name)
        if asked is not None and asked != before:
            was = ", ".join(before) if isinstance(before, list) and before else before or "not given"
            now = ", ".join(asked) if isinstance(asked, list) else asked
            raise UsageProblem(
                f"--{name} was {was} and is now {now}, but a resumed run keeps its samples. Leave it out, or begin "
                "another run without --resume"
            )


def _meant(config: pytest.Config) -> Callable[[ModelSpec, Sample], bool]:
    """Return whether an arm is to be asked a sample, as far as the command line says before there are items."""
    is_chosen = selects_tracks(config)

    def is_meant(spec: ModelSpec, sample: Sample) -> bool:
        if spec.is_tiny and not is_chosen:
            return sample.track == CALIBRATION
        return chooses_sample(config, sample.track, f"{spec.arm}-{sample.id}")

    return is_meant


def _refuse_missing_files(specs: Iterable[ModelSpec]) -> None:
    """Refuse models on this disk that are not there, before a run is made for them.

    Raises:
        UsageProblem: naming the first.
    """
    missing = next((path for spec in specs for path in spec.local_paths if not Path(path).expanduser().exists()), None)
    if missing is not None:
        raise UsageProblem(f"there is no model at {missing}. See what can be named: bakeoff models")
