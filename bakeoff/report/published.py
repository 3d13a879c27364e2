"""Scores that others reported, beside those measured: with model, source, date, protocol, and what differs."""

import msgspec

from bakeoff.report import numbers
from bakeoff.report.comparing import shown_metric
from bakeoff.report.grid import tracks_of
from bakeoff.report.reproduction import is_of
from bakeoff.report.results import Reproduction, Results
from bakeoff.report.tables import Table
from bakeoff.tracks import TRACKS, Published

_EXACT = 1000
"""Published values are printed with one decimal whatever they rest on, which is as they were printed."""

WITH_ARMS = ("Arm", "Here", "In words")
"""Columns on the arms of a published model; they take the place of what differs."""


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
    """Return every published value of the run's tracks, with what came out here of each arm of that model.

    The columns on arms are left out where no arm of the run is of a model that others reported on.
    """
    cards = results.reproductions
    rows: list[tuple[str, Published, Reproduction | None]] = []
    for name, tracks in tracks_of(results).items():
        for value in _published(name):
            matching = [card for card in cards if card.track == name and _is_of(card, value, results)]
            rows += [(tracks[0].title, value, card) for card in matching or (None,)]
    middle = WITH_ARMS if cards else ("What differs",)
    return ("Track", "Published", "Model", *middle, "Their protocol", "Source"), tuple(
        (
            f"{title}{', ' + value.group.replace(':', ' ') if value.group else ''} ({value.metric})",
            numbers.score(value.value, _EXACT),
            value.model,
            *(_here(card) if cards else ()),
            card.sentence if card else value.note or (numbers.NO_DATA if cards else "nothing stated"),
            value.protocol,
            f"{value.source}; {value.date}",
        )
        for title, value, card in rows
    )


def _is_of(card: Reproduction, value: Published, results: Results) -> bool:
    """Return whether a card is about a published value; two models may have the same value from one source."""
    stated = (card.metric, card.group, card.published, card.source, card.date, card.protocol)
    known = (value.metric, value.group, value.value, value.source, value.date, value.protocol)
    return stated == known and is_of(value.model, results.arms[card.arm].model)


def _here(card: Reproduction | None) -> tuple[str, str]:
    if card is None:
        return "none of this model", numbers.NO_DATA
    interval = f" ({numbers.score_interval(card.ci95, card.n)})" if card.ci95 else ""
    return card.arm, f"{numbers.score(card.value, card.n)}{interval}, n {numbers.count(card.n)}"


def _published(track: str) -> tuple[Published, ...]:
    known = TRACKS.get(track)
    return known.published if known else ()
