"""GGUF models on a llama.cpp server: `llama-server` from PATH, or the one inside xllamacpp.

The prompt is rendered by the server with the model's own template (`/apply-template`) and sent as that text with the
original image bytes (`/completion`): so it can be recorded, and the chat endpoint's output parser, which may answer
500 to an odd token, is not in the way. Where the chat endpoint makes other tokens of a prompt, it is asked instead.

Questions on one image follow each other on one slot and read the image once. A model that cannot go back to the end of
an image by itself is given a primer first: the prompt up to there, with nothing to generate.
"""

import time
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from bakeoff.backends.backend import Capabilities, Settings
from bakeoff.backends.llama.asking import Asker
from bakeoff.backends.llama.child import Launch
from bakeoff.backends.llama.client import LlamaClient
from bakeoff.backends.llama.identity import server_identity
from bakeoff.backends.llama.prompts import ImageStore, beginning_key, make_ready
from bakeoff.backends.llama.server import LlamaServer, find_binary
from bakeoff.backends.llama.slots import Job, Slots
from bakeoff.backends.llama.start import Manner, find_manner
from bakeoff.backends.memory import peak_memory_bytes
from bakeoff.errors import UsageProblem
from bakeoff.families import missing_flags
from bakeoff.hub import GgufFiles, gguf_files
from bakeoff.records import Output, Prompt
from bakeoff.spec import ModelSpec
from bakeoff.traces import Trace

MOST_SLOTS = 4
"""Slots without `--concurrency`. On the embedded checkpoint (120 questions on 30 images) the server spends 11 % less
CPU time on 4 slots than on 1, and images are decoded while other questions are answered.
"""

MOST_CONTEXT = 32_768
"""Tokens that all slots together hold without `--concurrency`; long prompts get fewer slots, and one at least."""

AHEAD = 8
"""Prompts that should wait for each slot, so that several images are at work where questions share them."""

_CLOSE_TIMEOUT_S = 5.0


class GgufBackend:
    """A client of one llama.cpp server, which it owns (`server`) or which another process owns."""

    def __init__(self, *, url: str, pid: int, slots: range, settings: Settings, server: LlamaServer | None) -> None:
        self.url = url
        self.server = server
        self.identity: Mapping[str, Any] = {}
        self.found: Mapping[str, Any] = {}
        self.load_s = server.load_s if server else 0.0
        self.capabilities = Capabilities(slots=len(slots), ahead=AHEAD * len(slots))
        self._pid = pid
        self._reuses = settings.image_reuse
        self._client = LlamaClient(url, timeout_s=settings.timeout_s)
        _check_slots(self._client, slots, settings)
        self.manner: Manner = find_manner(
            self._client.post,
            self._client.marker,
            has_images=settings.needs_images,
            reuse=settings.image_reuse,
            slot=slots[0],
        )
        self._images = ImageStore()
        self._next_key = ""
        self._is_closed = False
        self._slots = Slots(slots, recover=self.restart)
        self.asker = Asker(
            self._client,
            self.manner,
            is_followed=self._slots.is_followed,
            peak_memory=lambda: peak_memory_bytes(self.pid),
        )

    @property
    def pid(self) -> int:
        """Process that leads the server's group; another one after a crash."""
        return self.server.pid if self.server else self._pid

    def foresee(self, prompt: Prompt) -> None:
        """Take note of the prompt that comes after the next one."""
        self._next_key = self._key(prompt)

    def submit(self, prompt: Prompt) -> Future[Output]:
        """Queue a prompt; as many are answered at a time as this process has slots."""
        key, followed_by = self._key(prompt), self._next_key
        self._next_key = ""
        run = partial(self.asker.answer, prompt, time.perf_counter())
        is_followed = bool(key) and key == followed_by
        return self._slots.put(Job(run, key=key, is_followed=is_followed, ready=partial(self._ready, prompt)))

    def force(self, prompt: Prompt, tokens: tuple[int, ...]) -> Future[Trace]:
        """Queue a prompt whose answer is given, for the log-probabilities of its tokens."""
        if not tokens:
            done: Future[Trace] = Future()
            done.set_result(Trace())
            return done
        return self._slots.put(Job(partial(self.asker.force, prompt, tokens), ready=partial(self._ready, prompt)))

    def restart(self) -> None:
        """Wait until the server's owner has brought it back.

        Raises:
            BackendDied: when it does not come back.
        """
        self._client.wait_until_back(
            lambda: self._is_closed or (self.server is not None and self.server.is_beyond_help)
        )

    def close(self) -> None:
        """End the server if it is ours, which ends the requests in flight, then the threads."""
        self._is_closed = True
        self._slots.stop()
        if self.server:
            self.server.close()
            self._slots.join(_CLOSE_TIMEOUT_S)

    def _key(self, prompt: Prompt) -> str:
        return beginning_key(prompt) if self._reuses else ""

    def _ready(self, prompt: Prompt) -> Any:
        return make_ready(self._client.post, prompt, self._client.marker, self._images)


