"""What was asked beside the samples: parity probes, batch audit, vision controls. Each as a check of the report."""

from bakeoff.report import numbers
from bakeoff.report.reading import Run
from bakeoff.report.results import AuditCheck, ControlsCheck, ParityCheck
from bakeoff.validity.findings import listed
from bakeoff.validity.parity import judge

_NO_AUDIT = "not asked for: --audit 32 shows whether answers change when others are in flight"
_NO_CONTROLS = "not asked for: --controls shows whether answers come from the images"


def parity_check(run: Run) -> ParityCheck:
    """Return what the probes of all arms say together."""
    found = judge(run.probes, tuple(run.arms))
    agreements = {arm: run.probes[arm].agreements for arm in run.arms if arm in run.probes}
    return ParityCheck(
        state=found.state,
        required=True,
        reason=found.reason,
        findings=found.findings,
        agreements={arm: classes for arm, classes in agreements.items() if classes},
    )


def audit_check(run: Run) -> AuditCheck:
    """Return whether answers depended on what else was in flight; asked for by `--audit` only."""
    arms = {arm: run.audits[arm] for arm in run.arms if arm in run.audits}
    if not arms:
        return AuditCheck(state="not checked", required=False, reason=_NO_AUDIT, arms=arms)
    left_out = [arm for arm in run.arms if arm not in arms]
    unsafe = [audit for audit in arms.values() if not audit.is_safe]
    if unsafe:
        return AuditCheck(state="differs", required=True, reason=unsafe[0].sentence, arms=arms)
    asked = min(audit.n for audit in arms.values())
    reason = f"the same answers alone and together, {numbers.some(asked, 'sample')}"
    if left_out:
        return AuditCheck(state="not checked", required=False, reason=_some(reason, left_out), arms=arms)
    return AuditCheck(state="same", required=False, reason=reason, arms=arms)


def controls_check(run: Run) -> ControlsCheck:
    """Return whether scores fall without the right images; asked for by `--controls` only."""
    arms = {arm: run.controls[arm].tracks for arm in run.arms if arm in run.controls}
    if not any(arms.values()):
        return ControlsCheck(state="not checked", required=False, reason=_NO_CONTROLS, arms=arms)
    wrong = [
        sentence
        for arm in arms
        for sentence, found in zip(run.controls[arm].sentences(), arms[arm].values(), strict=True)
        if found.is_blind or not found.is_lifted
    ]
    if wrong:
        return ControlsCheck(state="differs", required=True, reason="; ".join(wrong[:2]), arms=arms)
    lifts = [
        f"{numbers.points(100 * found.lift)} pp for {arm} on {track}"
        for arm, tracks in arms.items()
        for track, found in tracks.items()
    ]
    reason = f"with the images scores are higher by {', '.join(lifts[:4])}"
    left_out = [arm for arm in run.arms if not arms.get(arm)]
    if left_out:
        return ControlsCheck(state="not checked", required=False, reason=_some(reason, left_out), arms=arms)
    return ControlsCheck(state="same", required=False, reason=reason, arms=arms)


def _some(reason: str, left_out: list[str]) -> str:
    return f"{reason}; not asked of {listed(left_out)}"
