"""Do a prompt and an output show that a model thinks aloud?

The marks are in one table, `text.THOUGHT_MARKS`, by which scorers cut thoughts off.

To add a mark: put the pair into that table, and into `families` where it belongs to one family.
"""

import re
from typing import Final

from bakeoff.text import THOUGHT_MARKS

THINKING: Final = re.compile("|".join(re.escape(mark) for pair in THOUGHT_MARKS for mark in pair), re.IGNORECASE)
"""Finds any mark in a raw output: one is enough to say that the model thought aloud."""


def marks_in(text: str) -> tuple[str, ...]:
    """Return the marks that `text` holds, in the order of their first appearance."""
    return tuple(dict.fromkeys(match.group().lower() for match in THINKING.finditer(text)))


def prompt_mode(rendered: str) -> str | None:
    """Return what the end of a rendered prompt makes a model do: "on" opens a thought, "off" closes an empty one.

    None where the prompt leaves it to the model.
    """
    tail = rendered[-200:]
    for opening, closing in THOUGHT_MARKS:
        start = tail.rfind(opening)
        if start < 0:
            continue
        after = tail[start + len(opening) :]
        if closing not in after:
            return "on" if not after.strip() else None
        if not after.partition(closing)[0].strip() and not after.partition(closing)[2].strip():
            return "off"
    return None
