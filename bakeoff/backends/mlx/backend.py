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
from collections.abc import Mapping
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
from bakeoff.errors import BackendDied, UsageProblem
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
        self._asked: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._prepared: queue.Queue[Job | None] = queue.Queue(maxsize=PREPARED_AHEAD)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._why = "the MLX model is closed"
        self._ready: Future[float] = Future()
        self._thread = threading.Thread(target=self._work, name=f"mlx {spec.arm}", daemon=True)
        self._thread.start()
        self.load_s = self._ready.result()
        self._preparing = threading.Thread(target=self._prepare, name=f"mlx prompts {spec.arm}", daemon=True)
        self._preparing.start()
        try:
            self.identity = self._identity()
        except BaseException:
            self.close()
            raise

    def submit(self, prompt: Prompt) -> Future[Output]:
        """Queue a prompt."""
        return self._queue(Job(prompt))

    def force(self, prompt: Prompt, tokens: tuple[int, ...]) -> Future[Trace]:
        """Queue a prompt whose answer is given, for the log-probabilities of its tokens."""
        return self._queue(Job(prompt, tokens))

    def _queue(self, job: Job) -> Future[Any]:
        with self._lock:
            if self._closed.is_set():
                job.fail(BackendDied(self._why))
            else:
                self._asked.put(job)
        return job.future

    def restart(self) -> None:
        """Do nothing: the model lives as long as its thread, and is not loaded a second time.

        Raises:
            BackendDied: when the thread has ended.
        """
        if self._closed.is_set():
            raise BackendDied(self._why)

    def close(self) -> None:
        """Stop after the step in work; prompts that are queued or half answered fail with BackendDied."""
        with self._lock:
            self._closed.set()
            self._asked.put(None)
        self._preparing.join()
        self._thread.join()

    def _work(self) -> None:
        began = time.perf_counter()
        mx.reset_peak_memory()  # it is the process's, and an arm before this one may have needed more
        problem = self._load()
        if problem is not None:
            self._drop()
            self._ready.set_exception(problem)
            return
        self._ready.set_result(time.perf_counter() - began)
        try:
            with wired_limit(self._model, [generation_stream]):
                self._worker.work(self._prepared, self._closed)
        except BaseException as error:  # noqa: BLE001 - a thread that ends in silence leaves others waiting for ever
            self._die(error)
        self._drop()

    def _load(self) -> UsageProblem | None:
        """Load the model and set up what works on it; return why that failed."""
        try:
            self._model, self._processor = load(str(self._folder))
            mx.eval(self._model.parameters())
            self._plan()
        except BaseException as error:  # noqa: BLE001 - anything at load is told to the one who opens the backend
            return UsageProblem(f"mlx-vlm cannot load {self._folder}: {error!r}")
        return None

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
        while (job := self._asked.get()) is not None:
            if self._closed.is_set():
                job.fail(BackendDied(self._why))
                continue
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

    def _die(self, error: BaseException) -> None:
        """Refuse what is asked from now on, and fail what waits, after `error` ended the work on the model."""
        with self._lock:
            self._why = f"the work on the MLX model broke off: {error!r}"
            self._closed.set()
            self._asked.put(None)
        self._worker.fail(BackendDied(self._why))
        for job in iter(self._prepared.get, None):
            job.fail(BackendDied(self._why))

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
