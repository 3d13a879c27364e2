"""Servers that share a load: which one is asked next, what is tried again, and how long to wait before that."""

import datetime as dt
import email.utils
import random
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import requests

from bakeoff.backends.openai_key import Key, key_for
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
    """A reply that needs no other try: its status, below 500, and its JSON."""

    status: int
    body: Any


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
        """Return a text without any key."""
        for key in self._keys.values():
            text = key.hide(text)
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
            BackendDied: when no server was reached in the last try, or it cut the connection.
            BackendTimeout: when `TRIES_IN_TIME` tries took longer than allowed.
            BackendError: when the tries are used up, or a reply is no JSON.
        """
        slow = 0
        for number in range(1, TRIES + 1):
            url = only or self._take()
            found = self._try(url, path, body)
            self._give_back(url, has_failed=isinstance(found, _Failed), is_taken=only is None)
            if isinstance(found, Reply):
                return found
            slow += found.is_slow
            wait_s = self._wait_s(number) if found.wait_s is None else found.wait_s
            is_over = number == TRIES or slow == TRIES_IN_TIME or (found.wait_s or 0.0) > self._timeout_s
            self._note(f"{url}: try {number}: {found.error}" + ("" if is_over else f"; again in {wait_s:.1f} s"))
            if is_over:
                raise found.error
            self.pause(wait_s)
        raise AssertionError("the last try is over")

    def get(self, url: str, address: str) -> Any:
        """Return the JSON at an address on the host of the base address `url`, None where there is none."""
        try:
            answer = self._session.get(address, auth=self._keys[url], timeout=10, allow_redirects=False)
            return _hidden(answer.json(), self.hide) if answer.ok else None
        except (requests.RequestException, ValueError):
            return None

    def is_reachable(self, url: str) -> bool:
        """Return whether anything answers at a base address."""
        try:
            answer = self._session.get(f"{url}/models", auth=self._keys[url], timeout=10, allow_redirects=False)
        except requests.RequestException:
            return False
        return answer.status_code < _SERVER_ERROR

    def _try(self, url: str, path: str, body: Mapping[str, Any]) -> Reply | _Failed:
        try:
            answer = self._session.post(
                url + path, json=body, auth=self._keys[url], timeout=(10, self._timeout_s), allow_redirects=False
            )
        except requests.ReadTimeout:
            return _Failed(BackendTimeout(f"no answer from {url} within {self._timeout_s:.0f} s"), is_slow=True)
        except requests.ConnectTimeout:
            return _Failed(BackendDied(f"{url} cannot be reached"))
        except requests.RequestException as error:
            return _Failed(BackendDied(self.hide(f"{url} cannot be reached or cut the connection: {error}")))
        text = self.hide(answer.text)
        if answer.status_code in _TRY_AGAIN or answer.status_code >= _SERVER_ERROR:
            message = f"{url} answered {answer.status_code}: {text[:300]}"
            return _Failed(BackendError(message), wait_s=_asked_wait_s(answer.headers.get("Retry-After")))
        try:
            return Reply(answer.status_code, _hidden(answer.json(), self.hide))
        except ValueError:
            if answer.status_code != _OK:
                return Reply(answer.status_code, text[:300])
            raise BackendError(f"{url} answered without JSON: {text[:200]!r}") from None

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

    @property
    def _session(self) -> requests.Session:
        """Connections of this thread: sessions of requests are not thread-safe."""
        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
        session: requests.Session = self._local.session
        return session


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


def _hidden(value: Any, hide: Callable[[str], str]) -> Any:
    """Return a JSON value with every text in it passed through `hide`."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list):
        return [_hidden(entry, hide) for entry in value]
    if isinstance(value, dict):
        return {hide(name): _hidden(entry, hide) for name, entry in value.items()}
    return value
