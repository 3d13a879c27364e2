"""Do a prompt and an output show that a model thinks aloud? Marks of all families, in one table.

To add a mark: put the pair into `families` where it belongs to one family, else into `COMMON`.
"""

import re
from typing import Final

from bakeoff.families import FAMILIES

COMMON: Final[tuple[tuple[str, str], ...]] = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
)
"""Marks around a thought that are not of one family alone; opening and closing."""

MARKS: Final = tuple(dict.fromkeys((*COMMON, *(pair for family in FAMILIES.values() for pair in family.thinking))))
"""All marks."""

THINKING: Final = re.compile("|".join(re.escape(mark) for pair in MARKS for mark in pair), re.IGNORECASE)
"""Finds any mark in a raw output: one is enough to say that the model thought aloud."""


def marks_in(text: str) -> tuple[str, ...]:
    """Return the marks that `text` holds, in the order of their first appearance."""
    return tuple(dict.fromkeys(match.group().lower() for match in THINKING.finditer(text)))


def prompt_mode(rendered: str) -> str | None:
    """Return what the end of a rendered prompt makes a model do: "on" opens a thought, "off" closes an empty one.

    None where the prompt leaves it to the model.
    """
    tail = rendered[-200:]
    for opening, closing in MARKS:
        start = tail.rfind(opening)
        if start < 0:
            continue
        after = tail[start + len(opening) :]
        if closing not in after:
            return "on" if not after.strip() else None
        if not after.partition(closing)[0].strip() and not after.partition(closing)[2].strip():
            return "off"
    return None
