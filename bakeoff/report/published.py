"""Scores that others reported, beside those measured: with model, source, date, protocol, and what differs."""

import msgspec

from bakeoff.report import numbers
from bakeoff.report.comparing import shown_metric
from bakeoff.report.grid import tracks_of
from bakeoff.report.results import Results
from bakeoff.report.tables import Table
from bakeoff.tracks import TRACKS, Published

_EXACT = 1000
"""Published values are printed with one decimal whatever they rest on, which is as they were printed."""


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """The published value of a track's column. `is_same_metric` is False where another number is meant than shown."""

    value: float
    shown: str
    model: str
    metric: str
    source: str
    date: str
    is_same_metric: bool


def references(results: Results) -> dict[str, Reference]:
    """Return the published value of each track: of the metric shown where there is one, else of another metric."""
    found: dict[str, Reference] = {}
    for name, tracks in tracks_of(results).items():
        whole = [p for p in _published(name) if not p.group]
        if not whole:
            continue
        metric = shown_metric(tracks)
        chosen = next((p for p in whole if p.metric == metric), whole[0])
        found[name] = Reference(
            value=chosen.value,
            shown=numbers.score(chosen.value, _EXACT),
            model=chosen.model,
            metric=chosen.metric,
            source=chosen.source,
            date=chosen.date,
            is_same_metric=chosen.metric == metric,
        )
    return found


def published_table(results: Results) -> Table:
    """Return every published value of the run's tracks, the values of single groups too."""
    heads = ("Track", "Published", "Metric", "Model", "Their protocol", "Source", "Date", "What differs")
    rows = tuple(
        (
            tracks[0].title + (f", {p.group.replace(':', ' ')}" if p.group else ""),
            numbers.score(p.value, _EXACT),
            p.metric,
            p.model,
            p.protocol,
            p.source,
            p.date,
            p.note or "nothing stated",
        )
        for name, tracks in tracks_of(results).items()
        for p in _published(name)
    )
    return heads, rows


def _published(track: str) -> tuple[Published, ...]:
    known = TRACKS.get(track)
    return known.published if known else ()
