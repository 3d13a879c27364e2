"""`bakeoff plan`: how many samples a question needs, in plain words, from a stored run where there is one.

Source: `stats.planning` (Connor 1987 for paired proportions). The one number that decides is how often two arms differ;
it is measured on a stored pair, or read off a table of round figures, and never guessed from the scores.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.report import numbers
from bakeoff.report.comparing import shown_metric
from bakeoff.report.measuring import arm_result
from bakeoff.report.pairing import Spread, spread_of
from bakeoff.report.reading import Arm, Run, read_run
from bakeoff.runs import RunDirectory
from bakeoff.stats import (
    detectable_difference,
    detectable_difference_continuous,
    samples_for_difference,
    samples_for_equivalence,
)
from bakeoff.tracks import TRACKS

ROUND_FIGURES = (0.02, 0.05, 0.1, 0.2, 0.3)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be shown: a difference of `effect` (a fraction), seen in the share `power` of runs."""

    effect: float
    power: float

    @property
    def words(self) -> str:
        """The effect in words."""
        return f"{numbers.points(self.effect * 100.0)} points"


class Pilot(msgspec.Struct, frozen=True, kw_only=True):
    """What a stored pair says of the differences of its scores on one track; `full` is the size of the split."""

    a: str
    b: str
    title: str
    full: int | None
    spread: Spread


def read_effect(text: str) -> float:
    """Return an effect, `2pp`, `2` or `0.5pp`, as a fraction.

    Raises:
        UsageProblem: when it is not above 0 and at most 100.
    """
    try:
        points = float(text.strip().removesuffix("pp").strip())
    except ValueError:
        points = math.nan
    if not 0.0 < points <= 100.0:  # noqa: PLR2004 -- percentage points
        raise UsageProblem(f"--effect {text}: write points above 0 and at most 100, such as --effect 2pp")
    return points / 100.0


def plan(effect: str, power: float, directory: Path | None) -> str:
    """Return how many samples show `effect` with `power`, as lines of text.

    Raises:
        UsageProblem: when a value cannot be meant, or the run holds no pair of arms to learn from.
    """
    wanted = Wanted(effect=read_effect(effect), power=power)
    if not 0.5 <= power < 1.0:  # noqa: PLR2004 -- below a half a run is a coin
        raise UsageProblem(f"--power {power}: write a share from 0.5 to below 1, such as --power 0.8")
    if directory is None:
        return "\n".join(_round_figures(wanted))
    pilots = list(_pilots(read_run(RunDirectory(directory))))
    if not pilots:
        raise UsageProblem(
            f"{directory} has no two arms with common answers; name a run with a pair, or leave --from out"
        )
    return "\n\n".join("\n".join(_from_pilot(wanted, pilot)) for pilot in pilots)


def _round_figures(wanted: Wanted) -> Iterator[str]:
    yield f"To see a difference of {wanted.words} in {numbers.percent(wanted.power)} of runs, one question an image:"
    yield ""
    yield "two arms differ on    to see the difference    to call equal arms the same"
    for discordance in ROUND_FIGURES:
        needed = samples_for_difference(wanted.effect, discordance, power=wanted.power)
        same = samples_for_equivalence(wanted.effect, discordance)
        shown = "impossible" if needed is None else numbers.count(needed)
        yield f"{numbers.percent(discordance):>17}    {shown:>21}    {numbers.count(same):>27}"
    yield ""
    yield "“Same” is within the same number of points, for arms that are equal, in 80% of runs."
    yield "How often your arms differ decides. Measure it on a small run: --limit 100, then bakeoff plan --from DIR."


def _from_pilot(wanted: Wanted, pilot: Pilot) -> Iterator[str]:
    n = len(pilot.spread.differences)
    yield f"{pilot.a} against {pilot.b} on {pilot.title}: {numbers.count(n)} pairs"
    share = numbers.percent(pilot.spread.discordance)
    yield f"  Their scores differ on {share} of samples.{_sharing(pilot)}"
    if n < numbers.FEW:
        yield f"  {numbers.count(n)} pairs are few: take what follows as a rough figure."
    if pilot.spread.discordance == 0:
        yield "  No sample tells them apart, so no number can be worked out; answer more samples first."
        return
    needed, least = _needed(wanted, pilot), _detectable(wanted, pilot)
    if needed is None:
        yield f"  A difference of {wanted.words} cannot be: arms that differ on {share} are at most that far apart."
    else:
        yield f"  To see {wanted.words} in {numbers.percent(wanted.power)} of runs: {_pairs(needed, pilot)}"
    same = pilot.spread.pairs_for_equivalence(wanted.effect)
    if same is not None:
        yield f"  To call equal arms the same within {wanted.words} in 80% of runs: {_pairs(same, pilot)}"
    there = f"the {numbers.count(n)} pairs there are"
    if least is None:
        yield f"  With {there}, no difference can be seen: they differ on too few samples."
    else:
        yield f"  With {there}, differences from {numbers.points(least * 100.0)} points on are seen."


def _sharing(pilot: Pilot) -> str:
    reasons = []
    if pilot.spread.icc is not None:
        reasons.append(f"questions share images (correlation {pilot.spread.icc:.2f})")
    if pilot.spread.unevenness > 1.0 + 1e-9:
        reasons.append("groups of different size weigh the same")
    factor = numbers.ratio(pilot.spread.deff)
    return f" Because {' and '.join(reasons)}, it takes {factor} times the samples." if reasons else ""


def _needed(wanted: Wanted, pilot: Pilot) -> int | None:
    if pilot.spread.is_binary:
        return samples_for_difference(
            wanted.effect, pilot.spread.discordance, deff=pilot.spread.deff, power=wanted.power
        )
    one = detectable_difference_continuous(1, pilot.spread.sd, deff=pilot.spread.deff, power=wanted.power)
    return math.ceil((one / wanted.effect) ** 2)


def _detectable(wanted: Wanted, pilot: Pilot) -> float | None:
    n = len(pilot.spread.differences)
    if pilot.spread.is_binary:
        return detectable_difference(n, pilot.spread.discordance, deff=pilot.spread.deff, power=wanted.power)
    return detectable_difference_continuous(n, pilot.spread.sd, deff=pilot.spread.deff, power=wanted.power)


def _pairs(needed: int, pilot: Pilot) -> str:
    """Return a number of pairs, and whether the track has so many."""
    if pilot.full is None:
        return f"{numbers.count(needed)} pairs."
    if needed > pilot.full:
        return f"{numbers.count(needed)} pairs. The track has only {numbers.count(pilot.full)}."
    return f"{numbers.count(needed)} pairs, {numbers.percent(needed / pilot.full)} of the track."


def _pilots(run: Run) -> Iterator[Pilot]:
    arms = list(run.arms.values())
    for position, b in enumerate(arms):
        for a in arms[position + 1 :]:
            for track in run.tracks:
                pilot = _pilot(run, a, b, track)
                if pilot is not None:
                    yield pilot


def _pilot(run: Run, a: Arm, b: Arm, track: str) -> Pilot | None:
    left, right = a.answered(track), b.answered(track)
    common = sorted(left.keys() & right.keys())
    if not common:
        return None
    result = arm_result(run, a).tracks[track]
    metric = shown_metric([result])
    macro = TRACKS[track].macro if track in TRACKS else None
    return Pilot(
        a=a.name,
        b=b.name,
        title=f"{result.title} ({metric})" if metric else result.title,
        full=result.full,
        spread=spread_of([(left[key], right[key]) for key in common], macro),
    )
