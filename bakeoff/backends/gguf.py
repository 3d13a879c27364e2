"""GGUF models on a llama.cpp server: `llama-server` from PATH, or the one inside xllamacpp.

The prompt is rendered by the server with the model's own template (`/apply-template`) and sent as that text with the
original image bytes (`/completion`): so it can be recorded, and the chat endpoint's output parser, which may answer
500 to an odd token, is not in the way.
"""

import base64
import hashlib
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal

import requests

from bakeoff.backends.backend import Capabilities, Settings
from bakeoff.backends.identity import weights_identity
from bakeoff.backends.images import image_bytes
from bakeoff.backends.llama_api import (
    completion_request,
    content_of,
    forced_request,
    rendered_prompt,
    text_ids,
    token_count,
    tokens_of,
)
from bakeoff.backends.llama_child import Launch
from bakeoff.backends.llama_server import LlamaServer, find_binary, is_healthy, props
from bakeoff.backends.memory import peak_memory_bytes
from bakeoff.errors import BackendDied, BackendError, BackendTimeout, ContextOverflow, UsageProblem
from bakeoff.hub import GgufFiles, file_sha256, gguf_files
from bakeoff.models import ModelSpec
from bakeoff.records import Output, Prompt
from bakeoff.traces import Trace

RETURN_TIMEOUT_S = 60.0
"""How long to wait for a server that died to be back."""


