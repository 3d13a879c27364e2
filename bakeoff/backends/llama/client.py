"""Talks HTTP with a llama.cpp server: every failure is one of the BackendErrors, and one connection serves a thread."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import requests

from bakeoff.backends.llama.server import is_healthy, props
from bakeoff.backends.loopback import session_for
from bakeoff.errors import BackendDied, BackendError, BackendTimeout, ContextOverflow

RETURN_TIMEOUT_S = 60.0
"""How long to wait for a server that died to be back."""

_UNAVAILABLE = 503
"""What a server answers while it loads its model: it died and is being brought back."""


class LlamaClient:
    """Asks one server, from any thread."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        self.url = url
        self.props = props(url)
        self._timeout_s = timeout_s
        self._local = threading.local()

    @property
    def marker(self) -> str:
        """What stands for an image in a rendered prompt; a server that was brought back may have another."""
        return str(self.props.get("media_marker", ""))

    @property
    def slot_tokens(self) -> int:
        """How many tokens one slot of the server holds; 0 when it does not tell."""
        return int(self.props.get("default_generation_settings", {}).get("n_ctx", 0))

    @property
    def total_slots(self) -> int:
        """How many slots the server has; 0 when it does not tell."""
        return int(self.props.get("total_slots", 0))

    def wait_until_back(self, is_hopeless: Callable[[], bool]) -> None:
        """Wait until the server's owner has brought it back.

        Raises:
            BackendDied: when it does not come back.
        """
        deadline = time.monotonic() + RETURN_TIMEOUT_S
        while time.monotonic() < deadline and not is_hopeless():
            if is_healthy(self.url):
                self.props = props(self.url)
                return
            time.sleep(0.1)
        raise BackendDied(f"the llama.cpp server at {self.url} did not come back")

    def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask the server.

        Raises:
            BackendError: when the server refuses; BackendTimeout, BackendDied, ContextOverflow where it is one of them.
        """
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
        problem = reply.get("error", reply)
        message = str(problem.get("message", reply)) if isinstance(problem, dict) else str(problem)
        if answer.status_code == _UNAVAILABLE:
            raise BackendDied(f"the llama.cpp server at {self.url} is not up yet: {message}")
        kind = ContextOverflow if "context" in message and "exceed" in message else BackendError
        raise kind(f"{path} answered {answer.status_code}: {message}")

    @property
    def _session(self) -> requests.Session:
        """One connection a thread: sessions of requests are not thread-safe."""
        if not hasattr(self._local, "session"):
            self._local.session = session_for(self.url)
        session: requests.Session = self._local.session
        return session
