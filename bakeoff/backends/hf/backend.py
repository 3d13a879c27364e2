"""The reference arm: transformers and torch, in float32 unless `#bf16` is asked for; slow and right.

`hf:<folder or owner/name>[@revision][#bf16]`, with the extra `reference` installed. One prompt at a time on one thread.
"""

import hashlib
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bakeoff.backends.backend import Capabilities, Settings
from bakeoff.backends.hf import model as hf_model
from bakeoff.backends.identity import weights_identity
from bakeoff.backends.owner import Job, Owner
from bakeoff.errors import BackendDied, BackendTimeout
from bakeoff.hub import model_folder, weights_sha256
from bakeoff.records import Output, Prompt
from bakeoff.spec import ModelSpec
from bakeoff.traces import Token, Trace


class HfBackend:
    """A model in this process; `--timeout` holds between tokens."""

    capabilities = Capabilities()

    def __init__(self, spec: ModelSpec, settings: Settings) -> None:
        folder, revision = model_folder(spec)
        self._owner = Owner[Job]("transformers model", settings.progress)
        began = time.perf_counter()
        self._loaded = hf_model.load(folder, spec.quant or "float32")
        self.load_s = time.perf_counter() - began
        self.identity = _identity(folder, revision, spec.quant or "float32", self._loaded)
        self._timeout_s = settings.timeout_s
        self._owner.start(self._work, "transformers does not start")

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
        """Stop at the next token; what is in flight fails with BackendDied."""
        self._owner.close()

    def _work(self, ready: Callable[[], None]) -> None:
        ready()
        for job in self._owner.jobs():
            job.settle(self._answer if job.tokens is None else self._force)

    def _answer(self, job: Job) -> Output:
        prompt, began = job.prompt, time.perf_counter()
        prepared = hf_model.prepare(self._loaded, prompt)
        first: list[float] = []

        def on_token() -> bool:
            first.append(time.perf_counter())
            if self._owner.closed.is_set():
                raise BackendDied("the model was closed")
            if first[-1] - began > self._timeout_s:
                raise BackendTimeout(f"no whole answer within {self._timeout_s:.0f} s")
            return False

        ids, tokens = hf_model.generate(self._loaded, prepared, prompt, on_token)
        ended = time.perf_counter()
        has_stopped = bool(ids) and ids[-1] in self._stops
        tokenizer = self._loaded.processor.tokenizer
        around = hf_model.text_ids(self._loaded, prepared.text)
        image_tokens = len(prepared.ids) - sum(token >= 0 for token in around) if prompt.images else 0
        return Output(
            text=str(tokenizer.decode(ids[:-1] if has_stopped else ids, skip_special_tokens=False)),
            finish_reason="stop" if has_stopped else "length",
            prompt_tokens=len(prepared.ids),
            image_tokens=image_tokens,
            completion_tokens=len(ids),
            cached_tokens=0,
            queue_s=began - job.queued_at,
            ttft_s=first[0] - began,
            decode_s=ended - first[0],
            total_s=ended - began,
            trace=self._trace(prompt, prepared, around, image_tokens, tokens) if prompt.top_logprobs else None,
        )

    def _trace(
        self,
        prompt: Prompt,
        prepared: hf_model.Prepared,
        around: tuple[int, ...],
        image_tokens: int,
        tokens: tuple[Token, ...],
    ) -> Trace:
        tokenizer = self._loaded.processor.tokenizer
        marker = str(getattr(self._loaded.processor, "image_token", "<image>"))
        bos = tokenizer.bos_token_id
        return Trace(
            rendered=prepared.text.removeprefix(str(tokenizer.bos_token or "")).replace(marker, "<image>"),
            text_ids=around,
            bos=None if bos is None else prepared.ids.count(bos),
            image_tokens=(image_tokens,) if len(prompt.images) == 1 else (),
            tokens=tokens,
        )

    def _force(self, job: Job) -> Trace:
        prompt, tokens = job.prompt, job.tokens
        if not tokens:
            return Trace()
        prepared = hf_model.prepare(self._loaded, prompt)
        return Trace(tokens=hf_model.read(self._loaded, prepared, tokens, prompt.top_logprobs))

    @property
    def _stops(self) -> frozenset[int]:
        stops = self._loaded.model.generation_config.eos_token_id
        return frozenset(stops if isinstance(stops, list) else [stops])


def open_backend(spec: ModelSpec, settings: Settings) -> HfBackend:
    """Load a model with transformers.

    Raises:
        UsageProblem: when there is no such model, or it cannot be loaded.
    """
    settings.progress(f"loading {spec.location} with transformers")
    return HfBackend(spec, settings)


def _identity(folder: Path, revision: str | None, dtype: str, loaded: hf_model.Loaded) -> Mapping[str, Any]:
    files = sorted(folder.glob("*.safetensors"))
    template = getattr(loaded.processor, "chat_template", None) or loaded.processor.tokenizer.chat_template
    return {
        "runtime": "transformers",
        "runtime_version": f"transformers {version('transformers')}, torch {version('torch')}",
        "dtype": dtype,
        "image_processor": loaded.image_processor,
        "weights": folder.name,
        "weights_sha256": weights_sha256(files),
        "weights_bytes": sum(file.stat().st_size for file in files),
        "config_sha256": hashlib.sha256((folder / "config.json").read_bytes()).hexdigest(),
        "revision": revision,
        "template_sha256": hashlib.sha256(str(template).encode()).hexdigest(),
        **weights_identity(folder),
    }
