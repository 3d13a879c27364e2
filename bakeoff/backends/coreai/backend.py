"""LFM2-VL compiled for Core AI, on macOS 27 and later: a vision and a decoder function, one prompt at a time.

One thread owns the runtime, its event loop and both functions. An image is one view of fixed size and a prompt has at
most one; prompt and budget must fit the positions that the decoder was compiled with. See docs/coreai.md.
"""

import hashlib
import platform
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bakeoff.backends.backend import Capabilities, Settings
from bakeoff.backends.coreai.compile import compiled
from bakeoff.backends.coreai.decoder import CHUNK, Decoder
from bakeoff.backends.coreai.files import Files, bundle_sha256, find_files, texts_sha256
from bakeoff.backends.coreai.prompts import Texts
from bakeoff.backends.coreai.runtime import Function, Runtime
from bakeoff.backends.coreai.shape import read_norms, read_shape
from bakeoff.backends.coreai.where import why_not_here
from bakeoff.backends.coreai.work import Answerer
from bakeoff.backends.owner import Job, Owner
from bakeoff.errors import UsageProblem
from bakeoff.hashing import hash_json
from bakeoff.records import Output, Prompt
from bakeoff.spec import ModelSpec
from bakeoff.traces import Trace


class CoreAiBackend:
    """Both functions on a thread of their own."""

    capabilities = Capabilities(max_images=1, slots=1)

    def __init__(self, files: Files, settings: Settings) -> None:
        self._files = files
        self._settings = settings
        self._vision_sha256, self._decoder_sha256 = bundle_sha256(files.vision), bundle_sha256(files.decoder)
        self._choices = compiled(
            files.decoder, self._decoder_sha256, log_path=settings.log_path, progress=settings.progress
        )
        self._owner = Owner[Job]("Core AI model", settings.progress)
        self.load_s = self._owner.start(self._work, "Core AI cannot load it")

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
        """Stop after the call in work; prompts that are queued or half answered fail with BackendDied."""
        self._owner.close()

    def _work(self, ready: Callable[[], None]) -> None:
        with Runtime() as runtime:
            answerer = self._load(runtime)
            ready()
            for job in self._owner.jobs():
                job.settle(answerer.answer)
            del answerer  # before its runtime

    def _load(self, runtime: Runtime) -> Answerer:
        shape, settings = read_shape(self._files.texts), self._settings
        texts = Texts(self._files.texts, shape)
        vision = runtime.load(self._files.vision)
        vision.expect({"patches": shape.patches}, {})
        decoder = Decoder(_first_that_loads(runtime, self._choices), shape)
        self.identity: Mapping[str, Any] = self._identity(texts, decoder)
        kept = settings.reuse_bytes // (2 * shape.image_tokens * shape.hidden) if settings.image_reuse else 0
        return Answerer(
            texts,
            vision,
            decoder,
            shape=shape,
            norms=read_norms(self._files.texts),
            kept_images=kept,
            timeout_s=settings.timeout_s,
            is_closed=self._owner.closed.is_set,
        )

    def _identity(self, texts: Texts, decoder: Decoder) -> Mapping[str, Any]:
        files = self._files
        return {
            "runtime": "coreai",
            "runtime_version": f"coreai-core {_version()}, macOS {platform.mac_ver()[0]}",
            "weights": files.decoder.stem,
            "weights_sha256": hash_json([self._vision_sha256, self._decoder_sha256]),
            "vision": files.vision.stem,
            "compiled": decoder.function.path.name,
            "chunk": CHUNK if decoder.takes_chunks is not False else 1,
            "positions": decoder.positions,
            "revision": files.revision,
            "texts_revision": files.texts_revision,
            "texts_sha256": texts_sha256(files.texts),
            "template_sha256": hashlib.sha256(texts.template.encode()).hexdigest(),
        }


def open_backend(spec: ModelSpec, settings: Settings) -> CoreAiBackend:
    """Load a Core AI model, compiling its decoder the first time.

    Raises:
        UsageProblem: when Core AI does not run here, or the model is missing or cannot be compiled or loaded.
    """
    reason = why_not_here()
    if reason is not None:
        raise UsageProblem(f"model {spec.name!r} cannot run: {reason}.\nSee what can with: bakeoff models")
    settings.progress(f"loading {spec.location} with Core AI")
    return CoreAiBackend(find_files(spec), settings)


def _first_that_loads(runtime: Runtime, choices: list[Path]) -> Function:
    """Return the decoder compiled for the newest GPU family that this machine takes."""
    reasons = []
    for path in choices:
        try:
            return runtime.load(path)
        except Exception as error:  # noqa: BLE001 - one for another GPU family fails in ways that are not documented
            reasons.append(f"{path.name}: {error}")
    raise UsageProblem("no compiled form of the decoder loads on this machine:\n" + "\n".join(reasons))


def _version() -> str:
    try:
        return version("coreai-core")
    except PackageNotFoundError:
        return "of no installed package"