class GgufBackend:
    """A client of one llama.cpp server, which it owns (`server`) or which another process owns."""

    def __init__(
        self,
        *,
        url: str,
        pid: int,
        slots: int,
        identity: Mapping[str, Any],
        timeout_s: float,
        server: LlamaServer | None = None,
    ) -> None:
        self.url = url
        self.pid = pid
        self.server = server
        self.capabilities = Capabilities(slots=slots)
        self.identity = identity
        self.load_s = server.load_s if server else 0.0
        self._timeout_s = timeout_s
        self._marker = str(props(url).get("media_marker", ""))
        self._local = threading.local()
        self._pool = ThreadPoolExecutor(max_workers=slots, thread_name_prefix="llama.cpp client")

    def submit(self, prompt: Prompt) -> Future[Output]:
        """Queue a prompt; as many are in flight as the server has slots."""
        return self._pool.submit(self._answer, prompt, time.perf_counter())

    def force(self, prompt: Prompt, tokens: tuple[int, ...]) -> Future[Trace]:
        """Queue a prompt whose answer is given, for the log-probabilities of its tokens."""
        return self._pool.submit(self._force, prompt, tokens)

    def restart(self) -> None:
        """Wait until the server's owner has brought it back.

        Raises:
            BackendDied: when it does not come back.
        """
        deadline = time.monotonic() + RETURN_TIMEOUT_S
        while time.monotonic() < deadline and not (self.server and self.server.is_beyond_help):
            if is_healthy(self.url):
                self._marker = str(props(self.url).get("media_marker", ""))
                return
            time.sleep(0.1)
        raise BackendDied(f"the llama.cpp server at {self.url} did not come back")

    def close(self) -> None:
        """End the server if it is ours, then the client threads."""
        if self.server:
            self.server.close()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _answer(self, prompt: Prompt, queued_at: float) -> Output:
        began = time.perf_counter()
        images = _encoded(prompt)
        text = rendered_prompt(self._post, prompt, self._marker)
        reply = self._post("/completion", completion_request(prompt, text, images))
        ended = time.perf_counter()
        timings = reply.get("timings", {})
        prompt_tokens = int(reply["tokens_evaluated"])
        text_tokens = token_count(self._post, text, self._marker)
        decode_s = float(timings.get("predicted_ms", 0.0)) / 1000
        return Output(
            text=content_of(reply),
            finish_reason=_finish_reason(reply),
            prompt_tokens=prompt_tokens,
            image_tokens=prompt_tokens - text_tokens if images else 0,
            completion_tokens=int(reply["tokens_predicted"]),
            cached_tokens=int(timings.get("cache_n", 0)),
            queue_s=began - queued_at,
            ttft_s=ended - began - decode_s,
            prefill_s=float(timings.get("prompt_ms", 0.0)) / 1000,
            decode_s=decode_s,
            total_s=ended - began,
            peak_memory_bytes=peak_memory_bytes(self.server.pid if self.server else self.pid),
            trace=self._trace(text, reply, prompt_tokens - text_tokens) if prompt.top_logprobs else None,
        )

    def _trace(self, text: str, reply: Mapping[str, Any], image_tokens: int) -> Trace:
        """Return what a probe asks for; the server counts the tokens of all images together."""
        ids = text_ids(self._post, text, self._marker)
        first = self._post("/tokenize", {"content": "", "add_special": True})["tokens"]
        is_one = text.count(self._marker) == 1
        return Trace(
            rendered=text.replace(self._marker, "<image>"),
            text_ids=ids,
            bos=ids.count(int(first[0])) if first else None,
            image_tokens=(image_tokens,) if is_one else (),
            tokens=tokens_of(reply),
        )

    def _force(self, prompt: Prompt, tokens: tuple[int, ...]) -> Trace:
        if not tokens:
            return Trace()
        text = rendered_prompt(self._post, prompt, self._marker)
        found = tokens_of(self._post("/completion", forced_request(prompt, text, _encoded(prompt), tokens)))
        if tuple(token.id for token in found[: len(tokens)]) != tokens:
            raise BackendError("this llama.cpp server does not follow a grammar of token ids")
        return Trace(tokens=found[: len(tokens)])

    def _post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the server; every failure is one of the BackendErrors."""
        try:
            answer = self._session.post(self.url + path, json=body, timeout=(10, self._timeout_s))
        except requests.ReadTimeout as error:
            raise BackendTimeout(f"no answer from the llama.cpp server within {self._timeout_s:.0f} s") from error
        except requests.RequestException as error:
            raise BackendDied(f"the llama.cpp server at {self.url} is gone: {error}") from error
        try:
            reply = dict(answer.json())
        except ValueError as error:
            raise BackendError(f"{path} answered {answer.status_code} without JSON: {answer.text[:200]!r}") from error
        if answer.ok:
            return reply
        message = str(reply.get("error", {}).get("message", reply))
        kind = ContextOverflow if "context" in message and "exceed" in message else BackendError
        raise kind(f"{path} answered {answer.status_code}: {message}")

    @property
    def _session(self) -> requests.Session:
        """One connection a thread: sessions of requests are not thread-safe."""
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
        session: requests.Session = self._local.session
        return session


def open_backend(spec: ModelSpec, settings: Settings) -> GgufBackend:
    """Start a server for `spec`, or join the one at `settings.url`.

    Raises:
        UsageProblem: when a file is missing, a projector among them if images will be sent.
        BackendDied: when the server does not come up.
    """
    slots = settings.concurrency or 1
    if settings.url:
        pid = settings.server_pid or 0
        return GgufBackend(url=settings.url, pid=pid, slots=slots, identity={}, timeout_s=settings.timeout_s)
    server, files = start_server(spec, settings, slots=slots)
    try:
        return GgufBackend(
            url=server.url,
            pid=server.pid,
            slots=slots,
            identity=server_identity(server, files),
            timeout_s=settings.timeout_s,
            server=server,
        )
    except BaseException:
        server.close()
        raise


def start_server(spec: ModelSpec, settings: Settings, *, slots: int) -> tuple[LlamaServer, GgufFiles]:
    """Start the server that answers for `spec` and return it with the files it loaded."""
    files = gguf_files(spec)
    if settings.needs_images and files.projector is None:
        raise UsageProblem(
            f"model {spec.name!r} has no projector (mmproj), and the selected samples have images.\n"
            f"Name it behind a comma: --model {files.weights},mmproj=<file>.gguf"
        )
    launch = Launch(
        binary=find_binary(settings.llama_server),
        host="127.0.0.1",
        port=0,
        weights=str(files.weights),
        projector=str(files.projector) if files.projector else None,
        context_tokens=settings.context_tokens * slots,
        slots=slots,
        extra=settings.server_args,
    )
    if launch.binary is None and launch.extra:
        raise UsageProblem(
            "--server-arg needs a llama-server program; the bundled server takes none. Name one with --llama-server"
        )
    server = LlamaServer(
        launch, log_path=settings.log_path, start_timeout_s=settings.start_timeout_s, progress=settings.progress
    )
    return server, files


def server_identity(server: LlamaServer, files: GgufFiles) -> dict[str, Any]:
    """Return what can move a score of this server: files by hash, build, template, context."""
    known = props(server.url)
    if not known.get("chat_template"):
        raise UsageProblem(f"{files.weights} has no chat template, so its prompts would be a guess")
    return {
        "runtime": "llama.cpp",
        "runtime_version": str(known.get("build_info", "unknown")) if server.launch.binary else _bundled_version(),
        "weights": files.weights.name,
        "weights_sha256": file_sha256(files.weights),
        "projector": files.projector.name if files.projector else None,
        "projector_sha256": file_sha256(files.projector) if files.projector else None,
        "revision": files.revision,
        "template_sha256": hashlib.sha256(str(known.get("chat_template", "")).encode()).hexdigest(),
        "weights_bytes": files.weights.stat().st_size + (files.projector.stat().st_size if files.projector else 0),
        "context_tokens": int(known.get("default_generation_settings", {}).get("n_ctx", 0)),
        "server_args": list(server.launch.extra),
        **weights_identity(files.weights, *([files.projector] if files.projector else [])),
    }


def _encoded(prompt: Prompt) -> list[str]:
    """Return the original bytes of the images in base64."""
    return [base64.b64encode(image_bytes(image)).decode("ascii") for image in prompt.images]


def _bundled_version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - only this branch needs it

    return f"xllamacpp {version('xllamacpp')}"


def _finish_reason(reply: Mapping[str, Any]) -> Literal["stop", "length"] | None:
    kinds: dict[str, Literal["stop", "length"]] = {"eos": "stop", "word": "stop", "limit": "length"}
    return kinds.get(str(reply.get("stop_type")))
