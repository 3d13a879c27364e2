"""One value a line of ASCII JSON: written always alike, read in one step where that is possible."""

import functools
import json
from typing import Any

import msgspec

_ENCODER = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def ascii_json(value: Any) -> str:
    """Return plain values as one line of ASCII JSON; raises ValueError for a float that is not finite."""
    return _ENCODER.encode(value)


def read_json(line: str, kind: Any) -> Any:
    """Read one line as `kind`; raises ValueError for what is no JSON or of another type.

    It is decoded straight into `kind`. What that refuses is read in two steps, which know lone surrogates and say what
    is wrong as ever.
    """
    try:
        return _decoder(kind).decode(line)
    except (msgspec.DecodeError, UnicodeError):
        return msgspec.convert(json.loads(line), kind)


@functools.cache
def _decoder(kind: Any) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(kind)
