"""What the engine may ask of a runtime: the Backend protocol and the settings a backend is opened with."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec

from bakeoff.records import Output, Prompt
from bakeoff.traces import Trace

REPEAT_WINDOW = 64
"""How many of the latest tokens a repetition penalty looks at, on every runtime."""


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a backend can do.

    `max_images` per prompt, None for no limit; `slots` is how many prompts it answers at the same time; `ahead` is how
    many more it wants to have waiting, to choose from and to make ready, None where the engine decides.
    """

    max_images: int | None = None
    slots: int = 1
    ahead: int | None = None


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a backend is opened.

    `context_tokens` is what one prompt with its budget may need at most; `log_path` takes the runtime's own output;
    `reuse_bytes` bounds what a backend keeps in this process for the next question on an image;
    `url` joins a server that another process owns instead of starting one, `server_pid` is that server, and `slot` the
    first of its slots that belongs to this process, `found` what its owner found out about it, as plain JSON;
    `progress` is told in words what the backend waits for.
    """

    context_tokens: int
    log_path: Path
    needs_images: bool = True
    concurrency: int | None = None
    image_reuse: bool = True
    reuse_bytes: int = 2**30
    timeout_s: float = 600.0
    start_timeout_s: float = 600.0
    llama_server: str | None = None
    server_args: tuple[str, ...] = ()
    url: str | None = None
    server_pid: int | None = None
    slot: int = 0
    found: Mapping[str, Any] = {}
    progress: Callable[[str], None] = print


class Backend(Protocol):
    """A loaded model that answers prompts. All methods may be called from any thread."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """What can move a score: weights by hash, runtime by version, the template. Plain JSON values."""

    @property
    def load_s(self) -> float:
        """How long loading took, in seconds."""

    def submit(self, prompt: Prompt) -> Future[Output]:
        """Queue a prompt; the future gives its Output or raises a BackendError that concerns this prompt alone."""

    def restart(self) -> None:
        """Bring a dead runtime back, if it has to be brought back; raises BackendDied when that fails."""

    def close(self) -> None:
        """Free everything, surely and soon. Prompts in flight fail with BackendDied. Closing twice is fine."""


@runtime_checkable
class ForesightedBackend(Protocol):
    """A backend that can make use of knowing what comes next, such as whether an image is asked about again."""

    def foresee(self, prompt: Prompt) -> None:
        """Take note that `prompt` comes after the one that is submitted next."""


@runtime_checkable
class ServedBackend(Protocol):
    """A backend whose model lives in a server of its own, which other processes can join."""

    @property
    def url(self) -> str:
        """Base address of the server."""

    @property
    def pid(self) -> int:
        """Process that leads the server's group."""

    @property
    def found(self) -> Mapping[str, Any]:
        """What another process that joins need not find out again, as plain JSON; empty where that is nothing."""


@runtime_checkable
class ForcedBackend(Protocol):
    """A backend that can say how likely it holds tokens that are put into its mouth."""

    def force(self, prompt: Prompt, tokens: tuple[int, ...]) -> Future[Trace]:
        """Read `prompt`, then `tokens` one after the other; the Trace has one Token for each, with its candidates.

        The future raises BackendError where the runtime cannot do that.
        """
