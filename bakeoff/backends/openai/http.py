"""Servers that share a load: which one is asked next, what is tried again, and how long to wait before that."""

import datetime as dt
import email.utils
import errno
import random
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import requests

from bakeoff.backends.loopback import session_for
from bakeoff.backends.openai.api import failure, first_choice
from bakeoff.backends.openai.key import Hide, Key, key_for, without_key
from bakeoff.errors import BackendDied, BackendError, BackendTimeout

TRIES = 5
"""How often a request is sent before its sample is an error."""

TRIES_IN_TIME = 2
"""How often a request may run into the timeout."""

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 30.0
_LONGEST_REST = 64
_TRY_AGAIN = frozenset({408, 429})
_OK, _SERVER_ERROR = 200, 500


class Reply(NamedTuple):
    """A reply that needs no other try: its status, below 500, and its JSON.

    The JSON is as the server sent it, but for a key that is a secret; errors made of it hide every key.
    """

    status: int
    body: Any
    hide: Hide

    def choice(self) -> Mapping[str, Any]:
        """Return the answer of the reply.

        Raises:
            BackendError: when the server refused, or gave no answer.
        """
        if self.status != _OK or not isinstance(self.body, dict):
            raise self.failure()
        return first_choice(self.body, self.hide)

    def failure(self) -> BackendError:
        """Return the error that the reply tells of."""
        return failure(self.body, self.status, self.hide)


class _Failed(NamedTuple):
    error: BackendError
    wait_s: float | None = None
    is_slow: bool = False


