"""Gates of a run: least scores, most cut answers, most errors. Computed from files, so that they can be held again.

Source of the score gate: `stats.threshold_gate`; it passes only when the whole 95 % interval is at or above the bound.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from bakeoff.records import Record
from bakeoff.runs import RunDirectory
from bakeoff.tracks import TRACKS

Outcome = Literal["pass", "fail", "not enough data"]


class MinScore(msgspec.Struct, frozen=True, kw_only=True):
    """A bound on a metric of a track: `metric` None is the primary one; `bound` is a fraction in [0, 1]."""

    track: str
    metric: str | None
    bound: float


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate was, what came out, and the numbers it came from, in words."""

    gate: str
    outcome: Outcome
    detail: str

    def fails(self, undecided: Literal["pass", "fail"]) -> bool:
        """Return whether the run fails by this gate; `undecided` says what too little data means."""
        return self.outcome == "fail" or (self.outcome == "not enough data" and undecided == "fail")


def check_gates(
    run: RunDirectory, min_scores: Iterable[MinScore], *, max_truncated: float, max_errors: int
) -> tuple[GateResult, ...]:
    """Hold all gates against a run; those that hold by default appear only when they do not pass.

    Args:
        run: where the journals are.
        min_scores: score gates, each held for every arm.
        max_truncated: largest share of cut answers per arm and track, a fraction.
        max_errors: largest number of samples without a valid output, per arm.
    """
    records = {arm: tuple(content.records.values()) for arm, content in run.journals().items()}
    scores = [_score(arm, rows, gate) for gate in min_scores for arm, rows in records.items()]
    cut = [result for arm, rows in records.items() for result in _truncated(arm, rows, max_truncated)]
    errors = [result for arm, rows in records.items() for result in _errors(arm, rows, max_errors)]
    return (*scores, *cut, *errors)


def _score(arm: str, records: Sequence[Record], gate: MinScore) -> GateResult:
    valid = [r for r in records if r.track == gate.track and r.status != "error"]
    name = f"min-score {gate.track}{f':{gate.metric}' if gate.metric else ''}={gate.bound:g} for {arm}"
    track = TRACKS[gate.track]
    metrics = track.metrics(valid)
    wanted = gate.metric or next(key for key, metric in metrics.items() if metric.primary)
    metric = metrics.get(wanted)
    if metric is None:
        return GateResult(gate=name, outcome="not enough data", detail=f"no metric {wanted!r} of {sorted(metrics)}")
    if metric.value is None:
        return GateResult(gate=name, outcome="not enough data", detail=f"{wanted} needs samples of every group")
    low, high, outcome = _bounds(valid, gate, metric.ci95)
    miss = (
        "" if outcome == "pass" else f"; short of the bound by {100 * (gate.bound - low):.1f} points at the lower end"
    )
    interval = f"{100 * low:.1f} to {100 * high:.1f}"
    detail = f"{wanted} {100 * metric.value:.1f}, 95 % interval {interval}, n {metric.n}{miss}"
    return GateResult(gate=name, outcome=outcome, detail=detail)


def _bounds(valid: Sequence[Record], gate: MinScore, ci95: tuple[float, float] | None) -> tuple[float, float, Outcome]:
    """Return the interval the gate is held from and what follows; the primary metric gets the gate's own interval."""
    from bakeoff.stats import threshold_gate  # noqa: PLC0415 - options name gates long before numbers are needed

    if gate.metric is None:
        macro = TRACKS[gate.track].macro
        found = threshold_gate(
            [float(r.score or 0.0) for r in valid],
            gate.bound,
            clusters=[r.cluster for r in valid],
            strata=[r.groups.get(macro, "") for r in valid] if macro else None,
        )
        if found.low is not None and found.high is not None:
            return found.low, found.high, found.outcome
    if ci95 is None:
        return 0.0, 1.0, "not enough data"
    low, high = ci95
    return low, high, "pass" if low >= gate.bound else "fail" if high < gate.bound else "not enough data"


def _truncated(arm: str, records: Sequence[Record], bound: float) -> Iterable[GateResult]:
    for track in dict.fromkeys(r.track for r in records):
        valid = [r for r in records if r.track == track and r.status != "error"]
        cut = sum(r.status == "truncated" for r in valid)
        if valid and cut / len(valid) > bound:
            yield GateResult(
                gate=f"max-truncated {100 * bound:g} for {arm} on {track}",
                outcome="fail",
                detail=f"{cut} of {len(valid)} answers were cut off; raise --max-tokens, or allow --max-truncated",
            )


def _errors(arm: str, records: Sequence[Record], bound: int) -> Iterable[GateResult]:
    errors = [r for r in records if r.status == "error"]
    if len(errors) > bound:
        yield GateResult(
            gate=f"max-errors {bound} for {arm}",
            outcome="fail",
            detail=f"{len(errors)} samples got no valid output; --resume tries them again",
        )
