"""Gates of a run: least scores, largest losses, most cut answers, most errors.

Computed from files alone, so that they can be held again. Source of the score gate: `stats.threshold_gate`; it passes
only when the whole 95 % interval is at or above the bound.
"""

from collections.abc import Iterable, Sequence

from bakeoff.errors import UsageProblem
from bakeoff.files import write_atomically
from bakeoff.journal import read_journal
from bakeoff.records import Record
from bakeoff.runs import RunDirectory, pretty_json
from bakeoff.tracks import TRACKS
from bakeoff.validity.baseline import check_drop, read_baseline, read_stored
from bakeoff.validity.results import GateResult, Outcome
from bakeoff.validity.rules import GateRules, MinScore
from bakeoff.wording import some


def check_gates(run: RunDirectory, rules: GateRules) -> tuple[GateResult, ...]:
    """Hold all gates against a run, every one for every arm that it can concern."""
    scores: list[list[GateResult]] = [[] for _ in rules.min_scores]
    cut: list[GateResult] = []
    errors: list[GateResult] = []
    for arm in run.manifest().arms:
        if run.journal_path(arm).is_file():
            rows = tuple(read_journal(run.journal_path(arm)).records.values())  # one arm at a time, for memory's sake
            for found, gate in zip(scores, rules.min_scores, strict=True):
                found.append(_score(arm, rows, gate))
            cut.extend(_truncated(arm, rows, rules))
            errors.append(_errors(arm, rows, rules))
    return (*(result for found in scores for result in found), *_drops(run, rules), *cut, *errors)


def write_gates(run: RunDirectory, gates: Iterable[GateResult]) -> None:
    """Leave the outcomes where the reports find them."""
    rows = [{"gate": gate.gate, "outcome": gate.outcome, "detail": gate.detail} for gate in gates]
    write_atomically(run.path / "gates.json", pretty_json(rows))


def _drops(run: RunDirectory, rules: GateRules) -> Iterable[GateResult]:
    if rules.baseline is None:
        return
    new = read_stored(run)
    arms = [arm for arm in new.arms if arm in new.journals]
    try:
        baseline = read_baseline(rules.baseline)
    except UsageProblem as problem:
        for arm, gate in ((arm, gate) for gate in rules.max_drops for arm in arms):
            name = f"{gate.name} for {arm}"
            yield GateResult(gate=name, outcome="not enough data", detail=f"refused: {problem}")
        return
    for gate in rules.max_drops:
        for arm in arms:
            yield check_drop(new, arm, gate, baseline)


def _score(arm: str, records: Sequence[Record], gate: MinScore) -> GateResult:
    valid = [r for r in records if r.track == gate.track and r.status != "error"]
    name = f"{gate.name} for {arm}"
    if not valid:
        return GateResult(gate=name, outcome="not enough data", detail=f"no sample of {gate.track} has an answer")
    track = TRACKS[gate.track]
    metrics = track.metrics(valid)
    wanted = gate.metric or next(key for key, metric in metrics.items() if metric.primary)
    metric = metrics.get(wanted)
    if metric is None:
        return GateResult(
            gate=name,
            outcome="not enough data",
            detail=f"no metric {wanted!r}; {gate.track} has {', '.join(sorted(metrics))}",
        )
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


def _truncated(arm: str, records: Sequence[Record], rules: GateRules) -> Iterable[GateResult]:
    bound = rules.max_truncated
    for track in dict.fromkeys(r.track for r in records):
        valid = [r for r in records if r.track == track and r.status != "error"]
        cut = sum(r.status == "truncated" for r in valid)
        is_over = bool(valid) and cut / len(valid) > bound
        yield GateResult(
            gate=f"max-truncated {100 * bound:g} for {arm} on {track}",
            outcome="fail" if is_over else "pass" if valid else "not enough data",
            detail=f"{cut} of {len(valid)} answers were cut off"
            + ("; raise --max-tokens, or allow --max-truncated" if is_over else ""),
            is_asked="max_truncated" in rules.asked,
        )


def _errors(arm: str, records: Sequence[Record], rules: GateRules) -> GateResult:
    bound = rules.max_errors
    errors = sum(r.status == "error" for r in records)
    is_over = errors > bound
    return GateResult(
        gate=f"max-errors {bound} for {arm}",
        outcome="fail" if is_over else "pass",
        detail=f"{some(errors, 'sample')} got no valid output" + ("; --resume tries them again" if is_over else ""),
        is_asked="max_errors" in rules.asked,
    )
