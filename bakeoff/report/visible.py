"""Makes text that cannot be seen visible: control characters, direction marks, lone surrogates.

Model output goes through here before it is written anywhere. What comes out can be encoded as UTF-8, does not move a
cursor, does not turn a line around, and keeps what was said recognisable. It is *not* escaped for HTML or Markdown.
"""

import re
from typing import Any

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and line feed
    "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"  # marks of direction, separators, invisible operators
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U000e0000-\U000e007f]"  # tags, which spell out hidden ASCII
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_DELETE = 0x7F
_CONTROL_PICTURES = 0x2400
_SPACE = 0x20


def visible(text: str) -> str:
    r"""Return `text` with everything unseen shown; tab and line feed stay. ESC becomes \u241b, U+202E ⟨U+202E⟩."""
    return _HIDDEN.sub(_name, text)


def visible_line(text: str) -> str:
    r"""Return `text` as one line: as `visible`, with tab and line feed shown too."""
    return visible(text).replace("\n", "\u240a").replace("\t", "\u2409")


def shortened(text: str, most: int) -> str:
    """Return at most `most` characters of `text`, saying how many are left out."""
    left_out = len(text) - most
    return text if left_out <= 0 else f"{text[:most]} … ({left_out} more characters)"


def encodable(value: Any) -> Any:
    """Return a JSON value in which lone surrogates, which UTF-8 cannot carry, are named instead."""
    if isinstance(value, str):
        return _SURROGATE.sub(_name, value)
    if isinstance(value, dict):
        return {encodable(key): encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encodable(item) for item in value]
    return value


def _name(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < _SPACE:
        return chr(_CONTROL_PICTURES + code)
    return "\u2421" if code == _DELETE else f"⟨U+{code:04X}⟩"
