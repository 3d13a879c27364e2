"""Opening arms: settings from options, in a session without workers and in a worker."""

import contextlib
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from bakeoff.backends import Backend, Settings, open_backend
from bakeoff.engine import Engine
from bakeoff.environment import environment
from bakeoff.evaluate import context_bound
from bakeoff.hosts import Host
from bakeoff.models import ModelSpec
from bakeoff.plugin.examining import Examiner
from bakeoff.plugin.live import begin_line
from bakeoff.plugin.options import Options
from bakeoff.plugin.probing import Prober
from bakeoff.plugin.recorder import Recorder
from bakeoff.records import Prompt
from bakeoff.runs import RunDirectory


def backend_settings(
    spec: ModelSpec,
    options: Options,
    run: RunDirectory,
    prompts: Mapping[str, Prompt],
    progress: Callable[[str], None],
    *,
    probes: Mapping[str, Prompt] | None = None,
    **more: Any,
) -> Settings:
    """Return how to open the backend of `spec` for these prompts; the context takes the `probes` too."""
    return Settings(
        context_tokens=context_bound(itertools.chain(prompts.values(), (probes or {}).values())),
        log_path=run.log_path(spec.arm),
        needs_images=any(prompt.images for prompt in prompts.values()),
        image_reuse=options.image_reuse,
        timeout_s=options.timeout_s,
        llama_server=options.llama_server,
        server_args=options.server_args,
        progress=progress,
        **{"concurrency": options.concurrency, **more},
    )


def make_prober(
    options: Options, run: RunDirectory, prompts: Mapping[str, Prompt], tell: Callable[[str], None]
) -> Prober:
    """Return who asks the parity probes of a run with these prompts."""
    has_images = any(prompt.images for prompt in prompts.values())
    return Prober(options.parity, run, has_images=has_images, thinking=options.thinking, say=tell)


def describe(settings: Settings, backend: Backend) -> dict[str, Any]:
    """Return what only moves speed, for the manifest."""
    return {
        "slots": backend.capabilities.slots,
        "context_tokens": settings.context_tokens,
        "image_reuse": settings.image_reuse,
        "reuse_bytes": settings.reuse_bytes,
        "timeout_s": settings.timeout_s,
    }


def say(config: pytest.Config) -> Callable[[str], None]:
    """Return a function that writes a line to the terminal, whatever pytest captures."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    capture = config.pluginmanager.get_plugin("capturemanager")

    def write(line: str) -> None:
        if reporter is not None:
            with capture.global_and_fixture_disabled() if capture is not None else contextlib.nullcontext():
                begin_line(reporter)
                reporter.write_line(line)

    return write


class StandaloneOpener:
    """Loads one arm at a time in this process and tells the recorder."""

    host: Host | None = None

    def __init__(self, config: pytest.Config, options: Options, recorder: Recorder) -> None:
        self._options = options
        self._recorder = recorder
        self._say = say(config)

    def open_arm(self, spec: ModelSpec, order: list[str], prompts: Mapping[str, Prompt]) -> Engine:
        """Load the arm and write down who it is."""
        prober = make_prober(self._options, self._recorder.run, prompts, self._say)
        settings = backend_settings(spec, self._options, self._recorder.run, prompts, self._say, probes=prober.prompts)
        backend = open_backend(spec, settings)
        try:
            self._recorder.begin_arm(spec, backend.identity, backend.load_s, describe(settings, backend))
            prober.probe(spec, backend)
            together = self._options.concurrency or backend.capabilities.slots + 1
            examiner = Examiner(self._options, self._recorder.plan, self._recorder.run, self._say)
            is_safe = examiner.audit(spec.arm, backend, prompts, together) == together
            examiner.control(spec.arm, backend)
        except BaseException:
            backend.close()
            raise
        ahead = backend.capabilities.ahead
        window = together if ahead is None else backend.capabilities.slots + ahead
        return Engine(backend, order, prompts.__getitem__, window=window if is_safe else 1)

    def close_arm(self, arm: str) -> None:
        """Close the arm's journal."""
        self._recorder.end_arm(arm)


class WorkerOpener:
    """Joins, from a worker, the server that the controller owns; the workers are the concurrency.

    On a `host` of a fleet there is no such server, and the arm is opened there.
    """

    def __init__(
        self,
        options: Options,
        run: RunDirectory,
        servers: Mapping[str, Mapping[str, Any]],
        *,
        host: str | None = None,
    ) -> None:
        self.host: Host | None = None
        self._host_name = host
        self._options = options
        self._run = run
        self._servers = servers

    def open_arm(self, spec: ModelSpec, order: list[str], prompts: Mapping[str, Prompt]) -> Engine:
        """Connect to the arm; one prompt is in flight, and none ahead, since xdist decides who answers what."""
        del order
        address = self._servers.get(spec.arm, {})
        settings = backend_settings(spec, self._options, self._run, prompts, print, concurrency=1, **address)
        backend = open_backend(spec, settings)
        if self._host_name is not None:
            runtime = str(backend.identity.get("runtime_version", spec.backend))
            self.host = Host(name=self._host_name, chip=str(environment()["processor"]), runtime=runtime)
        return Engine(backend, (), prompts.__getitem__, window=1)

    def close_arm(self, arm: str) -> None:
        """Do nothing: the controller owns the journal."""
