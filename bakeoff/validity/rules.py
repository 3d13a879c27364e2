"""The gates that were asked for, read from text: `TRACK[:METRIC]=X` and `TRACK[:METRIC]=PP`.

Kept apart from the command line, because a stored run is held against the same rules again when it is rescored.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from bakeoff.errors import UsageProblem, did_you_mean
from bakeoff.tracks import TRACKS

Undecided = Literal["pass", "fail"]


class MinScore(msgspec.Struct, frozen=True, kw_only=True):
    """A bound on a metric of a track: `metric` None is the primary one; `bound` is a fraction in [0, 1]."""

    track: str
    metric: str | None
    bound: float

    @property
    def name(self) -> str:
        """The gate as it is typed."""
        return f"min-score {_metric_name(self.track, self.metric)}={self.bound:g}"


class MaxDrop(msgspec.Struct, frozen=True, kw_only=True):
    """The largest loss against a stored run; `bound_pp` is in percentage points, from 0 to 100."""

    track: str
    metric: str | None
    bound_pp: float

    @property
    def name(self) -> str:
        """The gate as it is typed."""
        return f"max-drop {_metric_name(self.track, self.metric)}={self.bound_pp:g}"


class GateRules(msgspec.Struct, frozen=True, kw_only=True):
    """All gates of a run. `max_truncated` is a fraction per arm and track, `max_errors` a number per arm.

    `asked` names those of the two that somebody typed (in a stored run: with another value than the default): the
    others are told of only when they do not pass.
    """

    min_scores: tuple[MinScore, ...] = ()
    max_drops: tuple[MaxDrop, ...] = ()
    baseline: Path | None = None
    max_truncated: float = 0.01
    max_errors: int = 0
    undecided: Undecided = "fail"
    asked: frozenset[str] = frozenset()


OPTIONS = ("min_score", "baseline", "max_drop", "max_truncated", "max_errors", "undecided")
"""Names of the options that make the rules, as a run's manifest stores them."""
DEFAULTS: dict[str, Any] = {"max_truncated": 1.0, "max_errors": 0, "undecided": "fail"}
"""Values of those that hold without being asked for."""


def asked_gates(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the gates in a run's `stored` options, without those that hold unasked and have their default there."""
    values = {name: stored.get(name) for name in OPTIONS}
    return {name: value for name, value in values.items() if value not in (None, [], DEFAULTS.get(name))}


def read_rules(options: Mapping[str, Any]) -> GateRules:
    """Return the rules in `options`; a field that is not there, or None, has its default.

    Raises:
        UsageProblem: when a value cannot be meant; the message says how to write it.
    """
    drops = tuple(_max_drop(text) for text in options.get("max_drop") or ())
    baseline = options.get("baseline")
    if drops and not baseline:
        raise UsageProblem("--max-drop needs a stored run to compare with: add --baseline DIR, such as reports/main")
    if baseline and not drops:
        raise UsageProblem(f"--baseline {baseline} holds nothing by itself: add --max-drop TRACK=PP, such as docvqa=2")
    typed = {name: value for name in DEFAULTS if (value := options.get(name)) is not None}
    effective = {**DEFAULTS, **typed}
    truncated = float(effective["max_truncated"])
    if not 0.0 <= truncated <= 100.0:  # noqa: PLR2004 -- percent
        raise UsageProblem(f"--max-truncated {truncated}: must lie between 0 and 100")
    if effective["max_errors"] < 0:
        raise UsageProblem(f"--max-errors {effective['max_errors']}: must be 0 or more")
    return GateRules(
        min_scores=tuple(_min_score(text) for text in options.get("min_score") or ()),
        max_drops=drops,
        baseline=Path(baseline).resolve() if baseline else None,
        max_truncated=truncated / 100.0,
        max_errors=int(effective["max_errors"]),
        undecided=options.get("undecided", "fail"),
        asked=frozenset(typed),
    )


def rule_warnings(rules: GateRules, margin_pp: float) -> tuple[str, ...]:
    """Return what can be typed but is hardly meant: gates that always or never pass, a margin of nothing."""
    found = [f"{gate.name} always passes: every score is at least 0" for gate in rules.min_scores if gate.bound <= 0.0]
    found += [
        f"{gate.name} can never pass: even an interval of perfect scores begins below 1; write 0.99 or less"
        for gate in rules.min_scores
        if gate.bound >= 1.0
    ]
    found += [
        f"{gate.name} asks the new run to be better than the baseline: an identical model has not enough data"
        for gate in rules.max_drops
        if gate.bound_pp <= 0.0
    ]
    if margin_pp <= 0.0:
        found.append("--margin 0: no two arms can be called the same, whatever the data")
    return tuple(found)


def _metric_name(track: str, metric: str | None) -> str:
    return f"{track}:{metric}" if metric else track


def _min_score(text: str) -> MinScore:
    track, metric, value = _split("--min-score", text, "X with X between 0 and 1, such as docvqa=0.85", most=1.0)
    return MinScore(track=track, metric=metric, bound=value)


def _max_drop(text: str) -> MaxDrop:
    how = "PP with PP in points between 0 and 100, such as docvqa=2"
    track, metric, value = _split("--max-drop", text.removesuffix("pp"), how, most=100.0)
    return MaxDrop(track=track, metric=metric, bound_pp=value)


def _split(option: str, text: str, how: str, *, most: float) -> tuple[str, str | None, float]:
    name, equals, bound = text.rpartition("=")
    track, _, metric = name.partition(":")
    try:
        value = float(bound)
    except ValueError:
        value = math.nan
    if not equals or not 0.0 <= value <= most:
        raise UsageProblem(f"{option} {text}: write {option} TRACK={how}")
    if track not in TRACKS:
        near = did_you_mean(track, TRACKS)
        raise UsageProblem(f"{option} {text}: there is no track {track!r}; tracks: {', '.join(TRACKS)}{near}")
    return track, metric or None, value
