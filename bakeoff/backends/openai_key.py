"""The key for OpenAI-compatible servers: read from the environment, sent in one header, never shown anywhere else."""

import os
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

import requests

from bakeoff.errors import UsageProblem

OWN, COMMON = "BAKEOFF_API_KEY", "OPENAI_API_KEY"
"""`OWN` goes to every server named; `COMMON`, which many people have set for one company, not over plain HTTP."""

_HIDDEN = "***"
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Key:
    """A key that cannot be printed by accident; without one, nothing is sent and nothing is hidden."""

    __slots__ = ("_text",)

    def __init__(self, text: str | None) -> None:
        self._text = (text or "").strip() or None
        if self._text and not (self._text.isascii() and self._text.isprintable()):
            raise UsageProblem(f"the key in {OWN} or {COMMON} has characters that no HTTP header can carry")

    def __repr__(self) -> str:
        return f"Key({_HIDDEN})"

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Sign a request; being an `auth` of requests also keeps a .netrc file out of it."""
        if self._text:
            request.headers["Authorization"] = f"Bearer {self._text}"
        return request

    def hide(self, text: str) -> str:
        """Return `text` with the key, as it is or quoted for a URL, replaced by stars."""
        if not self._text:
            return text
        return text.replace(self._text, _HIDDEN).replace(quote(self._text, safe=""), _HIDDEN)


def key_for(url: str, environment: Mapping[str, str] = os.environ) -> Key:
    """Return the key to send to `url`."""
    address = urlsplit(url)
    is_private = address.scheme == "https" or address.hostname in _LOOPBACK
    return Key(environment.get(OWN) or (environment.get(COMMON) if is_private else None))
