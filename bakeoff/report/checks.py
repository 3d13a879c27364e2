"""May this table be believed? The checks that files alone can answer, and the badge that sums them up."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from bakeoff.report import numbers
from bakeoff.report.examined import audit_check, controls_check, parity_check
from bakeoff.report.frames import frame_check
from bakeoff.report.reading import Arm, Run
from bakeoff.report.results import (
    Badge,
    Check,
    Comparison,
    IdentityCheck,
    Mode,
    ModeCheck,
    ParityCheck,
    Truncation,
    TruncationCheck,
    Validity,
)
from bakeoff.report.reuse import reuse_check
from bakeoff.report.tokens import token_check
from bakeoff.stats import bound_missing

LABELS = {
    "identity": "Weights",
    "prompt": "Prompt",
    "parity": "Parity probe",
    "budget": "Prompt tokens",
    "sampling": "Sampling",
    "truncation": "Answer budget",
    "mode": "Thinking",
    "samples": "Samples",
    "scorer": "Scorer",
    "frame": "Coordinates",
    "audit": "Batch audit",
    "controls": "Vision controls",
    "reuse": "Image reuse",
}
"""Names of the checks for a reader, in the order shown."""

_WEIGHTS = ("weights_sha256", "weights.sha256", "sha256")


def validate(run: Run, comparisons: tuple[Comparison, ...]) -> Validity:
    """Return all checks with their badge.

    A required check that was not made counts as a difference: what nobody looked at is not known to be the same.
    """
    validity = Validity(
        parity=parity_check(run),
        truncation=_truncation(run),
        budget=token_check(run),
        mode=_mode(run),
        identity=_identity(run),
        audit=audit_check(run),
        controls=controls_check(run),
        sampling=_same_inputs(run, ("sampling.", "seed", "thinking"), same="all fields alike on every arm"),
        samples=_same_inputs(run, _track_fields(run, "samples_sha256"), same="the same prepared samples"),
        prompt=_prompt(run),
        scorer=_scorer(run),
        frame=frame_check(run),
        reuse=reuse_check(run),
        badge="differs",
        reasons=(),
    )
    badge, reasons = _badge(run, named_checks(validity), comparisons)
    return msgspec.structs.replace(validity, badge=badge, reasons=reasons)


def named_checks(validity: Validity) -> dict[str, Check]:
    """Return the checks by name, in the order shown."""
    checks: dict[str, Check] = {name: getattr(validity, name) for name in LABELS}
    return checks


def _badge(run: Run, checks: Mapping[str, Check], comparisons: tuple[Comparison, ...]) -> tuple[Badge, tuple[str, ...]]:
    required = {name: check for name, check in checks.items() if check.required}
    reasons = tuple(
        f"{LABELS[name]}: {reason}"
        for name, check in required.items()
        if check.state != "same"
        for reason in _reasons(check)
    )
    if len(run.arms) < 2:  # noqa: PLR2004 -- a pair
        return "comparable", ("one arm: nothing to compare",)
    absent = tuple(f"{arm.name} was not started" for arm in run.arms.values() if not arm.manifest.is_started)
    if absent:
        return "not comparable", (*absent, *reasons)
    if comparisons and all(comparison.verdict == "not comparable" for comparison in comparisons):
        blocking = dict.fromkeys(comparison.reason or "" for comparison in comparisons)
        return "not comparable", (*blocking, *reasons)
    return ("differs" if reasons else "comparable"), reasons


def _reasons(check: Check) -> tuple[str, ...]:
    """Return why a check does not hold: every serious finding of the parity probes, else its reason."""
    serious = (
        tuple(found.told_first for found in check.findings if found.serious) if isinstance(check, ParityCheck) else ()
    )
    return serious or (check.reason,)


def _truncation(run: Run) -> TruncationCheck:
    arms = {arm.name: {track: _cut_off(arm, track) for track in arm.tracks} for arm in run.arms.values()}
    over = [
        f"{numbers.counted(found.truncated, found.n)} answers of {arm} on {track}"
        for arm, tracks in arms.items()
        for track, found in tracks.items()
        if found.rate is not None and found.rate * 100.0 > run.max_truncated_pct
    ]
    cut = sum(found.truncated for tracks in arms.values() for found in tracks.values())
    most = numbers.percent(run.max_truncated_pct / 100.0)
    few = f"{numbers.some(cut, 'answer')} cut off, at most {most} on every arm" if cut else "no answer cut off"
    few += _tight(run)
    lying = _spent(run)
    if lying:
        return TruncationCheck(state="differs", required=True, reason=_joined(lying), arms=arms)
    if not any(found.n for tracks in arms.values() for found in tracks.values()):
        return TruncationCheck(state="not checked", required=True, reason="no answers yet", arms=arms)
    reason = f"cut off: {_joined(over)}" if over else few
    return TruncationCheck(state="differs" if over else "same", required=True, reason=reason, arms=arms)


def _tight(run: Run) -> str:
    """Return a word on the track whose longest whole answer leaves less than as much again of its budget."""
    for arm in run.arms.values():
        for track in arm.tracks:
            budget = _budget(run, arm, track)
            whole = [r.completion_tokens or 0 for r in arm.answered(track).values() if r.status == "ok"]
            if budget and whole and 2 * max(whole) > budget:
                return (
                    f"; the longest whole answer of {arm.name} on {track} takes {numbers.count(max(whole))} of "
                    f"{numbers.count(budget)} tokens, and a budget should be twice that"
                )
    return ""


def _budget(run: Run, arm: Arm, track: str) -> int | None:
    """Return the token budget of an answer, which arms asked in their own forms do not share."""
    own = arm.manifest.fingerprint.get(f"tracks.{track}.max_tokens")
    if isinstance(own, int):
        return own
    return run.manifest.tracks[track].max_tokens if track in run.manifest.tracks else None


def _spent(run: Run) -> list[str]:
    """Return arms that say they stopped by themselves when their budget was used up: then nothing counts as cut off."""
    found: list[str] = []
    for arm in run.arms.values():
        for track in arm.tracks:
            budget = _budget(run, arm, track)
            answered = arm.answered(track).values()
            spent = sum(
                r.status == "ok" and budget is not None and (r.completion_tokens or 0) >= budget for r in answered
            )
            if spent > 1 and 100.0 * spent > run.max_truncated_pct * len(answered):
                share = numbers.counted(spent, len(answered))
                found.append(f"{arm.name} says «stop» for {share} answers on {track} that used up the budget")
    return found


def _cut_off(arm: Arm, track: str) -> Truncation:
    answered = arm.answered(track).values()
    whole = [record.score or 0.0 for record in answered if record.status == "ok"]
    cut, n = len(answered) - len(whole), len(answered)
    bounds = bound_missing(whole, cut)
    return Truncation(truncated=cut, n=n, rate=cut / n if n else None, worst=bounds.worst, best=bounds.best)


def _mode(run: Run) -> ModeCheck:
    arms = {arm.name: _seen(run, arm) for arm in run.arms.values()}
    contrary = [name for name, mode in arms.items() if _is_contrary(mode)]
    habits = {(mode.thinking > 0, mode.plain > 0) for mode in arms.values() if mode.thinking or mode.plain}
    if contrary:
        reason = f"{_joined(contrary)} did not do what was asked"
        return ModeCheck(state="differs", required=True, reason=reason, arms=arms)
    if not habits or any(mode.unknown for mode in arms.values()):
        return ModeCheck(state="not checked", required=True, reason="not seen in every output", arms=arms)
    if len(habits) > 1:
        return ModeCheck(state="differs", required=True, reason="some arms think, others do not", arms=arms)
    reason = f"every output in the mode asked for{_thoughts(arms)}"
    return ModeCheck(state="same", required=True, reason=reason, arms=arms)


def _thoughts(arms: Mapping[str, Mode]) -> str:
    """Return how many tokens went into thoughts and answers, where any went into thoughts."""
    spent = {
        name: (mode.thinking_tokens, mode.answer_tokens or 0) for name, mode in arms.items() if mode.thinking_tokens
    }
    told = (f"{name} {numbers.count(t)} thinking and {numbers.count(a)} answering" for name, (t, a) in spent.items())
    return f"; tokens: {_joined(told)}" if spent else ""


def _seen(run: Run, arm: Arm) -> Mode:
    asked = arm.manifest.fingerprint.get("thinking", run.manifest.options.get("thinking"))
    records = [record for track in arm.tracks for record in arm.answered(track).values()]
    seen = [record.thinking for record in records]
    counted = [
        (record.thinking_tokens, record.completion_tokens - record.thinking_tokens)
        for record in records
        if record.thinking_tokens is not None and record.completion_tokens is not None
    ]
    return Mode(
        asked=None if asked is None else str(asked),
        thinking=sum(thinking is True for thinking in seen),
        plain=sum(thinking is False for thinking in seen),
        unknown=sum(thinking is None for thinking in seen),
        thinking_tokens=sum(thoughts for thoughts, _ in counted) if counted else None,
        answer_tokens=sum(answer for _, answer in counted) if counted else None,
    )


def _is_contrary(mode: Mode) -> bool:
    return (mode.asked == "on" and mode.plain > 0) or (mode.asked == "off" and mode.thinking > 0)


def _identity(run: Run) -> IdentityCheck:
    arms = {arm.name: _weights_hash(arm.manifest.identity) for arm in run.arms.values()}
    nameless = [name for name, digest in arms.items() if digest is None]
    if nameless:
        return IdentityCheck(
            state="not checked", required=True, reason=f"no hash of the weights of {_joined(nameless)}", arms=arms
        )
    return IdentityCheck(
        state="same", required=True, reason=f"{numbers.some(len(arms), 'arm')} with hashed weights", arms=arms
    )


def _weights_hash(identity: Mapping[str, Any]) -> str | None:
    found = next((identity[name] for name in _WEIGHTS if isinstance(identity.get(name), str)), None)
    nested = identity.get("weights")
    return found or (_weights_hash(nested) if isinstance(nested, dict) else None)


def _track_fields(run: Run, field: str) -> tuple[str, ...]:
    return tuple(f"tracks.{track}.{field}" for track in run.tracks)


def _same_inputs(run: Run, prefixes: tuple[str, ...], *, same: str) -> Check:
    """Return whether the fields of the fingerprints that begin with `prefixes` agree among the arms that have them."""
    values: dict[str, dict[str, str]] = {}
    for arm in run.arms.values():
        for field, value in arm.manifest.fingerprint.items():
            if field.startswith(prefixes):
                values.setdefault(field, {})[arm.name] = repr(value)
    differing = sorted(field for field, found in values.items() if len(set(found.values())) > 1)
    if not values:
        return Check(state="not checked", required=True, reason="not in the manifest")
    if differing:
        return Check(state="differs", required=True, reason=f"{_joined(differing)} not the same on every arm")
    return Check(state="same", required=True, reason=same)


def _prompt(run: Run) -> Check:
    return _same_records(run, "prompt_sha256", same="what was asked is identical", differs="the text or images asked")


def _scorer(run: Run) -> Check:
    return _same_records(run, "scorer_version", same="one version on every arm", differs="the version of the scorer")


def _same_records(run: Run, field: str, *, same: str, differs: str) -> Check:
    """Return whether a field of the records agrees among the arms, sample by sample."""
    seen: dict[tuple[str, str], set[str]] = {}
    for arm in run.arms.values():
        for track in arm.tracks:
            for key, record in arm.answered(track).items():
                seen.setdefault((track, key), set()).add(getattr(record, field))
    if not seen or any("" in values for values in seen.values()):
        return Check(state="not checked", required=True, reason="not in every record")
    differing = sum(len(values) > 1 for values in seen.values())
    if differing:
        reason = f"{differs} differ on {numbers.counted(differing, len(seen))} samples"
        return Check(state="differs", required=True, reason=reason)
    return Check(state="same", required=True, reason=f"{same}, {numbers.some(len(seen), 'sample')}")


def _joined(names: Iterable[str]) -> str:
    """Return a few names as a list in words."""
    found = list(names)
    return ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")  # noqa: PLR2004 -- readable
