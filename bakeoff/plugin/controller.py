"""The process that owns the run and its servers while xdist's workers do the asking."""

import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest

from bakeoff.backends import BACKENDS, Backend, ServedBackend, Settings, open_backend
from bakeoff.errors import UsageProblem
from bakeoff.models import ModelSpec
from bakeoff.plugin.choosing import selects_tracks
from bakeoff.plugin.examining import Examiner
from bakeoff.plugin.live import Live
from bakeoff.plugin.opening import backend_settings, describe, make_prober, say
from bakeoff.plugin.options import RESUMED_FIELDS, Options
from bakeoff.plugin.planning import NO_PROTOCOL, NOT_PREPARED, Plan
from bakeoff.plugin.probing import Prober
from bakeoff.plugin.recorder import Recorder
from bakeoff.plugin.reporting import Reporting
from bakeoff.records import Prompt
from bakeoff.runs import Selection


class Controller:
    """The process that owns the run and its servers while xdist's workers do the asking."""

    def __init__(
        self, config: pytest.Config, plan: Plan, options: Options, recorder: Recorder, *, reports: Reporting, live: Live
    ) -> None:
        self._config = config
        self._plan = plan
        self._options = options
        self._recorder = recorder
        self._reports = reports
        self._live = live
        self._backends: dict[str, Backend] = {}
        self._slots: dict[str, int] = {}
        if config.getvalue("dist") == "each":
            raise UsageProblem("--dist each would ask every sample once per worker. Name another, or leave --dist out")
        self._refuse_what_cannot_share()
        if not config.option.collectonly:
            self._open()

    def pytest_configure_node(self, node: Any) -> None:
        """Tell a new worker all it may not find out for itself, frozen at the beginning, and its own slot."""
        slot = next(number for number in itertools.count() if number not in self._slots.values())
        self._slots[node.gateway.id] = slot
        servers = {arm: _address(backend, slot) for arm, backend in self._backends.items()}
        node.workerinput["bakeoff"] = json.dumps({**worker_inputs(self._recorder, self._options), "servers": servers})

    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Keep the questions on an image together, unless another way of sharing out was asked for."""
        if config.getvalue("dist") != "load":
            return None
        from bakeoff.plugin.scheduling import ImageScheduling, image_groups  # noqa: PLC0415 - needs xdist

        return ImageScheduling(config, log, image_groups(self._plan))

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Write down what the first worker selected; all workers collect the same."""
        if selects_tracks(self._config):
            self._reports.unprepared = [
                problem
                for mark, problems in ((NO_PROTOCOL, self._plan.lacking), (NOT_PREPARED, self._plan.unprepared))
                if any(mark in name for name in ids)
                for problem in problems.values()
            ]
        if self._recorder.is_open:
            selected = self._selected(ids)
            self._recorder.add_selection(selected)
            self._live.expect(selected)

    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Take over what a worker counted, and its slot; a crashed worker tells nothing."""
        del error
        self._slots.pop(node.gateway.id, None)
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
                prompts = self._plan.prompts(spec.arm)
                prober = make_prober(self._options, self._recorder.run, prompts, say(self._config))
                settings = self._settings(spec, prompts, prober)
                backend = self._backends[spec.arm] = open_backend(spec, settings)
                self._recorder.begin_arm(spec, backend.identity, backend.load_s, describe(settings, backend))
                prober.probe(spec, backend)
                self._examine(spec.arm, backend, prompts)
        except BaseException:
            self._close()
            self._recorder.close()
            self._recorder.release()
            raise

    def _examine(self, arm: str, backend: Backend, prompts: Mapping[str, Prompt]) -> None:
        """Audit at as many prompts in flight as there are workers, who cannot be made fewer once they run."""
        workers = worker_count(self._config)
        examiner = Examiner(self._options, self._plan, self._recorder.run, say(self._config))
        if examiner.audit(arm, backend, prompts, workers) < workers:
            raise UsageProblem(f"the audit of {arm} fails with {workers} workers. Leave -n out to ask one at a time")
        examiner.control(arm, backend)

    def _close(self) -> None:
        for backend in self._backends.values():
            backend.close()
        self._backends.clear()

    def _settings(self, spec: ModelSpec, prompts: Mapping[str, Prompt], prober: Prober) -> Settings:
        run, tell, workers = self._recorder.run, say(self._config), worker_count(self._config)
        return backend_settings(spec, self._options, run, prompts, tell, probes=prober.prompts, concurrency=workers)

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
        in_process = [spec.name for spec in self._plan.arms if BACKENDS[spec.backend].model_in == "process"]
        if in_process:
            raise UsageProblem(
                f"{', '.join(in_process)} would be loaded once in every worker. Leave -n out: prompts of an arm are "
                "kept in flight by --concurrency N; or name server models only, such as --model tiny-gguf-bf16 -n 2."
            )
        servers = [spec.name for spec in self._plan.arms if BACKENDS[spec.backend].model_in != "nowhere"]
        if len(servers) > 1:
            raise UsageProblem(
                f"-n takes one model at a time, but {', '.join(servers)} are named. Leave -n out, or run them one "
                "after the other into the same directory with --run-dir DIR, then --resume DIR."
            )


def _address(backend: Backend, slot: int) -> dict[str, Any]:
    """Return how a worker joins a backend: `{url, server_pid, slot, found}`; empty where each worker opens its own."""
    if not isinstance(backend, ServedBackend):
        return {}
    return {"url": backend.url, "server_pid": backend.pid, "slot": slot, "found": backend.found}


def worker_inputs(recorder: Recorder, options: Options) -> dict[str, Any]:
    """Return what every worker is told, as plain JSON."""
    answered = recorder.answered(retry_errors=options.retry_errors)
    return {
        "run": str(recorder.run.path),
        "stored": {name: recorder.manifest.options.get(name) for name in RESUMED_FIELDS},
        "servers": {},
        "answered": {arm: sorted(ids) for arm, ids in answered.items()},
        "attempts": recorder.attempts(),
        "selection": recorder.stored_selection,
    }


def worker_count(config: pytest.Config) -> int:
    """Return how many xdist workers this session asks for; 0 without xdist and with `-n0`."""
    return len(config.getoption("tx", default=None) or ())
