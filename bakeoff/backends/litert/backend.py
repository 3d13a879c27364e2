"""LiteRT-LM models (`.litertlm`) through `litert-lm-api`, in this process, one prompt at a time.

The file carries its own chat template and tokenizer, and the engine applies them. It gives text, token counts and
times; it gives no log-probabilities and no reason for stopping, which is read from the count of tokens.
"""

import platform
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import litert_lm

from bakeoff.backends.backend import REPEAT_WINDOW, Capabilities, Settings
from bakeoff.backends.litert.files import litert_file
from bakeoff.backends.litert.prompts import messages_of, sampler_fields, text_of
from bakeoff.backends.owner import Job, Owner
from bakeoff.errors import BackendDied, BackendError, BackendTimeout, UsageProblem
from bakeoff.hub import file_sha256
from bakeoff.records import Output, Prompt
from bakeoff.spec import ModelSpec

MOST_IMAGES = 8
"""Images that a prompt may have, for which the engine makes room; no sample of the tracks has more."""


class LitertBackend:
    """An engine on a thread of its own."""

    def __init__(self, file: Path, revision: str | None, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._owner = Owner[Job]("LiteRT-LM engine", settings.progress)
        self._conversation: Any = None
        began = time.perf_counter()
        device = litert_lm.Backend.GPU() if platform.system() == "Darwin" else litert_lm.Backend.CPU()
        try:
            with litert_lm.ModelInfo(str(file)) as info:
                sees = bool(info.input_modalities.vision)
            self._engine = litert_lm.Engine(
                str(file),
                device,
                max_num_tokens=settings.context_tokens,
                max_num_images=MOST_IMAGES if sees else None,
                vision_backend=device if sees else None,
                enable_benchmark=True,
            )
        except (RuntimeError, OSError) as error:
            raise UsageProblem(f"LiteRT-LM cannot load {file}: {error}") from error
        self.load_s = time.perf_counter() - began
        self.capabilities = Capabilities(max_images=MOST_IMAGES if sees else 0)
        self.identity: Mapping[str, Any] = {
            "runtime": "litert-lm",
            "runtime_version": f"litert-lm-api {_version()}",
            "device": device.get_name(),
            "weights": file.name,
            "weights_sha256": file_sha256(file),
            "weights_bytes": file.stat().st_size,
            "revision": revision,
        }
        self._owner.start(self._work, "LiteRT-LM does not start")

    def submit(self, prompt: Prompt) -> Future[Output]:
        """Queue a prompt."""
        return self._owner.submit(Job(prompt))

    def restart(self) -> None:
        """Do nothing, or raise BackendDied when the engine's thread has ended."""
        self._owner.restart()

    def close(self) -> None:
        """Cancel the answer in work and free the engine; what is queued fails with BackendDied."""
        self._owner.closed.set()
        self._cancel()
        self._owner.close()

    def _work(self, ready: Callable[[], None]) -> None:
        ready()
        for job in self._owner.jobs():
            job.settle(self._answer)
        self._engine.close()

    def _answer(self, job: Job) -> Output:
        prompt, began = job.prompt, time.perf_counter()
        *before, last = messages_of(prompt)
        penalty = prompt.sampling.repetition_penalty
        has_run_out = threading.Event()
        conversation = self._engine.create_conversation(
            messages=before,
            automatic_tool_calling=False,
            sampler_config=litert_lm.SamplerConfig(**sampler_fields(prompt.sampling, prompt.seed)),
            thinking_config=_thinking(prompt),
            max_output_tokens=prompt.max_tokens,
        )
        with conversation:
            with self._lock:
                if self._owner.closed.is_set():
                    raise BackendDied("the LiteRT-LM engine was closed")
                self._conversation = conversation
            timer = threading.Timer(self._settings.timeout_s, self._run_out, (has_run_out,))
            timer.start()
            try:
                message = conversation.send_message(
                    last,
                    repetition_penalty_config=litert_lm.RepetitionPenaltyConfig(
                        repetition_penalty=penalty, window_size=REPEAT_WINDOW
                    )
                    if penalty
                    else None,
                )
                info = conversation.get_benchmark_info()
            except RuntimeError as error:
                raise self._meant(error, has_run_out) from error
            finally:
                timer.cancel()
                with self._lock:  # nobody may cancel what is being freed
                    self._conversation = None
        if has_run_out.is_set() or self._owner.closed.is_set():  # what was cancelled may come back as a short answer
            raise self._meant(RuntimeError("cancelled"), has_run_out)
        text, has_thoughts = text_of(message)
        ended = time.perf_counter()
        return Output(
            text=text,
            finish_reason="length" if info.last_decode_token_count >= prompt.max_tokens else "stop",
            prompt_tokens=info.last_prefill_token_count or None,
            completion_tokens=info.last_decode_token_count,
            thinking=has_thoughts or None,
            queue_s=began - job.queued_at,
            ttft_s=info.time_to_first_token_in_second or None,
            prefill_s=_took(info.last_prefill_token_count, info.last_prefill_tokens_per_second),
            decode_s=_took(info.last_decode_token_count, info.last_decode_tokens_per_second),
            total_s=ended - began,
        )

    def _cancel(self) -> None:
        with self._lock:
            if self._conversation is not None:
                self._conversation.cancel_process()

    def _run_out(self, has_run_out: threading.Event) -> None:
        has_run_out.set()
        self._cancel()

    def _meant(self, error: Exception, has_run_out: threading.Event) -> BackendError:
        """Return what an error of the engine means: that we cancelled it, or its own words."""
        if has_run_out.is_set():
            return BackendTimeout(f"no answer within {self._settings.timeout_s:g} s; allow more with --timeout")
        if self._owner.closed.is_set():
            return BackendDied("the LiteRT-LM engine was closed")
        return BackendError(f"LiteRT-LM: {error}")


def open_backend(spec: ModelSpec, settings: Settings) -> LitertBackend:
    """Load a `.litertlm` file, from the disk or the hub.

    Raises:
        UsageProblem: when there is no such file, or the engine cannot load it.
    """
    file, revision = litert_file(spec)
    settings.progress(f"loading {file.name} with LiteRT-LM")
    return LitertBackend(file, revision, settings)


def _thinking(prompt: Prompt) -> Any:
    if prompt.thinking == "default":
        return None
    return litert_lm.ThinkingConfig(enable_thinking=prompt.thinking == "on")


def _took(tokens: int, per_s: float) -> float | None:
    return tokens / per_s if tokens and per_s else None


def _version() -> str:
    try:
        return version("litert-lm-api")
    except PackageNotFoundError:
        return "of no installed package"
