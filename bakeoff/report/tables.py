"""The tables below the grid: differences, time, health, errors. Only text leaves this module."""

from collections.abc import Sequence

import msgspec

from bakeoff.report import numbers, verdicts
from bakeoff.report.arms import bits_per_weight, marks
from bakeoff.report.charts import Axis, Strip, forest_axis, forest_strip
from bakeoff.report.grid import ordered_arms, tracks_of
from bakeoff.report.reading import Run
from bakeoff.report.results import Comparison, Relation, Results
from bakeoff.report.visible import shortened

RELATIONS: dict[Relation, str] = {
    "other runtime": "Same precision, other runtime",
    "same runtime": "Same runtime, other weights",
    "other": "Other runtime and other weights",
}
_MOST_ERRORS = 20
_LONGEST_MESSAGE = 600


class ForestRow(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison; `strip` is None when there is no verdict, and `reason` says why."""

    a: str
    b: str
    mark: str
    lost_gained: str
    identical: str
    difference: str
    interval: str
    strip: Strip | None
    reason: str | None
    symbol: str
    word: str
    kind: str


class Forest(msgspec.Struct, frozen=True, kw_only=True):
    """The differences on one track, by relation of the arms."""

    track: str
    title: str
    axis: Axis
    groups: tuple[tuple[str, tuple[ForestRow, ...]], ...]

    @property
    def many(self) -> str:
        """How many comparisons it draws."""
        return numbers.count(sum(len(rows) for _, rows in self.groups))


class Errors(msgspec.Struct, frozen=True, kw_only=True):
    """Errors of one arm that say the same."""

    arm: str
    track: str
    kind: str
    message: str
    count: str
    samples: str


Table = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]
"""Heads and rows; the first column names the row."""


def word_kind(comparison: Comparison) -> str:
    """Return the look of a verdict: one CSS class per word."""
    return comparison.verdict.replace(" ", "-")


def word_text(comparison: Comparison) -> str:
    """Return the verdict's word as shown."""
    found = verdicts.SHOWN[comparison.verdict] + (", beyond margin" if comparison.beyond_margin else "")
    return f"{found}, after Holm" if is_corrected(comparison) else found


def is_corrected(comparison: Comparison) -> bool:
    """Return whether Holm's correction over tracks changed the word."""
    holm = comparison.holm
    return holm is not None and (comparison.verdict, comparison.beyond_margin) != (
        holm.verdict_alone,
        holm.beyond_margin_alone,
    )


def forests(results: Results, margin: float) -> tuple[Forest, ...]:
    """Return one forest per track that has comparisons."""
    mark_of = marks(tuple(arm.backend for arm in ordered_arms(results).values()))
    found: list[Forest] = []
    for track, tracks in tracks_of(results).items():
        comparisons = [comparison for comparison in results.comparisons if comparison.track == track]
        if not comparisons:
            continue
        groups = tuple(
            (title, tuple(_forest_row(c, comparisons, margin, mark_of[results.arms[c.a].backend]) for c in chosen))
            for title, chosen in _by_relation(comparisons)
        )
        axis = forest_axis(comparisons, margin)
        found.append(Forest(track=track, title=tracks[0].title, axis=axis, groups=groups))
    return tuple(found)


def first_pairs(results: Results) -> dict[str, tuple[str, str]]:
    """Return by track the arms of the first row of its differences, first arm first, that have samples in common.

    Where no row has any, it is the first row.
    """
    found: dict[str, tuple[str, str]] = {}
    for track in tracks_of(results):
        of_track = [comparison for comparison in results.comparisons if comparison.track == track]
        rows = [comparison for _, chosen in _by_relation(of_track) for comparison in chosen]
        if rows:
            first = next((row for row in rows if row.n), rows[0])
            found[track] = first.a, first.b
    return found


def _by_relation(comparisons: Sequence[Comparison]) -> list[tuple[str, list[Comparison]]]:
    """Return the comparisons of a track in the order of its table, under the heads of that table."""
    return [
        (title, chosen)
        for relation, title in RELATIONS.items()
        if (chosen := [comparison for comparison in comparisons if comparison.relation == relation])
    ]


def _forest_row(comparison: Comparison, all_of_track: Sequence[Comparison], margin: float, mark: str) -> ForestRow:
    diff, interval = numbers.difference(comparison.diff_pp, comparison.ci95_pp, margin)
    has_verdict = comparison.ci95_pp is not None
    return ForestRow(
        a=comparison.a,
        b=comparison.b,
        mark=mark,
        lost_gained=f"{numbers.count(comparison.lost)} / {numbers.count(comparison.gained)}",
        identical=numbers.counted(comparison.identical, comparison.n) if comparison.n else numbers.NO_DATA,
        difference=diff if has_verdict else numbers.NO_DATA,
        interval=interval if has_verdict else "",
        strip=forest_strip(comparison, all_of_track, margin),
        reason=comparison.reason,
        symbol=verdicts.SYMBOLS[comparison.verdict],
        word=word_text(comparison),
        kind=word_kind(comparison),
    )


def time_table(results: Results) -> Table:
    """Return what each arm cost in time and memory, with its bits per weight where any arm's are known."""
    arms = ordered_arms(results)
    bits = {name: bits_per_weight(arm.identity) for name, arm in arms.items()}
    has_bits = any(found is not None for found in bits.values())
    head = ("Arm", "Samples/min", "At work", "Loading", "First token", "Tokens/s", "Peak memory")
    rows = tuple(
        (
            name,
            numbers.per_minute(arm.samples_per_s),
            numbers.duration(arm.wall_s),
            numbers.duration(arm.load_s),
            numbers.latency(arm.ttft_s_median),
            numbers.tokens_per_s(arm.decode_tps_median),
            numbers.memory(arm.peak_memory_bytes),
            *((numbers.bits(bits[name]),) if has_bits else ()),
        )
        for name, arm in arms.items()
    )
    return (*head, "Weights") if has_bits else head, rows


def health_table(results: Results) -> Table:
    """Return what went wrong or unread, by arm and track."""
    head = (
        "Arm",
        "Track",
        "Selected",
        "Answered",
        "Cut off",
        "If wrong / right",
        "Unparsed",
        "Skipped",
        "Errors",
        "Retried",
    )
    rows = tuple(
        (
            name,
            track.title,
            numbers.count(track.selected),
            numbers.count(track.n),
            numbers.count(track.truncated),
            _bounds(results, name, key),
            numbers.count(track.unparsed),
            numbers.count(track.skipped),
            numbers.count(track.errors),
            numbers.count(track.retried),
        )
        for name, arm in ordered_arms(results).items()
        for key, track in arm.tracks.items()
    )
    return head, rows


def _bounds(results: Results, arm: str, track: str) -> str:
    """Return the mean score if every answer that was cut off were wrong and if every one were right."""
    found = results.validity.truncation.arms.get(arm, {}).get(track)
    if found is None or not found.truncated:
        return numbers.NO_DATA
    return f"{numbers.score(found.worst, found.n)} / {numbers.score(found.best, found.n)}"


def error_list(run: Run) -> tuple[tuple[Errors, ...], int]:
    """Return the errors that are there now, the same ones together, and how many kinds are left out."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for arm in run.arms.values():
        for track, records in arm.records.items():
            for record in records:
                if record.status == "error":
                    kind, text = (record.error.type, record.error.message) if record.error else ("error", "")
                    found.setdefault((arm.name, track, kind, text), []).append(record.sample_id)
    errors = tuple(
        Errors(
            arm=arm,
            track=track,
            kind=kind,
            message=shortened(text, _LONGEST_MESSAGE),
            count=numbers.count(len(ids)),
            samples=", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else ""),  # noqa: PLR2004 -- a line
        )
        for (arm, track, kind, text), ids in found.items()
    )
    return errors[:_MOST_ERRORS], max(len(errors) - _MOST_ERRORS, 0)
