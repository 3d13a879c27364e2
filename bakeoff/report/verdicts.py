"""From an interval to a word, from a word to a sentence. The only place where verdicts are worded.

Terminal, page, Markdown and results.json print these sentences; a reader can check each word by eye, because it
follows from the two printed ends of one interval, zero, and the margin.
"""

import math
from collections.abc import Iterable

from bakeoff.report import numbers
from bakeoff.report.flip_results import Causes, Gathering
from bakeoff.report.results import ArmResult, Comparison, Holm, Word

SYMBOLS: dict[Word, str] = {
    "same": "≈",
    "not worse": "≥",
    "better": "▲",
    "worse": "▼",
    "undecided": "?",
    "not comparable": "✕",
}
SHOWN: dict[Word, str] = {
    "same": "same",
    "not worse": "not worse",
    "better": "better",
    "worse": "worse",
    "undecided": "can’t tell",
    "not comparable": "not comparable",
}
MOST_LEADING = 5
"""How many comparisons are told as sentences; the others stand in the table of differences."""


def read_verdict(low: float, high: float, margin: float) -> tuple[Word, bool]:
    """Return the word for an interval of a difference and whether all of it lies beyond the margin."""
    if -margin < low and high < margin:
        return "same", False
    if high < 0:
        return "worse", high < -margin
    if low > 0:
        return "better", low > margin
    if low > -margin:
        return "not worse", False
    return "undecided", False


def sentence(
    word: Word,
    *,
    a: str,
    b: str,
    track: str,
    bounds_pp: tuple[float, float] | None,
    margin_pp: float,
    needed: int | None,
    full: int | None = None,
) -> str:
    """Return the verdict of `a` against `b` as one or two sentences."""
    low, high = bounds_pp or (0.0, 0.0)
    margin = f"{numbers.points(margin_pp)} {'point' if margin_pp == 1 else 'points'}"
    beyond = read_verdict(low, high, margin_pp)[1]
    match word:
        case "same":
            side = "loss" if high < 0 else "gain" if low > 0 else None
            real = f", with a small {side} that is real but inside the margin" if side else ""
            return f"{a} and {b} score the same on {track}, to within {margin}{real}."
        case "worse" | "better":
            end = high if word == "worse" else low
            least = math.floor(abs(end) * 10.0) / 10.0  # rounding up would claim more than was found
            size = f" by at least {numbers.points(least)} points" if beyond and least else "; how much is uncertain"
            return f"{a} is {word} than {b} on {track}{size}."
        case "not worse":
            return f"{a} is not worse than {b} on {track} by more than {margin}; it may be better."
        case _:
            return f"Whether {a} is worse than {b} on {track} is open.{settling(needed, full)}"


def corrected_sentence(comparison: Comparison, corrected: Holm, track: str) -> str:
    """Return the sentence of a verdict that Holm's correction weakened; `comparison` has the word that is left."""
    a, b, margin = comparison.a, comparison.b, comparison.margin_pp
    many = f"after Holm over {numbers.count(corrected.tracks)} tracks"
    match comparison.verdict:
        case "worse" | "better":
            return f"{a} is {comparison.verdict} than {b} on {track}; {many} how much is uncertain."
        case "not worse":
            points = f"{numbers.points(margin)} {'point' if margin == 1 else 'points'}"
            return f"{a} is not worse than {b} on {track} by more than {points}, {many}."
        case _:
            alone = SHOWN[corrected.verdict_alone]
            return f"Whether {a} is worse than {b} on {track} is open {many}; by itself its interval says “{alone}”."


def flips(causes: Causes) -> str:
    """Return where the difference lies, how many samples flipped and why; nothing when none did."""
    if not causes.flips:
        return gathering(causes.gathered)
    named = ", ".join(f"{name} {numbers.count(count)}" for name, count in causes.causes.items())
    told = f"Flipped {numbers.counted(causes.flips, causes.n)}: {named}."
    return f"{gathering(causes.gathered)} {told}".strip()


def gathering(found: Gathering | None) -> str:
    """Return in which group the difference lies, as one sentence; nothing when chance may have spread it so."""
    if found is None:
        return ""
    there, elsewhere = (f"{numbers.signed(diff)} pp" for diff in (found.diff_pp, found.rest_diff_pp))
    where = f"{found.dimension} {found.value}: {there} on {numbers.count(found.n)} samples"
    return f"The difference lies in {where}, {elsewhere} on the other {numbers.count(found.rest_n)}."


def settling(needed: int | None, full: int | None = None) -> str:
    """Return what would settle an open question, as a sentence with a leading space; nothing when it is not known.

    `full` is how many samples the track has at all.
    """
    if not needed:
        return ""
    more = f", and the track has only {numbers.count(full)}" if full is not None and needed > full else ""
    return f" About {numbers.about(needed)} pairs would settle it{more}."


def withheld(word: Word, *, a: str, b: str, track: str, reason: str) -> str:
    """Return the sentence of a pair that gets no verdict."""
    if word == "not comparable":
        return f"{a} gets no verdict against {b} on {track}: {reason}."
    return f"Whether {a} is worse than {b} on {track} is open: {reason}."


def evidence(
    *, diff_pp: float | None, bounds_pp: tuple[float, float] | None, margin_pp: float, n: int, identical: int
) -> str:
    """Return the numbers behind a verdict: difference, interval, margin, pairs."""
    pairs = f"{numbers.count(n)} {'pair' if n == 1 else 'pairs'}"
    same_output = f"{numbers.counted(identical, n)} outputs identical" if n else ""
    if bounds_pp is None:
        return "; ".join(part for part in (pairs, same_output) if part)
    diff, interval = numbers.difference(diff_pp, bounds_pp, margin_pp)
    return f"{diff} pp, 95% {interval}; margin ±{numbers.points(margin_pp)} pp; {pairs}; {same_output}"


def leading(comparisons: tuple[Comparison, ...]) -> tuple[Comparison, ...]:
    """Return the comparisons that are told as sentences, first of all the one that is the headline."""
    return comparisons[:MOST_LEADING]


def headline(comparisons: tuple[Comparison, ...], arms: int) -> str:
    """Return the first sentence of every report."""
    if comparisons:
        return comparisons[0].sentence
    if arms == 0:
        return "This run has no arm."
    return "One arm ran: there is nothing to compare." if arms == 1 else "No two arms share a track."


def run_state(arms: Iterable[ArmResult]) -> str:
    """Return how far a run got, in a few words."""
    tracks = [track for arm in arms for track in arm.tracks.values()]
    selected, answered = sum(track.selected or 0 for track in tracks), sum(track.n for track in tracks)
    errors = sum(track.errors for track in tracks)
    if not selected:
        is_unknown = any(track.selected is None for track in tracks)
        return "selection not recorded" if is_unknown else "nothing selected"
    skipped = sum(track.skipped for track in tracks)
    if answered + errors + skipped < selected:
        return f"partial: {numbers.counted(answered, selected)} samples answered"
    if errors:
        return f"finished with errors: {numbers.counted(errors, selected)} samples have no answer"
    return f"finished; {numbers.counted(skipped, selected)} samples skipped" if skipped else "finished"
