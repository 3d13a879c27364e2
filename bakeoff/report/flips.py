"""The tables of flips: how many samples one arm has right and the other has not, and why. Only text leaves this."""

from collections.abc import Iterable

from bakeoff.report import numbers, verdicts
from bakeoff.report.causes import CAUSES
from bakeoff.report.flip_results import FlipSlice
from bakeoff.report.grid import tracks_of
from bakeoff.report.measuring import natural
from bakeoff.report.results import Comparison, Results
from bakeoff.report.tables import Table

_MOST_DIMENSIONS = 3
"""Image size, tokens an image and the track's first dimension; the others stand in results.json."""


def flip_table(results: Results) -> Table:
    """Return flips by cause, a row per pair and track in which a sample flipped, a column per cause that occurred."""
    flipped = [(c, c.causes) for c in results.comparisons if c.causes is not None and c.causes.flips]
    causes = [name for name in CAUSES if any(name in found.causes for _, found in flipped)]
    rows = tuple(
        (_pair(results, c), numbers.counted(found.flips, found.n), *(_count(found, name) for name in causes))
        for c, found in flipped
    )
    return ("Comparison", "Flipped", *(_capital(name) for name in causes)), rows


def flip_slices(results: Results) -> Table:
    """Return where samples flipped, by image size and by the track's first dimension, for the leading comparisons."""
    head = ("Comparison", "Where", "Flipped", "Causes")
    return head, tuple(row for c in verdicts.leading(results.comparisons) for row in _sliced(results, c))


def explained(table: Table) -> tuple[tuple[str, str], ...]:
    """Return the causes that a table of flips names, each with what it means."""
    shown = {head.lower() for head in table[0]}
    return tuple((_capital(name), text) for name, text in CAUSES.items() if name in shown)


def _sliced(results: Results, comparison: Comparison) -> Iterable[tuple[str, ...]]:
    if comparison.causes is None or not comparison.causes.flips:
        return
    for dimension in list(comparison.causes.by)[:_MOST_DIMENSIONS]:
        values = comparison.causes.by.get(dimension, {})
        if len(values) > 1:
            for value in sorted(values, key=natural):
                found = values[value]
                causes = ", ".join(f"{name} {numbers.count(count)}" for name, count in found.causes.items())
                where = f"{dimension} {value}"
                yield _pair(results, comparison), where, numbers.counted(found.flips, found.n), causes or "none"


def _pair(results: Results, comparison: Comparison) -> str:
    tracks = tracks_of(results)
    where = f" on {tracks[comparison.track][0].title}" if len(tracks) > 1 else ""
    return f"{comparison.a} vs {comparison.b}{where}"


def _count(found: FlipSlice, cause: str) -> str:
    return numbers.count(found.causes.get(cause, 0))


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]
