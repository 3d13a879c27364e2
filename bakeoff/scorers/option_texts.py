"""Finds the texts of options in an answer: equal to it, at its beginning, or the only one in it."""

import re
from collections.abc import Sequence
from functools import lru_cache

from bakeoff.scorers.letters import NO_WORD
from bakeoff.text import collapse, fold

_OUTER = " \t\r\n\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb.,:;!?\u3002"
_LEADING = _OUTER.replace(".", "").replace(",", "")  # ".5" is not "5"
# A letter or digit that belongs to the same word; scripts without blanks between words do not count.
_WORD = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def find_equal(stages: Sequence[str], options: Sequence[str]) -> str | None:
    """Return the letter of the option that an answer equals, trying its `stages` from raw to unwrapped.

    Case and outer punctuation are ignored; when several options match, one with exactly this punctuation decides, or
    one of exactly this case; identical options count as the first of them.
    """
    for stage in stages:
        key = _plain(stage)
        if not key:
            continue
        matches = [at for at, option in enumerate(options) if _key(option) == key.casefold()]
        letter = _first_of_equals(matches, options)
        if letter is None and matches:
            written = collapse(stage)
            letter = _first_of_equals([at for at in matches if _written(options[at]) == written], options)
            letter = letter or _first_of_equals([at for at in matches if _plain(options[at]) == key], options)
        if letter is not None:
            return letter
    return None


def find_prefix(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the longest option that `text` begins with, a leading "the" ignored on both sides.

    Options of one character do not count, and no letter, digit or decimal may follow: "12.5" is not "12".
    """
    start = _without_article(collapse(text).lstrip(_LEADING).casefold())
    found = [
        (len(key), position)
        for position, option in enumerate(options)
        if len(key := _without_article(_key(option))) > 1
        and start.startswith(key)
        and re.match(_boundary_after(key), start[len(key) : len(key) + 2])
    ]
    longest = max((length for length, _ in found), default=0)
    return _first_of_equals([position for length, position in found if length == longest], options)


def find_only(text: str, options: Sequence[str]) -> str | None:
    """Return the letter of the only option whose text stands in `text`.

    A shorter option inside a longer one gives way; a number inside another, or after a minus, does not count, nor does
    an article or pronoun as the option "a" or "i".
    """
    answer = collapse(text).casefold()
    keys: dict[str, list[int]] = {}
    for position, option in enumerate(options):
        key = collapse(_key(option))
        # What does not occur at all needs no pattern; compiling one costs a thousand times as much as this look.
        if key and key in answer:
            keys.setdefault(key, []).append(position)
    if not keys:
        return None
    longest_first = sorted(keys, key=len, reverse=True)
    pattern = "|".join(_boundary_before(key) + re.escape(key) + _boundary_after(key) for key in longest_first)
    seen: set[str] = set()
    end = 0
    for match in re.finditer(f"(?=({pattern}))", answer):
        if match.end(1) > end:  # otherwise it lies inside a longer one that began before
            end = match.end(1)
            seen.add(match[1])
    return _first_of_equals(keys[seen.pop()], options) if len(seen) == 1 else None


@lru_cache(maxsize=4096)  # a sample's options come again with every arm, rule and step
def _written(option: str) -> str:
    """Return the text of an option folded and on one line."""
    return collapse(fold(option))


@lru_cache(maxsize=4096)
def _key(option: str) -> str:
    """Return the text of an option without outer punctuation and case."""
    return _plain(option).casefold()


def _plain(text: str) -> str:
    """Return a text folded, on one line, without outer punctuation."""
    return collapse(fold(text)).lstrip(_LEADING).rstrip(_OUTER)


def _first_of_equals(positions: Sequence[int], options: Sequence[str]) -> str | None:
    """Return the letter of the first position when all hold the same text; else None."""
    if len({_written(options[position]) for position in positions}) != 1:
        return None
    return _LETTERS[positions[0]]


def _without_article(text: str) -> str:
    """Return a text without a leading "the"."""
    return text.removeprefix("the ")


def _boundary_before(key: str) -> str:
    """Return a pattern for what may not stand before `key`."""
    if key[0].isdigit():
        return rf"(?<!{_WORD})(?<![0-9][.,])(?<![-.])"
    return rf"(?<!{_WORD})" if key[0].isalnum() or re.match(r"[-.][0-9]", key) else ""


def _boundary_after(key: str) -> str:
    """Return a pattern for what may not stand after `key`."""
    if key[-1].isdigit():
        return rf"(?!{_WORD})(?![.,][0-9])"
    if key in {"a", "i"}:
        return rf"(?!{_WORD}){NO_WORD}"
    return rf"(?!{_WORD})"
