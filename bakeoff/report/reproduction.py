"""Does an arm give the number that others published for its model? One card per arm, track and published number.

A verdict needs the same question: protocol, samples and scorer. Where these are not known to be the same the card says
"other protocol", lists what differs, and still says on which side of the interval the published number lies, because a
reader will look for it.
"""

from collections.abc import Mapping

from bakeoff.errors import UsageProblem
from bakeoff.models import resolve
from bakeoff.report import numbers
from bakeoff.report.arms import bits_per_weight
from bakeoff.report.reading import Arm, Run
from bakeoff.report.results import ArmResult, Reproduced, Reproduction, TrackResult
from bakeoff.tracks import TRACKS, Published

_UNQUANTISED = 15.5
"""Bits a weight from which a checkpoint counts as published: 16, less what norms and biases may differ."""


def reproductions(run: Run, arms: Mapping[str, ArmResult]) -> tuple[Reproduction, ...]:
    """Return the cards of all arms whose model a track has published numbers for, in the order of the run."""
    found: list[Reproduction] = []
    for name, arm in run.arms.items():
        for track, result in arms[name].tracks.items():
            known = TRACKS[track].published if track in TRACKS else ()
            cards = (_card(arm, track, result, one) for one in known if is_of(one.model, arm.manifest.model))
            found += (card for card in cards if card is not None)
    return tuple(found)


def _stated(value: float) -> str:
    return f"{100.0 * value:.1f}"


def is_of(published: str, model: str) -> bool:
    """Return whether a model as asked for has the name of a published one, with at most a form or precision behind it.

    It is the name of its folder or repository that counts.
    """
    try:
        location = resolve(model).location.lower()
    except UsageProblem:  # a name of another version
        location = model.lower()
    name = location.rstrip("/").rpartition("/")[2]
    return name == published.lower() or name.startswith(f"{published.lower()}-")


def _card(arm: Arm, track: str, result: TrackResult, published: Published) -> Reproduction | None:
    value, ci95, n = _ours(result, published)
    if value is None:
        return None
    protocol = str(arm.manifest.fingerprint.get(f"tracks.{track}.protocol", ""))
    reasons = (*_differences(result, published, protocol), *_conditions(arm))
    inside = None if ci95 is None else ci95[0] <= published.value <= ci95[1]
    verdict: Reproduced = "other protocol" if reasons or inside is None else "reproduced" if inside else "differs"
    return Reproduction(
        arm=arm.name,
        track=track,
        metric=published.metric,
        group=published.group,
        published=published.value,
        source=published.source,
        date=published.date,
        protocol=published.protocol,
        value=value,
        ci95=ci95,
        n=n,
        verdict=verdict,
        reasons=reasons,
        sentence=_sentence(verdict, published, ci95, inside=inside, reasons=reasons),
    )


def _ours(result: TrackResult, published: Published) -> tuple[float | None, tuple[float, float] | None, int]:
    """Return value, interval and n of the number here that a published one can be laid beside."""
    if published.group:
        dimension, _, value = published.group.partition(":")
        group = result.groups.get(dimension, {}).get(value)
        return (group.value, group.ci95, group.n) if group else (None, None, 0)
    metric = result.metrics.get(published.metric)
    return (metric.value, metric.ci95, metric.n) if metric else (None, None, 0)


def _differences(result: TrackResult, published: Published, protocol: str) -> list[str]:
    """Return why the two numbers do not answer the same question; nothing when they are known to."""
    reasons = []
    if published.same_as != protocol:
        reasons.append(f"asked by {protocol or 'an unknown protocol'}, published by: {published.protocol}")
    if result.full is None or result.n < result.full:
        reasons.append(f"{numbers.count(result.n)} of {numbers.count(result.full or 0)} samples")
    if published.note:
        reasons.append(published.note)
    return reasons


def _conditions(arm: Arm) -> list[str]:
    """Return in what an arm is not the model as it was published."""
    reasons = []
    bits, temperature = bits_per_weight(arm.manifest.identity), arm.manifest.fingerprint.get("sampling.temperature")
    if bits is not None and bits < _UNQUANTISED:
        reasons.append(f"quantised, {numbers.bits(bits)}")
    if temperature:
        reasons.append(f"sampled at temperature {temperature:g}")
    return reasons


def _sentence(
    verdict: str,
    published: Published,
    ci95: tuple[float, float] | None,
    *,
    inside: bool | None,
    reasons: tuple[str, ...],
) -> str:
    number = _stated(published.value)
    if ci95 is None or inside is None:
        return f"Other protocol: {'; '.join(reasons)}." if reasons else f"Too few samples to lay beside {number}."
    side = f"the interval here {'contains' if inside else 'does not contain'} the published {number}"
    if verdict == "other protocol":
        return f"Other protocol: {'; '.join(reasons)}. No verdict; {side}."
    return f"{'Reproduced' if inside else 'Differs'}: {side}."
