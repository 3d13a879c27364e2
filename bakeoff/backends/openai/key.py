"""The key for OpenAI-compatible servers: read from the environment, sent in one header, never shown anywhere else."""

import json
import os
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import requests

from bakeoff.backends.loopback import is_loopback
from bakeoff.errors import UsageProblem

OWN, COMMON = "BAKEOFF_API_KEY", "OPENAI_API_KEY"
"""`OWN` goes to every server named; `COMMON`, which many people have set for one company, not over plain HTTP."""

SECRET_LENGTH = 12
"""Characters from which on a key is taken for a secret. A shorter one, such as `none`, is a stand-in for a server that
wants any, and may well be a word of an answer."""

Hide = Callable[[str], str]
"""Returns a text without the key."""

_HIDDEN = "***"


class Key:
    """A key that cannot be printed by accident; without one, nothing is sent and nothing is hidden."""

    __slots__ = ("_forms", "_text")

    def __init__(self, text: str | None) -> None:
        self._text = (text or "").strip() or None
        if self._text and not (self._text.isascii() and self._text.isprintable()):
            raise UsageProblem(f"the key in {OWN} or {COMMON} has characters that no HTTP header can carry")
        self._forms = _forms(self._text) if self._text else ()

    def __repr__(self) -> str:
        return f"Key({_HIDDEN})"

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Sign a request; being an `auth` of requests also keeps a .netrc file out of it."""
        if self._text:
            request.headers["Authorization"] = f"Bearer {self._text}"
        return request

    def hide(self, text: str) -> str:
        """Return `text` with the key, as it is or quoted for a URL, JSON or Python, replaced by stars.

        For what is told or kept beside answers: errors, notes, logs, identities.
        """
        for form in self._forms:
            text = text.replace(form, _HIDDEN)
        return text

    def hide_secret(self, text: str) -> str:
        """Return `text` without the key where that is long enough for a secret, else as it is: for answers."""
        return self.hide(text) if self._text and len(self._text) >= SECRET_LENGTH else text


def key_for(url: str, environment: Mapping[str, str] = os.environ) -> Key:
    """Return the key to send to `url`."""
    is_private = urlsplit(url).scheme == "https" or is_loopback(url)
    return Key(environment.get(OWN) or (environment.get(COMMON) if is_private else None))


def without_key(value: Any, hide: Hide, hide_name: Hide = str) -> Any:
    """Return a JSON value with every text in it passed through `hide`, and names of fields through `hide_name`."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list):
        return [without_key(entry, hide, hide_name) for entry in value]
    if isinstance(value, dict):
        return {hide_name(name): without_key(entry, hide, hide_name) for name, entry in value.items()}
    return value


def _forms(text: str) -> tuple[str, ...]:
    """Return how a key may be written, the longest form first, since one may be a part of another."""
    as_json = json.dumps(text)[1:-1]
    forms = {text, quote(text, safe=""), as_json, as_json.replace("/", "\\/"), repr(text)[1:-1]}
    return tuple(sorted(forms, key=len, reverse=True))