class Servers:
    """Base addresses of the same model. Threads may ask at the same time; each has connections of its own.

    The address with the fewest requests in flight is asked. One that failed is left out for the next few requests,
    twice as many after each failure in a row, as long as there are others.
    """

    def __init__(self, urls: tuple[str, ...], *, timeout_s: float, note: Callable[[str], None]) -> None:
        self.urls = urls
        self._keys: Mapping[str, Key] = {url: key_for(url) for url in urls}
        self._timeout_s = timeout_s
        self._note = note
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._local = threading.local()
        self._asked = 0
        self._flying = dict.fromkeys(urls, 0)
        self._failures = dict.fromkeys(urls, 0)
        self._rests_until = dict.fromkeys(urls, 0)
        self._turn = {url: number - len(urls) for number, url in enumerate(urls)}

    def hide(self, text: str) -> str:
        """Return a text without any key, for what is told or kept beside answers."""
        for key in self._keys.values():
            text = key.hide(text)
        return text

    def hide_secrets(self, text: str) -> str:
        """Return a text without any key that is long enough for a secret, for what answers are read from."""
        for key in self._keys.values():
            text = key.hide_secret(text)
        return text

    def pause(self, wait_s: float) -> bool:
        """Wait, at most until `close`; return whether that came."""
        return self._closed.wait(wait_s)

    def close(self) -> None:
        """End all waits."""
        self._closed.set()

    def post(self, path: str, body: Mapping[str, Any], *, only: str | None = None) -> Reply:
        """Ask one of the servers, or `only` that one, until a reply is final.

        Raises:
            BackendDied: when no server was reached in the last try, or it cut the connection, or this client is closed.
            BackendTimeout: when `TRIES_IN_TIME` tries took longer than allowed.
            BackendError: when the tries are used up, or a reply is no JSON.
        """
        slow = 0
        for number in range(1, TRIES + 1):
            url = only or self._take()
            found: Reply | _Failed | None = None
            try:
                found = self._try(url, path, body)
            finally:
                self._give_back(url, has_failed=not isinstance(found, Reply), is_taken=only is None)
            if isinstance(found, Reply):
                return found
            slow += found.is_slow
            wait_s = self._wait_s(number) if found.wait_s is None else found.wait_s
            is_over = number == TRIES or slow == TRIES_IN_TIME or (found.wait_s or 0.0) > self._timeout_s
            self._note(f"{url}: try {number}: {found.error}" + ("" if is_over else f"; again in {wait_s:.1f} s"))
            if is_over:
                raise found.error
            if self.pause(wait_s):
                raise BackendDied("the client was closed before the answer came")
        raise AssertionError("the last try is over")

    def get(self, url: str, address: str) -> Any:
        """Return the JSON at an address on the host of the base address `url`, None where there is none.

        It is as the server sent it: what is kept or told of it has to pass `hide`.
        """
        try:
            answer = self._session(url).get(address, auth=self._keys[url], timeout=10, allow_redirects=False)
            return answer.json() if answer.ok else None
        except (requests.RequestException, ValueError):
            return None

    def is_reachable(self, url: str) -> bool:
        """Return whether anything answers at a base address."""
        try:
            answer = self._session(url).get(f"{url}/models", auth=self._keys[url], timeout=10, allow_redirects=False)
        except requests.RequestException:
            return False
        return answer.status_code < _SERVER_ERROR

    def _try(self, url: str, path: str, body: Mapping[str, Any]) -> Reply | _Failed:
        try:
            answer = self._session(url).post(
                url + path, json=body, auth=self._keys[url], timeout=(10, self._timeout_s), allow_redirects=False
            )
        except requests.ReadTimeout as error:
            return self._timed_out(url, error)
        except requests.ConnectTimeout:
            return _Failed(BackendDied(f"{url} cannot be reached"))
        except requests.RequestException as error:
            return _Failed(BackendDied(self.hide(f"{url} cannot be reached or cut the connection: {error}")))
        text = self.hide(answer.text)
        if answer.status_code in _TRY_AGAIN or answer.status_code >= _SERVER_ERROR:
            message = f"{url} answered {answer.status_code}: {text[:300]}"
            return _Failed(BackendError(message), wait_s=_asked_wait_s(answer.headers.get("Retry-After")))
        try:
            return Reply(answer.status_code, without_key(answer.json(), self.hide_secrets), self.hide)
        except ValueError:
            if answer.status_code != _OK:
                return Reply(answer.status_code, text[:300], self.hide)
            raise BackendError(f"{url} answered without JSON: {text[:200]!r}") from None

    def _timed_out(self, url: str, error: requests.ReadTimeout) -> _Failed:
        if _is_cut(error):
            return _Failed(BackendDied(f"{url} cannot be reached any more: the connection was cut in a wait"))
        return _Failed(BackendTimeout(f"no answer from {url} within {self._timeout_s:.0f} s"), is_slow=True)

    def _take(self) -> str:
        with self._lock:
            self._asked += 1
            awake = [url for url in self.urls if self._rests_until[url] <= self._asked] or self.urls
            url = min(awake, key=lambda url: (self._flying[url], self._turn[url]))
            self._flying[url] += 1
            self._turn[url] = self._asked
            return url

    def _give_back(self, url: str, *, has_failed: bool, is_taken: bool) -> None:
        with self._lock:
            self._flying[url] -= is_taken
            self._failures[url] = self._failures[url] + 1 if has_failed else 0
            if has_failed:
                self._rests_until[url] = self._asked + 1 + min(2 ** self._failures[url], _LONGEST_REST)

    @staticmethod
    def _wait_s(number: int) -> float:
        """Return a wait that doubles with every try, by chance between a half and the whole of it."""
        whole = min(FIRST_WAIT_S * 2.0 ** (number - 1), LONGEST_WAIT_S)
        return whole * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, keeps no secret

    def _session(self, url: str) -> requests.Session:
        """Connections of this thread to one server: sessions of requests are not thread-safe."""
        if not hasattr(self._local, "sessions"):
            self._local.sessions = {}
        sessions: dict[str, requests.Session] = self._local.sessions
        if url not in sessions:
            sessions[url] = session_for(url)
        return sessions[url]


def _is_cut(error: BaseException | None) -> bool:
    """Return whether the system gave the connection up, which looks like a timeout of ours but for its number."""
    while error is not None:
        if isinstance(error, TimeoutError) and error.errno == errno.ETIMEDOUT:
            return True
        error = error.__cause__ or error.__context__
    return False


def _asked_wait_s(header: str | None) -> float | None:
    """Return the wait that a `Retry-After` header asks for, in seconds or until a date; None without one."""
    if not header:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        until = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (until - dt.datetime.now(dt.UTC)).total_seconds()) if until.tzinfo else None
