r"""Reads JSON values out of running text: at each bracket one is tried, and what is not JSON is skipped.

Written by hand because a standard decoder fails on depth with an exception, or takes quadratic time, when it is
started again at every bracket of `[[[[...`. Values nested deeper than `MAX_DEPTH` are not read; answers are not.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

MAX_DEPTH: Final = 8

_OPENER = re.compile(r"[\[{]")
_TOKEN = re.compile(
    r"""[ \t\r\n]*+(?:
        (?P<mark>[\[\]{},:])
      | "(?P<string>(?:[^"\\]++|\\.)*+)"
      | (?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?)(?![0-9.])
      | (?P<word>true|false|null|NaN|-?Infinity)
    )""",
    re.VERBOSE | re.DOTALL,
)


class Number(msgspec.Struct, frozen=True):
    """A JSON number as it is written."""

    text: str


class _Bad(msgspec.Struct, frozen=True):
    """A value that is neither a number nor a container: text, a truth value, null, NaN, an infinity."""


BAD: Final = _Bad()

Json = Number | _Bad | list["Json"] | dict[str, "Json"]


class _NotJson(Exception):
    """What begins here is no JSON value."""


def read_values(text: str) -> Iterator[Json]:
    """Yield every list and object that is valid JSON, in the order of their opening brackets, nested ones too."""
    last = {"[": text.rfind("]"), "{": text.rfind("}")}
    for start in _OPENER.finditer(text):
        if start.start() > last[start.group()]:
            continue  # never closed: spares runaway output eight tokens a bracket
        try:
            value, _ = _read_value(text, start.start(), 0)
        except _NotJson:
            continue
        yield value


def _read_value(text: str, position: int, depth: int) -> tuple[Json, int]:
    """Read the value at `position`; return it and where it ends."""
    token = _next(text, position)
    if token["mark"] == "[":
        return _read_list(text, token.end(), depth + 1)
    if token["mark"] == "{":
        return _read_object(text, token.end(), depth + 1)
    if token["mark"] is not None:
        raise _NotJson
    return (BAD if token["number"] is None else Number(token["number"])), token.end()


def _read_list(text: str, position: int, depth: int) -> tuple[Json, int]:
    """Read the rest of a list after its bracket."""
    if depth > MAX_DEPTH:
        raise _NotJson
    items: list[Json] = []
    token = _next(text, position)
    if token["mark"] == "]":
        return items, token.end()
    while True:
        item, position = _read_value(text, position, depth)
        items.append(item)
        token = _next(text, position)
        position = token.end()
        if token["mark"] == "]":
            return items, position
        if token["mark"] != ",":
            raise _NotJson


def _read_object(text: str, position: int, depth: int) -> tuple[Json, int]:
    """Read the rest of an object after its brace."""
    if depth > MAX_DEPTH:
        raise _NotJson
    members: dict[str, Json] = {}
    token = _next(text, position)
    if token["mark"] == "}":
        return members, token.end()
    while True:
        key, colon = token["string"], _next(text, token.end())
        if key is None or colon["mark"] != ":":
            raise _NotJson
        members[key], position = _read_value(text, colon.end(), depth)
        token = _next(text, position)
        if token["mark"] == "}":
            return members, token.end()
        if token["mark"] != ",":
            raise _NotJson
        token = _next(text, token.end())


def _next(text: str, position: int) -> re.Match[str]:
    """Return the token at `position`."""
    token = _TOKEN.match(text, position)
    if token is None:
        raise _NotJson
    return token
