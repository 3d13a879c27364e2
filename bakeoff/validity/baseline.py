"""Has a run lost against a stored one? A paired non-inferiority gate on the samples that both answered.

Source of the gate: `stats.non_inferiority_gate`, held from the cautious 95 % interval. What would make the comparison
one of harnesses (other samples, prompts, scorers, sampling) is refused with the reason and decides nothing.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.journal import JournalContent
from bakeoff.records import Record
from bakeoff.runs import ArmManifest, RunDirectory, Selection
from bakeoff.tracks import TRACKS
from bakeoff.validity.inputs import differing_inputs, differing_records, value_text
from bakeoff.validity.pairing import Pairing, pair_metric
from bakeoff.validity.results import GateResult, Outcome
from bakeoff.validity.rules import MaxDrop

if TYPE_CHECKING:
    from bakeoff.stats import Gate

LEAST_COMMON = 0.95
"""Below this share of the samples that both runs selected, what is missing may be what decides."""


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """What of a run the gate needs."""

    path: Path
    arms: Mapping[str, ArmManifest]
    journals: Mapping[str, JournalContent]
    selection: Selection

    def answered(self, arm: str, track: str) -> dict[str, Record]:
        """Return the records of an arm on a track that hold an answer, by sample id."""
        content = self.journals.get(arm)
        records = content.records.values() if content else ()
        chosen = self.selected(arm, track)
        return {r.sample_id: r for r in records if r.track == track and r.status != "error" and r.sample_id in chosen}

    def selected(self, arm: str, track: str) -> frozenset[str]:
        """Return the samples that belong to an arm; those with a record where the run has no selection."""
        if self.selection:
            return frozenset(self.selection.get(arm, {}).get(track, ()))
        content = self.journals.get(arm)
        return frozenset(r.sample_id for r in content.records.values() if r.track == track) if content else frozenset()

    def like(self, arm: str) -> str | None:
        """Return the arm to compare with: the one of that name, else the only one."""
        if arm in self.arms:
            return arm
        return next(iter(self.arms)) if len(self.arms) == 1 else None


def read_stored(run: RunDirectory) -> Stored:
    """Read a run.

    Raises:
        UsageProblem: when it is not a run or a file of it is not readable.
    """
    return Stored(path=run.path, arms=run.manifest().arms, journals=run.journals(), selection=run.selection())


def read_baseline(path: Path) -> Stored:
    """Read the run that `--baseline` names.

    Raises:
        UsageProblem: as `read_stored`; also when the run has no answer to compare with.
    """
    stored = read_stored(RunDirectory(path))
    if not any(r.status != "error" for content in stored.journals.values() for r in content.records.values()):
        raise UsageProblem(f"--baseline {path}: no arm of that run has an answer; name a finished run")
    return stored


def check_drop(new: Stored, arm: str, gate: MaxDrop, baseline: Stored) -> GateResult:
    """Hold one arm of `new` against the baseline."""
    name = f"{gate.name} for {arm}"
    base = baseline.like(arm)
    if base is None:
        reason = f"{baseline.path} has the arms {', '.join(baseline.arms)} and none called {arm}"
        return GateResult(gate=name, outcome="not enough data", detail=f"refused: {reason}")
    theirs, ours = baseline.answered(base, gate.track), new.answered(arm, gate.track)
    both = baseline.selected(base, gate.track) & new.selected(arm, gate.track)
    common = {key: (ours[key], theirs[key]) for key in sorted(both) if key in ours and key in theirs}
    refusal = _refusal(new.arms[arm], baseline.arms[base], gate.track, common, len(both))
    pairing = refusal or pair_metric(TRACKS[gate.track], gate.metric, [mine for mine, _ in common.values()])
    if isinstance(pairing, str):
        where = f"against {base} of {baseline.path}: "
        return GateResult(gate=name, outcome="not enough data", detail=f"refused {where}{pairing}")
    outcome, detail = _hold(Rows(ours=ours, theirs=theirs, both=both), pairing, gate)
    return GateResult(gate=name, outcome=outcome, detail=f"{detail}; against {base} of {baseline.path.name}")


def _refusal(
    ours: ArmManifest, theirs: ArmManifest, track: str, common: Mapping[str, tuple[Record, Record]], both: int
) -> str | None:
    """Return why the two are not compared, and what to type instead; None when they are."""
    differing = differing_inputs(theirs.fingerprint, ours.fingerprint, track)
    if differing and common:
        field, was, now = differing[0]
        more = f" (and {len(differing) - 1} more inputs)" if len(differing) > 1 else ""
        return (
            f"{field} was {value_text(was)} and is now {value_text(now)}{more}; measure the baseline again with today's"
        )
    found = differing_records(common.values())
    if found.prompts:
        return f"what was asked differs on {found.prompts} of {found.n} samples; measure the baseline again"
    if found.scorers:
        how = "rescore the baseline with: bakeoff rescore DIR -o NEW"
        return f"the scorer or its version differs on {found.scorers} of {found.n} samples; {how}"
    if not common:
        return f"no sample of {track} was answered by both"
    if len(common) < LEAST_COMMON * both:
        return f"only {len(common)} of {both} samples were answered by both; --resume the one that lacks them"
    return None


class Rows(msgspec.Struct, frozen=True, kw_only=True):
    """Records of both runs by sample id, and the samples that both selected."""

    ours: Mapping[str, Record]
    theirs: Mapping[str, Record]
    both: frozenset[str]

    def gate(self, pairing: Pairing, margin: float, unanswered: tuple[float, float] | None) -> "Gate":
        """Hold the gate; `unanswered` scores what one of the two lacks (ours, theirs), None leaves it out."""
        from bakeoff.stats import non_inferiority_gate  # noqa: PLC0415 - options name gates long before numbers count

        columns: list[tuple[float, float, str, str]] = []
        for key in sorted(self.both):
            mine, other = self.ours.get(key), self.theirs.get(key)
            known = mine or other
            is_whole = mine is not None and other is not None
            if known is None or not pairing.belongs(known) or not (is_whole or unanswered):
                continue
            stand_in = unanswered or (0.0, 0.0)
            values = [
                default if record is None else float(pairing.value(record) or 0.0)
                for record, default in ((mine, stand_in[0]), (other, stand_in[1]))
            ]
            columns.append((values[0], values[1], known.cluster, known.groups.get(pairing.strata or "", "")))
        return non_inferiority_gate(
            [row[0] for row in columns],
            [row[1] for row in columns],
            margin,
            clusters=[row[2] for row in columns],
            strata=[row[3] for row in columns] if pairing.strata else None,
        )


def _hold(rows: Rows, pairing: Pairing, gate: MaxDrop) -> tuple[Outcome, str]:
    """Return the outcome and its numbers; it must stand whatever the few unanswered samples would have scored."""
    margin = gate.bound_pp / 100.0
    found = rows.gate(pairing, margin, None)
    if found.value is None:
        return "not enough data", f"no sample of {pairing.metric} was answered by both"
    if found.low is None or found.high is None:
        return "not enough data", f"{pairing.metric}: all samples of a group share one image"
    detail = (
        f"{pairing.metric} {100 * found.value:+.1f} points, 95 % interval {100 * found.low:+.1f} to "
        f"{100 * found.high:+.1f}, {found.n} pairs; at most {gate.bound_pp:g} may be lost"
    )
    outcomes = [found.outcome, *(rows.gate(pairing, margin, ends).outcome for ends in ((0.0, 1.0), (1.0, 0.0)))]
    if len(set(outcomes)) > 1:
        return "not enough data", f"{detail}; the unanswered samples could turn it: {' / '.join(outcomes[1:])}"
    return found.outcome, detail
