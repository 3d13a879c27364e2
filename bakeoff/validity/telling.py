"""Tells how far a long examination is, at every quarter: a line on each of fifty answers would hide the findings."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
Tell = Callable[[str], None]

_PARTS = 4


def untold(line: str) -> None:
    """Take a line that nobody needs."""
    del line


def counted(found: Sequence[T], what: str, tell: Tell) -> Iterator[T]:
    """Yield all of `found`, and tell how many are done whenever another quarter of them is."""
    for number, item in enumerate(found, start=1):
        yield item
        if number * _PARTS // len(found) > (number - 1) * _PARTS // len(found):
            tell(f"{number} of {len(found)} {what}")
