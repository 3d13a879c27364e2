"""The tables behind the checks: agreement on given words, controls, batch audit, findings of the probes. Only text."""

from collections.abc import Iterable, Mapping

from bakeoff.report import numbers
from bakeoff.report.measuring import natural
from bakeoff.report.results import Results
from bakeoff.report.tables import Table
from bakeoff.validity.controls import CONTROLS, TrackControl
from bakeoff.validity.probes import ClassAgreement

_CONTROL_HEADS: Mapping[str, str] = {"blank": "Grey image", "swapped": "Another’s image", "missing": "No image"}


def findings(results: Results) -> tuple[tuple[str, str], ...]:
    """Return what the parity probes found: "differs" for what stands against a comparison, "note" for the rest."""
    found = results.validity.parity.findings
    return tuple(("differs" if finding.serious else "note", finding.sentence) for finding in found)


def agreement_table(results: Results) -> Table:
    """Return how likely each arm holds the words of another, a column for each size class of the images.

    A cell holds the mean |difference of log-probabilities| and how often the likeliest token is the same.
    """
    agreements = _agreements(results)
    sizes = _sizes(agreements)
    rows = tuple(
        (_who(arm, other), *(_cell(classes.get(size)) for size in sizes)) for arm, other, classes in agreements
    )
    return ("Reads the words of", *sizes), rows


def agreement_details(results: Results) -> Table:
    """Return everything measured about agreement, a row for each arm, writer and size class."""
    heads = (
        "Reads the words of",
        "Images",
        "Texts",
        "Tokens",
        "Same likeliest",
        "Mean |Δ|",
        "Largest |Δ|",
        "Divergence",
    )
    agreements = _agreements(results)
    rows = tuple(
        (
            _who(arm, other),
            size,
            numbers.count(found.continuations),
            numbers.count(found.tokens),
            numbers.counted(found.same_top, found.tops) if found.tops else numbers.NO_DATA,
            _nats(found.delta),
            _nats(found.worst),
            _nats(found.kl),
        )
        for arm, other, classes in agreements
        for size in _sizes(agreements)
        if (found := classes.get(size)) is not None
    )
    return heads, rows


def control_table(results: Results) -> Table:
    """Return scores with the right images, with grey, swapped and no images, and what seeing is worth."""
    heads = (
        "Arm",
        "Track",
        "n",
        "Its images",
        *_CONTROL_HEADS.values(),
        "Vision lift, pp",
        "Unmoved by another’s",
        "In words",
    )
    titles = _titles(results)
    rows = tuple(
        (
            arm,
            titles.get(track, track),
            numbers.count(found.n),
            numbers.score(found.score, found.n),
            *(
                numbers.score(found.controls[way], found.n) if way in found.controls else numbers.NO_DATA
                for way in CONTROLS
            ),
            f"{numbers.signed(100.0 * found.lift)} (95% {_lift_interval(found)})",
            numbers.percent(found.unmoved.get("swapped")),
            "ignores the image" if found.is_blind else "sees" if found.is_lifted else "no gain shown",
        )
        for arm, tracks in results.validity.controls.arms.items()
        for track, found in tracks.items()
    )
    return heads, rows


def audit_table(results: Results) -> Table:
    """Return what changed when several prompts were in flight."""
    heads = (
        "Arm",
        "Asked",
        "In flight",
        "Changed",
        "No answer",
        "Looping, alone / together",
        "Empty, alone / together",
        "In words",
    )
    rows = tuple(
        (
            arm,
            numbers.count(audit.n),
            numbers.count(audit.concurrency),
            numbers.counted(audit.flips, audit.n),
            numbers.count(audit.failed),
            " / ".join(numbers.count(found) for found in audit.repeated),
            " / ".join(numbers.count(found) for found in audit.empty),
            "safe" if audit.is_safe else "asked one at a time" if audit.dropped else "not safe",
        )
        for arm, audit in results.validity.audit.arms.items()
    )
    return heads, rows


_Agreement = tuple[str, str, dict[str, ClassAgreement]]


def _agreements(results: Results) -> list[_Agreement]:
    return [
        (arm, other, {found.size: found for found in classes})
        for arm, others in results.validity.parity.agreements.items()
        for other, classes in others.items()
        if classes
    ]


def _sizes(agreements: Iterable[_Agreement]) -> list[str]:
    return sorted({size for _, _, classes in agreements for size in classes}, key=natural)


def _who(arm: str, other: str) -> str:
    return f"{arm} of {'the reference implementation' if other == 'reference' else other}"


def _cell(found: ClassAgreement | None) -> str:
    if found is None:
        return numbers.NO_DATA
    return _nats(found.delta) + (f" ({numbers.counted(found.same_top, found.tops)})" if found.tops else "")


def _nats(value: float | None) -> str:
    """Return a difference of log-probabilities: 0.012, 1.3, or below 0.001."""
    if value is None:
        return numbers.NO_DATA
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}" if value < 1 else f"{value:.1f}"  # noqa: PLR2004 -- digits


def _lift_interval(found: TrackControl) -> str:
    low, high = 100.0 * (found.lift - 2 * found.error), 100.0 * (found.lift + 2 * found.error)
    return f"{numbers.signed(low)} to {numbers.signed(high)}"


def _titles(results: Results) -> dict[str, str]:
    return {name: track.title for arm in results.arms.values() for name, track in arm.tracks.items()}
