"""What speed and memory cost in score, in words: read off the verdicts, never off the points of the drawing."""

from collections.abc import Iterable

from bakeoff.report import numbers, verdicts
from bakeoff.report.grid import ordered_arms, tracks_of
from bakeoff.report.results import Comparison, Results, Word

_HELD: frozenset[Word] = frozenset({"same", "not worse", "better"})


def tradeoffs(results: Results) -> tuple[tuple[str, str], ...]:
    """Return headings with sentences: the fastest arm, the fastest that was shown to hold the score, the smallest.

    Scores are held against the run's first arm, on every track that both have. Nothing is said of fewer than two arms
    with a speed.
    """
    speeds = {name: arm.samples_per_s for name, arm in ordered_arms(results).items() if arm.samples_per_s}
    first = next(iter(results.arms), None)
    if len(speeds) < 2 or first is None:  # noqa: PLR2004 -- a trade needs two
        return ()
    found = [("Fastest arm", _sentence(results, max(speeds, key=lambda name: speeds[name]), first, speeds))]
    held = {name: speed for name, speed in speeds.items() if name != first and _holds(_against(results, name, first))}
    faster = {name: speed for name, speed in held.items() if speed > speeds.get(first, 0.0)}
    title = f"Fastest arm shown to hold the score of {first}"
    if faster:
        found.append((title, _sentence(results, max(faster, key=lambda name: faster[name]), first, speeds)))
    else:
        found.append((title, f"No arm that is faster than {first} itself; “can’t tell” is not “the same”."))
    sizes = {name: arm.peak_memory_bytes for name, arm in results.arms.items() if arm.peak_memory_bytes}
    if len(sizes) > 1:
        least = min(sizes, key=lambda name: sizes[name])
        found.append(
            ("Smallest peak memory", f"{least}, {numbers.memory(sizes[least])}{_outcome(results, least, first)}.")
        )
    return tuple(found)


def _sentence(results: Results, arm: str, first: str, speeds: dict[str, float]) -> str:
    rate = f"{arm}, {numbers.per_minute(speeds[arm])} samples a minute"
    times = (
        f", {numbers.ratio(speeds[arm] / speeds[first])} times the speed of {first}"
        if arm != first and first in speeds
        else ""
    )
    return f"{rate}{times}{_outcome(results, arm, first)}."


def _outcome(results: Results, arm: str, first: str) -> str:
    """Return in how many tracks an arm came out how against the first; nothing for the first itself."""
    if arm == first:
        return ""
    titles = {name: tracks[0].title for name, tracks in tracks_of(results).items()}
    by_word: dict[str, list[str]] = {}
    for comparison in _against(results, arm, first):
        by_word.setdefault(verdicts.SHOWN[comparison.verdict], []).append(titles[comparison.track])
    parts = [f"{word} on {', '.join(where)}" for word, where in by_word.items()]
    return f"; {'; '.join(parts)}" if parts else "; no track in common"


def _against(results: Results, arm: str, first: str) -> list[Comparison]:
    return [c for c in results.comparisons if (c.a, c.b) == (arm, first)]


def _holds(comparisons: Iterable[Comparison]) -> bool:
    words = [comparison.verdict for comparison in comparisons]
    return bool(words) and all(word in _HELD for word in words)
