"""MLX models through mlx-vlm, in this process, on one thread that owns every array.

The prompt is rendered with the model's own chat template and prepared by mlx-vlm; decoding is mlx-vlm's own loop, with
every sampling field explicit. What is done here before it, trimming of padded patches and reuse of the state after the
images, changes no bit of the result (see `mlx_vision`).
"""

import functools
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
from mlx_vlm import load, stream_generate

from bakeoff.backends.backend import Capabilities, Settings
from bakeoff.backends.identity import weights_identity
from bakeoff.backends.images import image_bytes
from bakeoff.backends.llama_api import REPEAT_WINDOW
from bakeoff.backends.mlx_trace import forced, read_tokens, trace_of
from bakeoff.backends.mlx_vision import Continuation, PrefixStore, Prepared, prepare
from bakeoff.errors import BackendDied, BackendError, UsageProblem
from bakeoff.hub import model_folder, weights_sha256
from bakeoff.models import ModelSpec
from bakeoff.records import ImagePart, Message, Output, Prompt, Text
from bakeoff.traces import Trace

Job = tuple[Future[Any], Callable[[], Any]]


class MlxBackend:
    """A model and processor on their own thread; prompts are answered one after the other."""

    capabilities = Capabilities(is_in_process=True)

    def __init__(self, spec: ModelSpec, settings: Settings) -> None:
        self._folder, self._revision = model_folder(spec)
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._ready: Future[float] = Future()
        self._closed = threading.Event()
        self._prefixes = PrefixStore() if settings.image_reuse else None
        self._thread = threading.Thread(target=self._work, name=f"mlx {spec.arm}", daemon=True)
        self._thread.start()
        self.load_s = self._ready.result()
        self.identity = self._identity()

    def submit(self, prompt: Prompt) -> Future[Output]:
        """Queue a prompt."""
        future: Future[Output] = Future()
        self._queue(future, functools.partial(self._answer, prompt, time.perf_counter()))
        return future

    def force(self, prompt: Prompt, tokens: tuple[int, ...]) -> Future[Trace]:
        """Queue a prompt whose answer is given, for the log-probabilities of its tokens."""
        future: Future[Trace] = Future()
        self._queue(future, functools.partial(self._force, prompt, tokens))
        return future

    def _queue(self, future: Future[Any], work: Callable[[], Any]) -> None:
        if self._closed.is_set():
            future.set_exception(BackendDied("the MLX model is closed"))
        else:
            self._jobs.put((future, work))

    def restart(self) -> None:
        """Do nothing: a model in this process dies only with the process."""

    def close(self) -> None:
        """Stop after the sample in work; what is queued fails with BackendDied."""
        self._closed.set()
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            began = time.perf_counter()
            self._model, self._processor = load(str(self._folder))
            mx.eval(self._model.parameters())
        except Exception as error:  # noqa: BLE001 - anything at load is told to the one who opens the backend
            self._ready.set_exception(UsageProblem(f"mlx-vlm cannot load {self._folder}: {error!r}"))
            return
        self._ready.set_result(time.perf_counter() - began)
        while (job := self._jobs.get()) is not None:
            future, work = job
            if self._closed.is_set():
                future.set_exception(BackendDied("the MLX model was closed"))
            elif future.set_running_or_notify_cancel():
                _settle(future, work)
        self._drop()

    def _drop(self) -> None:
        """Free the model on the thread that owns its arrays."""
        del self._model, self._processor
        self._prefixes = None
        mx.clear_cache()
        mx.clear_streams()  # else the process aborts at its exit, now and then: a stream's thread is left unjoined

    def _answer(self, prompt: Prompt, queued_at: float) -> Output:
        began = time.perf_counter()
        text, prepared, cached = self._prepare(prompt)
        prefilled = time.perf_counter()
        first_at, pieces, last, steps = None, [], None, []
        for last in self._stream(prompt, prepared, cached):
            first_at = first_at or time.perf_counter()
            pieces.append(last.text)
            if prompt.top_logprobs:
                steps.append(last)
        ended = time.perf_counter()
        if last is None or first_at is None:
            raise BackendError("mlx-vlm gave no token")
        stopped = last.finish_reason == "stop"
        return Output(
            text="".join(pieces),
            finish_reason="stop" if stopped else "length",
            prompt_tokens=prepared.prompt_tokens,
            image_tokens=prepared.image_tokens,
            completion_tokens=int(last.generation_tokens),
            cached_tokens=cached.reused_tokens if cached else 0,
            queue_s=began - queued_at,
            ttft_s=first_at - began,
            prefill_s=first_at - prefilled,
            decode_s=ended - first_at,
            total_s=ended - began,
            peak_memory_bytes=int(mx.get_peak_memory()),
            trace=self._trace(text, prepared, steps, prompt.top_logprobs) if prompt.top_logprobs else None,
        )

    def _prepare(self, prompt: Prompt) -> tuple[str, Prepared, Continuation | None]:
        for image in prompt.images:
            image_bytes(image)  # checked here; mlx-vlm opens the file itself
        text = self._render(prompt)
        prepared = prepare(self._model, self._processor, text, prompt.images)
        cached = self._prefixes.continue_from(self._model, prepared) if self._prefixes is not None else None
        return text, prepared, cached

    def _trace(self, text: str, prepared: Prepared, steps: list[Any], count: int) -> Trace:
        return trace_of(self._model, self._processor, text, prepared, read_tokens(steps, count))

    def _force(self, prompt: Prompt, tokens: tuple[int, ...]) -> Trace:
        _, prepared, cached = self._prepare(prompt)
        return Trace(tokens=forced(self._model, prepared, cached, tokens, prompt.top_logprobs))

    def _render(self, prompt: Prompt) -> str:
        """Write the messages with the model's own template."""
        options = {} if prompt.thinking == "default" else {"enable_thinking": prompt.thinking == "on"}
        messages = [{"role": m.role, "content": _content(m)} for m in prompt.messages]
        holder = self._template_holder()
        return str(holder.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **options))

    def _template_holder(self) -> Any:
        """Return the processor or the tokenizer, whichever carries the chat template.

        Raises:
            UsageProblem: when neither does.
        """
        for holder in (self._processor, self._processor.tokenizer):
            if getattr(holder, "chat_template", None):
                return holder
        raise UsageProblem(f"{self._folder} has no chat template, so its prompts would be a guess")

    def _stream(self, prompt: Prompt, prepared: Prepared, cached: Continuation | None) -> Any:
        sampling = prompt.sampling
        mx.random.seed(prompt.seed)
        inputs = prepared.inputs if cached is None else {"input_ids": cached.suffix_ids, "prompt_cache": cached.state}
        return stream_generate(
            self._model,
            self._processor,
            "",
            **inputs,
            max_tokens=prompt.max_tokens,
            seed=prompt.seed,
            temperature=sampling.temperature,
            top_k=sampling.top_k,
            top_p=sampling.top_p,
            min_p=sampling.min_p,
            repetition_penalty=sampling.repetition_penalty,
            repetition_context_size=REPEAT_WINDOW,
        )

    def _identity(self) -> Mapping[str, Any]:
        files = sorted(self._folder.glob("*.safetensors"))
        return {
            "runtime": "mlx-vlm",
            "runtime_version": f"mlx-vlm {version('mlx-vlm')}, mlx {version('mlx')}",
            "device": str(mx.default_device()),
            "weights": self._folder.name,
            "weights_sha256": weights_sha256(files),
            "weights_bytes": sum(file.stat().st_size for file in files),
            "config_sha256": hashlib.sha256((self._folder / "config.json").read_bytes()).hexdigest(),
            "revision": self._revision,
            "template_sha256": hashlib.sha256(str(self._template_holder().chat_template).encode()).hexdigest(),
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


def _content(message: Message) -> str | list[dict[str, str]]:
    """Return the content of a message for the template: a plain string where there is no image."""
    if not any(isinstance(part, ImagePart) for part in message.parts):
        return "".join(part.text for part in message.parts if isinstance(part, Text))
    return [{"type": "text", "text": p.text} if isinstance(p, Text) else {"type": "image"} for p in message.parts]


def _first_hash(folder: Path, *names: str) -> str | None:
    """Return the SHA-256 of the first of these files that is there."""
    found = next((folder / name for name in names if (folder / name).is_file()), None)
    return None if found is None else hashlib.sha256(found.read_bytes()).hexdigest()


def _settle(future: Future[Any], work: Callable[[], Any]) -> None:
    """Run `work` and give its result or its error to `future`; the thread goes on either way."""
    try:
        future.set_result(work())
    except BackendError as error:
        future.set_exception(error)
    except Exception as error:  # noqa: BLE001 - whatever a model raises concerns this prompt alone
        future.set_exception(BackendError(f"{type(error).__name__}: {error}"))