def open_backend(spec: ModelSpec, settings: Settings) -> GgufBackend:
    """Start a server for `spec`, or join the one at `settings.url`.

    Raises:
        UsageProblem: when a file is missing, a projector among them if images will be sent.
        BackendDied: when the server does not come up.
    """
    count = settings.concurrency or default_slots(settings.context_tokens)
    if settings.url:
        slots = range(settings.slot, settings.slot + count)
        return GgufBackend(url=settings.url, pid=settings.server_pid or 0, slots=slots, settings=settings, server=None)
    server, files = start_server(spec, settings, slots=count)
    try:
        backend = GgufBackend(url=server.url, pid=server.pid, slots=range(count), settings=settings, server=server)
        backend.identity = server_identity(server, files, endpoint=backend.manner.endpoint)
    except BaseException:
        server.close()
        raise
    return backend


def default_slots(context_tokens: int) -> int:
    """Return how many slots of `context_tokens` each are used where nobody says."""
    return max(1, min(MOST_SLOTS, MOST_CONTEXT // max(context_tokens, 1)))


def start_server(spec: ModelSpec, settings: Settings, *, slots: int) -> tuple[LlamaServer, GgufFiles]:
    """Start the server that answers for `spec` and return it with the files it loaded."""
    files = gguf_files(spec)
    if settings.needs_images and files.projector is None:
        raise UsageProblem(
            f"model {spec.name!r} has no projector (mmproj), and the selected samples have images.\n"
            f"Name it behind a comma: --model {files.weights},mmproj=<file>.gguf"
        )
    if settings.needs_images:
        _advise(spec, settings)
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


def _advise(spec: ModelSpec, settings: Settings) -> None:
    """Say what llama.cpp advises for images of this family and is not given."""
    for flag in missing_flags(spec.family, spec.backend, settings.server_args):
        typed = " ".join(f"--server-arg={word}" for word in flag.words)
        settings.progress(
            f"{spec.arm}: llama.cpp advises {' '.join(flag.words)} for {spec.family.name}: {flag.what} "
            f"({flag.source}). It is not set, as it makes images larger than other runtimes see them; "
            f"with a llama-server program add {typed}"
        )


def _check_slots(client: LlamaClient, slots: range, settings: Settings) -> None:
    """Compare the slots that the server has with those that were asked for.

    Raises:
        UsageProblem: when it has fewer, as it would put prompts into others without a word.
    """
    if 0 < client.total_slots < slots.stop:
        raise UsageProblem(
            f"the llama.cpp server has {client.total_slots} slots where {slots.stop} were asked for.\n"
            "Leave --parallel out of --server-arg and say --concurrency N instead"
        )
    if 0 < client.slot_tokens < settings.context_tokens:
        settings.progress(
            f"each slot holds {client.slot_tokens} tokens, and the longest prompt with its budget may need up to "
            f"{settings.context_tokens}: a sample that does not fit becomes an error, not a cut answer"
        )
