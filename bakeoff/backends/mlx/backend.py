"""MLX models through mlx-vlm, in this process: one thread prepares prompts, one owns every array and decodes.

The prompt is rendered with the model's own chat template and prepared by mlx-vlm. LFM2-VL prompts are decoded together
in a batch of mlx-vlm's, which they enter and leave one by one, and share the work on common images (see `batch` and
`reuse`); other families are answered one at a time by mlx-vlm's own loop. Every sampling field is explicit.
"""

import gc
import hashlib
import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx_vlm import load
from mlx_vlm.generate.common import generation_stream, wired_limit

from bakeoff.backends.backend import Capabilities, Settings
from bakeoff.backends.identity import weights_identity
from bakeoff.backends.mlx.layouts import Layouts
from bakeoff.backends.mlx.prompts import Preparer
from bakeoff.backends.mlx.reuse import Memory, is_reusable
from bakeoff.backends.mlx.rows import Job
from bakeoff.backends.mlx.work import Worker
from bakeoff.backends.owner import Owner
from bakeoff.hub import model_folder, weights_sha256
from bakeoff.records import Output, Prompt
from bakeoff.spec import ModelSpec
from bakeoff.traces import Trace

DEFAULT_ROWS = 8
"""Prompts decoded together unless told otherwise.

Measured on the embedded checkpoint and 24 samples of `data/tiny`, in one run, by CPU time of the CPU device: 2 rows 1.5
times the speed of one, 4 rows 1.8, 8 rows 2.0, 16 rows 2.4. From 8 on memory grows faster than speed. Again with:
`python -m tools.bench.reuse_mlx rows`.
"""

PREPARED_AHEAD = 2
"""Prompts prepared and waiting for a place: their pixels are up to about 30 MB each."""


class MlxBackend:
    """A model and processor on a thread of their own, and a thread that prepares prompts for it."""

    def __init__(self, spec: ModelSpec, settings: Settings) -> None:
        self._folder, self._revision = model_folder(spec)
        self._settings = settings
        self._prepared: queue.Queue[Job | None] = queue.Queue(maxsize=PREPARED_AHEAD)
        self._owner = Owner[Job]("MLX model", settings.progress)
        self.load_s = self._owner.start(self._work, f"mlx-vlm cannot load {self._folder}")
        self._owner.join_too(threading.Thread(target=self._prepare, name=f"mlx prompts {spec.arm}", daemon=True))
        try:
            self.identity = self._identity()
        except BaseException:
            self.close()
            raise

    def submit(self, prompt: Prompt) -> Future[Output]:
        """Queue a prompt."""
        return self._owner.submit(Job(prompt))

    def force(self, prompt: Prompt, tokens: tuple[int, ...]) -> Future[Trace]:
        """Queue a prompt whose answer is given, for the log-probabilities of its tokens."""
        return self._owner.submit(Job(prompt, tokens))

    def restart(self) -> None:
        """Do nothing, or raise BackendDied when the model's thread has ended."""
        self._owner.restart()

    def close(self) -> None:
        """Stop after the step in work; prompts that are queued or half answered fail with BackendDied."""
        self._owner.close()

    def _work(self, ready: Callable[[], None]) -> None:
        mx.reset_peak_memory()  # it is the process's, and an arm before this one may have needed more
        try:
            self._model, self._processor = load(str(self._folder))
            mx.eval(self._model.parameters())
            self._plan()
            ready()
            self._answer()
        finally:
            self._drop()

    def _answer(self) -> None:
        try:
            with wired_limit(self._model, [generation_stream]):
                self._worker.work(self._prepared, self._owner.closed)
        except BaseException as error:  # noqa: BLE001 - those who wait are told, whatever it is
            told = self._owner.end(error)
            self._worker.fail(told)
            for job in iter(self._prepared.get, None):
                job.fail(told)

    def _plan(self) -> None:
        """Decide what is shared and how many prompts are decoded together."""
        can_share = is_reusable(self._model)
        self._memory = Memory(self._settings.reuse_bytes) if can_share and self._settings.image_reuse else None
        layouts = Layouts(self._processor.image_processor) if self._memory is not None else None
        self._preparer = Preparer(self._model.config, self._processor, self._folder, layouts)
        rows = (self._settings.concurrency or DEFAULT_ROWS) if can_share else 1
        self.capabilities = Capabilities(slots=rows)
        timeout_s = self._settings.timeout_s
        self._worker = Worker(
            self._model, self._processor, self._preparer, self._memory, rows=rows, timeout_s=timeout_s
        )

    def _prepare(self) -> None:
        """Prepare what is asked, in order, a little ahead of the model."""
        for job in self._owner.jobs():
            if job.future.cancelled():
                continue
            began = time.perf_counter()
            try:
                job.prepared = self._preparer.prepare(job.prompt)
            except Exception as error:  # noqa: BLE001 - whatever a prompt raises concerns this prompt alone
                job.fail(error)
                continue
            job.prepare_s = time.perf_counter() - began
            self._prepared.put(job)
        self._prepared.put(None)

    def _drop(self) -> None:
        """Free the model on the thread that owns its arrays, as far as it was loaded."""
        for name in ("_model", "_processor", "_preparer", "_worker", "_memory"):
            vars(self).pop(name, None)
        gc.collect()  # the runtime's own objects may form cycles, and arrays in them would outlive the arm
        mx.clear_cache()
        mx.clear_streams()  # else the process aborts at its exit, now and then: a stream's thread is left unjoined

    def _identity(self) -> Mapping[str, Any]:
        files = sorted(self._folder.glob("*.safetensors"))
        template = str(self._preparer.template_holder.chat_template)
        return {
            "runtime": "mlx-vlm",
            "runtime_version": f"mlx-vlm {version('mlx-vlm')}, mlx {version('mlx')}",
            "device": str(mx.default_device()),
            "weights": self._folder.name,
            "weights_sha256": weights_sha256(files),
            "weights_bytes": sum(file.stat().st_size for file in files),
            "config_sha256": hashlib.sha256((self._folder / "config.json").read_bytes()).hexdigest(),
            "revision": self._revision,
            "template_sha256": hashlib.sha256(template.encode()).hexdigest(),
            "processor_sha256": _first_hash(self._folder, "preprocessor_config.json", "processor_config.json"),
            **weights_identity(self._folder),
        }


def open_backend(spec: ModelSpec, settings: Settings) -> MlxBackend:
    """Load an MLX model.

    Raises:
        UsageProblem: when there is no such model, it cannot be loaded, or it has no chat template.
    """
    settings.progress(f"loading {spec.location} with mlx-vlm")
    return MlxBackend(spec, settings)


def _first_hash(folder: Path, *names: str) -> str | None:
    """Return the SHA-256 of the first of these files that is there."""
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    return None if found is None else hashlib.sha256(found.read_bytes()).hexdigest()
