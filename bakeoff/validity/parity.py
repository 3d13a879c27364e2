"""Do the arms of a run get the same prompts, see the same pictures, and hold the same weights?"""

import itertools
import statistics
from collections.abc import Mapping
from typing import Literal

import msgspec

from bakeoff.validity.arm_checks import check_arm
from bakeoff.validity.findings import Finding, at_most, listed
from bakeoff.validity.pair_checks import OTHER_WEIGHTS, check_pair
from bakeoff.validity.probes import Probe

FAR_FROM_REFERENCE = 0.1
"""Mean |difference of log-probabilities| to the reference that is worth a word."""

TIMES_MIDDLE = 6.0
"""How much larger than in the middle class a difference must be to be blamed on the class and not on the precision."""


class Parity(msgspec.Struct, frozen=True, kw_only=True):
    """What all probes say together. `unprobed` are arms without a probe."""

    state: Literal["same", "differs", "not checked"]
    reason: str
    findings: tuple[Finding, ...] = ()
    unprobed: tuple[str, ...] = ()


def judge(probes: Mapping[str, Probe], arms: tuple[str, ...]) -> Parity:
    """Return what the probes of `arms` say, of each and of every pair."""
    known = [probes[arm] for arm in arms if arm in probes]
    findings = [finding for probe in known for finding in check_arm(probe)]
    for a, b in itertools.combinations(known, 2):
        findings += check_pair(a, b)
    findings += [finding for probe in known for finding in check_reference(probe)]
    unprobed = tuple(arm for arm in arms if arm not in probes)
    serious = [finding for finding in findings if finding.serious]
    if serious:
        more = f" (and {len(serious) - 1} more)" if len(serious) > 1 else ""
        return Parity(state="differs", reason=serious[0].told_first + more, findings=tuple(findings), unprobed=unprobed)
    if unprobed:
        reason = "not checked" if len(unprobed) == len(arms) else f"{listed(unprobed)} not probed"
        return Parity(state="not checked", reason=reason, findings=tuple(findings), unprobed=unprobed)
    asked = min((len(probe.answers) for probe in known), default=0)
    reason = f"{asked} probes agree" if len(known) > 1 else f"{asked} probes, nothing wrong"
    return Parity(state="same", reason=reason, findings=tuple(findings))


def check_reference(probe: Probe) -> tuple[Finding, ...]:
    """Return where an arm of the embedded checkpoint leaves the reference implementation."""
    classes = {found.size: found.delta for found in probe.agreements.get("reference", ()) if found.delta is not None}
    if not classes:
        return ()
    bound = max(FAR_FROM_REFERENCE, min(TIMES_MIDDLE * statistics.median_low(classes.values()), OTHER_WEIGHTS))
    wrong = {size: delta for size, delta in classes.items() if delta > bound}
    if not wrong:
        return ()
    right = {size: delta for size, delta in classes.items() if size not in wrong}
    clean = f"; size {listed(right, most=6)} agrees ({at_most(max(right.values()))})" if right else ""
    where = listed((f"{size} ({delta:.2f})" for size, delta in wrong.items()), most=6)
    is_tiles = right and all(size.startswith("tiled") for size in wrong)
    cause = "tiles are resampled differently" if is_tiles else "not what the reference implementation computes"
    sentence = f"{probe.arm} leaves the reference on images of size {where}{clean}: {cause}"
    does = "see tiled images" if is_tiles else f"treat {listed(wrong, most=3)} images"
    brief = f"{probe.arm} does not {does} as the reference implementation does"
    return (Finding(kind="reference", arms=(probe.arm,), sentence=sentence, brief=brief),)
