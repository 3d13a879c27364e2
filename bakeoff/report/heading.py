"""The top of every report: what was run, where, by which command, and whether its arms may be compared."""

import shlex
from pathlib import Path
from typing import Any

from bakeoff.report import numbers
from bakeoff.report.checks import LABELS, named_checks
from bakeoff.report.grid import tracks_of
from bakeoff.report.reading import Run
from bakeoff.report.results import Badge, Results

_BADGES: dict[Badge, tuple[str, str]] = {
    "comparable": ("✓", "Comparable"),
    "differs": ("≠", "Comparable"),
    "not comparable": ("✕", "Not comparable"),
}

_IN_WORDS = {"parity": "what reaches the models", "budget": "the number of prompt tokens", "mode": "thinking"}
"""Checks whose label says how they are made, as a badge names what they are about."""


def title(results: Results) -> str:
    """Return what was run, as a heading."""
    arms, tracks = list(results.arms), [found[0].title for found in tracks_of(results).values()]
    who = " and ".join(arms) if 1 <= len(arms) <= 2 else f"{numbers.count(len(arms))} arms"  # noqa: PLR2004 -- a pair
    where = tracks[0] if len(tracks) == 1 else f"{numbers.count(len(tracks))} tracks"
    return f"{who} on {where}"


def command(results: Results) -> str:
    """Return the command line that ran this."""
    argv = results.argv
    if not argv:
        return "not recorded"
    is_program = Path(argv[0]).name in {"pytest", "py.test", "__main__.py"}
    return shlex.join(("uv", "run", "pytest", *argv[is_program:]))


def meta(run: Run, results: Results) -> tuple[str, ...]:
    """Return when and on what a run ran, and its margin, in a few pieces."""
    found = results.environment
    named = {"processor": "", "machine": "", "system": "", "os": "", "python": "Python "}
    machine = [f"{before}{text}" for name, before in named.items() if isinstance(text := found.get(name), str)]
    if isinstance(memory := found.get("memory_bytes"), int):
        machine.insert(1, f"{numbers.memory(memory)} memory")
    return (numbers.instant(results.created), *machine, f"margin ±{numbers.points(run.margin_pp)} pp")


def badge(results: Results) -> dict[str, Any]:
    """Return the sum of all checks: symbol, text, look, reasons."""
    word = results.validity.badge
    symbol, text = _BADGES[word]
    if len(results.arms) < 2:  # noqa: PLR2004 -- a pair
        symbol, text = "–", "Nothing to compare"
    elif word == "differs":
        required = {name: check.state for name, check in named_checks(results.validity).items() if check.required}
        parts = [
            f"{words} {', '.join(names)}"
            for state, words in (("differs", "differs in"), ("not checked", "without a check of"))
            if (
                names := [
                    _IN_WORDS.get(name, LABELS[name].lower()) for name, found in required.items() if found == state
                ]
            )
        ]
        text = f"{text}, but {' and '.join(parts)}"
    return {"symbol": symbol, "text": text, "kind": word.replace(" ", "-"), "reasons": results.validity.reasons}


def _in_words(check: str) -> str:
    return _IN_WORDS.get(check, LABELS[check].lower())
