"""The top of every report: what was run, where, by which command, and whether its arms may be compared."""

import shlex
from pathlib import Path
from typing import Any

from bakeoff.report import numbers
from bakeoff.report.checks import named_checks
from bakeoff.report.grid import tracks_of
from bakeoff.report.reading import Run
from bakeoff.report.results import Badge, Results

_BADGES: dict[Badge, tuple[str, str]] = {
    "comparable": ("✓", "Comparable"),
    "differs": ("≠", "Comparable"),
    "not comparable": ("✕", "Not comparable"),
}


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
        machine.insert(1, numbers.memory(memory))
    return (numbers.instant(results.created), *machine, f"margin ±{numbers.points(run.margin_pp)} pp")


def badge(results: Results) -> dict[str, Any]:
    """Return the sum of all checks: symbol, text, look, reasons."""
    word = results.validity.badge
    symbol, text = _BADGES[word]
    if len(results.arms) < 2:  # noqa: PLR2004 -- a pair
        symbol, text = "–", "Nothing to compare"
    elif word == "differs":
        required = [check.state for check in named_checks(results.validity).values() if check.required]
        found, unknown = required.count("differs"), required.count("not checked")
        parts = [f"{found} {'difference' if found == 1 else 'differences'}"] if found else []
        parts += [f"{unknown} {'check' if unknown == 1 else 'checks'} not made"] if unknown else []
        text = f"{text}, {' and '.join(parts)}"
    return {"symbol": symbol, "text": text, "kind": word.replace(" ", "-"), "reasons": results.validity.reasons}
