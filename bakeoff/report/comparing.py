"""Every pair of arms on every track they share: paired difference, verdict, or the reason why there is none."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from bakeoff.records import Record, Sample
from bakeoff.report import numbers, verdicts
from bakeoff.report.arms import precision
from bakeoff.report.causes import flip_causes
from bakeoff.report.flip_results import Causes
from bakeoff.report.pairing import spread_of
from bakeoff.report.reading import Arm, Run, prepared_samples
from bakeoff.report.results import ArmResult, Comparison, Relation, TrackResult, Word
from bakeoff.report.several import after_holm, interval_p_values
from bakeoff.stats import PairedDifference, paired_difference
from bakeoff.tracks import TRACKS
from bakeoff.validity.inputs import differing_inputs, differing_records
from bakeoff.validity.retold import gaps

TEST = "paired t with two pseudo-pairs, clustered by image"
_LEAST_COMMON = 0.95
_RULE_OF_THREE = 3.0
_ORDER: dict[Relation, int] = {"other runtime": 0, "same runtime": 1, "other": 2}


class _Pair(msgspec.Struct, frozen=True, kw_only=True):
    """What two arms have in common on one track.

    `common` are the samples both answered, `tried` those both have a record of, `samples` the prepared ones. `share`
    is the common part of what either answered of the samples both selected: what one arm was never meant to answer is
    not missing.
    """

    a: Arm
    b: Arm
    track: str
    title: str
    relation: Relation
    common: tuple[tuple[Record, Record], ...]
    tried: tuple[tuple[Record, Record], ...]
    samples: Mapping[str, Sample]
    share: float | None


def compare(run: Run, arms: Mapping[str, ArmResult]) -> tuple[Comparison, ...]:
    """Return the comparisons of all pairs, later arm against earlier arm.

    The most telling relation comes first; pairs with nothing to compare yet come last.
    """
    samples = {track: prepared_samples(run, track) for track in run.tracks} if len(arms) > 1 else {}
    found = [
        _comparison(run, _pair(run.arms[a], run.arms[b], arms, track, samples[track]), arms)
        for b, a in itertools.combinations(arms, 2)
        for track in run.tracks
        if track in arms[a].tracks and track in arms[b].tracks and arms[a].tracks[track].is_known
    ]
    titles = {name: track.title for arm in arms.values() for name, track in arm.tracks.items()}
    ordered = sorted(found, key=lambda comparison: (comparison.n == 0, _ORDER[comparison.relation]))
    return after_holm(ordered, titles)


def shown_metric(tracks: Iterable[TrackResult]) -> str | None:
    """Return the metric that reports show for a track: the primary one, else the first that any arm has a value for."""
    seen = tuple(tracks)
    names = dict.fromkeys(name for track in seen for name in track.metrics)
    primary = [name for name in names if any(t.metrics[name].primary for t in seen if name in t.metrics)]
    ordered = (*primary, *(name for name in names if name not in primary))
    with_value = (n for n in ordered if any(t.metrics[n].value is not None for t in seen if n in t.metrics))
    return next(with_value, ordered[0] if ordered else None)


def drawn_interval(found: PairedDifference) -> tuple[float, float] | None:
    """Return the one interval that is printed and that the verdict is read from, as fractions.

    It is the wider of the two that the statistics know: that of the difference and the more cautious one that
    equivalence is judged by. With fewer than `3 / margin` effective pairs nothing may be called the same, so an end
    inside the margin moves out to `3 / pairs`: a rate up to there is plausible although it was never seen.
    """
    if found.low is None or found.high is None or found.interval95_eq is None or found.n_eff_eq is None:
        return None
    low, high = min(found.low, found.interval95_eq[0]), max(found.high, found.interval95_eq[1])
    if found.margin > 0 and not found.is_enough:
        plausible = min(_RULE_OF_THREE / found.n_eff_eq, 1.0)
        low = min(low, -plausible) if -found.margin < low <= 0 else low
        high = max(high, plausible) if 0 <= high < found.margin else high
    return low, high


def _pair(a: Arm, b: Arm, arms: Mapping[str, ArmResult], track: str, samples: Mapping[str, Sample]) -> _Pair:
    left, right = a.answered(track), b.answered(track)
    union = left.keys() | right.keys()
    for arm in (a, b):
        union = union if arm.selection is None else union & set(arm.selection.get(track, ()))
    common = tuple((left[key], right[key]) for key in sorted(left.keys() & right.keys()))
    return _Pair(
        a=a,
        b=b,
        track=track,
        title=arms[a.name].tracks[track].title,
        relation=_relation(a, b),
        common=common,
        tried=_tried(a, b, track),
        samples=samples,
        share=len(common) / len(union) if union else None,
    )


def _tried(a: Arm, b: Arm, track: str) -> tuple[tuple[Record, Record], ...]:
    left, right = ({record.sample_id: record for record in arm.records.get(track, ())} for arm in (a, b))
    return tuple((left[key], right[key]) for key in sorted(left.keys() & right.keys()))


def _relation(a: Arm, b: Arm) -> Relation:
    if a.manifest.backend == b.manifest.backend:
        return "same runtime"
    return "other runtime" if precision(a.manifest.model) == precision(b.manifest.model) else "other"


def _comparison(run: Run, pair: _Pair, arms: Mapping[str, ArmResult]) -> Comparison:
    results = [arms[arm.name].tracks[pair.track] for arm in (pair.a, pair.b)]
    metric = shown_metric(results)
    blocked, reason = _reason(run, pair, results)
    if reason is not None:
        return _without_verdict(run, pair, metric, blocked, reason)
    strata = _strata(pair.track, metric, results)
    found = paired_difference(
        [a.score or 0.0 for a, _ in pair.common],
        [b.score or 0.0 for _, b in pair.common],
        margin=run.margin_pp / 100.0,
        clusters=[f"{pair.track}/{a.cluster}" for a, _ in pair.common],
        strata=[a.groups.get(strata, "") for a, _ in pair.common] if strata else None,
    )
    bounds = drawn_interval(found)
    p = interval_p_values(found)
    if bounds is None or found.value is None or p is None:
        return _without_verdict(run, pair, metric, "undecided", "all samples of a group share one image")
    bounds_pp = (bounds[0] * 100.0, bounds[1] * 100.0)
    word, beyond = verdicts.read_verdict(*bounds_pp, run.margin_pp)
    needed = _needed(run, pair, strata) if word == "undecided" else None
    return msgspec.structs.replace(
        _base(run, pair, metric),
        diff_pp=found.value * 100.0,
        ci95_pp=bounds_pp,
        p=p.difference,
        p_same=p.same,
        p_beyond=p.beyond,
        p_not_worse=p.not_worse,
        test=TEST + (f", {strata} groups weighing the same" if strata else ""),
        verdict=word,
        beyond_margin=beyond,
        sentence=verdicts.sentence(
            word,
            a=pair.a.name,
            b=pair.b.name,
            track=pair.title,
            bounds_pp=bounds_pp,
            margin_pp=run.margin_pp,
            needed=needed,
            full=results[0].full,
        ),
        evidence=verdicts.evidence(
            diff_pp=found.value * 100.0,
            bounds_pp=bounds_pp,
            margin_pp=run.margin_pp,
            n=len(pair.common),
            identical=_identical(pair),
        ),
        pairs_needed=needed,
    )


def _reason(run: Run, pair: _Pair, results: Sequence[TrackResult]) -> tuple[Word, str | None]:
    """Return why a pair gets no verdict, and the word for that; no reason when it gets one."""
    blocking = _blocking_reason(run, pair, results)
    return ("not comparable", blocking) if blocking else ("undecided", _lacking_reason(pair, results))


def _blocking_reason(run: Run, pair: _Pair, results: Sequence[TrackResult]) -> str | None:
    """Return what makes the comparison one of something else than the arms."""
    differing = differing_inputs(pair.a.manifest.fingerprint, pair.b.manifest.fingerprint, pair.track)
    if differing:
        field, a, b = differing[0]
        more = f" and {len(differing) - 1} more inputs differ" if len(differing) > 1 else ""
        return f"{field} is {_value(a)} for {pair.a.name} and {_value(b)} for {pair.b.name}{more}"
    found = differing_records(pair.common)
    for differs, what in ((found.prompts, "the text or images asked"), (found.scorers, "the scorer or its version")):
        if differs:
            return f"{what} differ on {numbers.counted(differs, found.n)} samples"
    for arm, result in zip((pair.a, pair.b), results, strict=True):
        if result.n and result.truncated / result.n * 100.0 > run.max_truncated_pct:
            cut = f"{numbers.counted(result.truncated, result.n)} answers of {arm.name} were cut off"
            return f"{cut}{_budget(run, pair.track)}"
    return None


def _lacking_reason(pair: _Pair, results: Sequence[TrackResult]) -> str | None:
    """Return what is missing for a verdict."""
    for arm, result in zip((pair.a, pair.b), results, strict=True):
        if not result.n:
            return f"{arm.name} {'has no answer yet' if arm.manifest.is_started else 'was not started'}"
    if pair.share is None or pair.share < _LEAST_COMMON or not pair.common:
        sizes = " and ".join(numbers.count(result.n) for result in results)
        return f"only {numbers.some(len(pair.common), 'sample')} in common to both ({sizes} answered)"
    strata = _strata(pair.track, shown_metric(results), results)
    if strata and {a.groups.get(strata) for a, _ in pair.common} != {
        value for result in results for value in result.groups.get(strata, {})
    }:
        return f"the common samples lack a {strata}"
    return None


def _strata(track: str, metric: str | None, results: Iterable[TrackResult]) -> str | None:
    """Return the dimension whose groups weigh the same in the metric compared; None for a plain mean."""
    known = TRACKS.get(track)
    is_primary = any(metric and metric in found.metrics and found.metrics[metric].primary for found in results)
    return known.macro if known and is_primary else None


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else "not recorded" if value is None else msgspec.json.encode(value).decode()
    return numbers.short_hash(text) if len(text) == 64 else text.replace("-", numbers.MINUS, text[:1] == "-")  # noqa: PLR2004 -- a SHA-256


def _budget(run: Run, track: str) -> str:
    manifest = run.manifest.tracks.get(track)
    return f" at {numbers.count(manifest.max_tokens)} tokens" if manifest else ""


def _base(run: Run, pair: _Pair, metric: str | None) -> Comparison:
    """Return a comparison with everything but its verdict."""
    return Comparison(
        a=pair.a.name,
        b=pair.b.name,
        track=pair.track,
        metric=metric,
        relation=pair.relation,
        n=len(pair.common),
        diff_pp=None,
        ci95_pp=None,
        p=None,
        test=None,
        verdict="undecided",
        beyond_margin=False,
        margin_pp=run.margin_pp,
        sentence="",
        evidence="",
        reason=None,
        lost=sum(bool(b.correct) and not a.correct for a, b in pair.common),
        gained=sum(bool(a.correct) and not b.correct for a, b in pair.common),
        identical=_identical(pair),
        pairs_needed=None,
        causes=_causes(run, pair),
    )


def _causes(run: Run, pair: _Pair) -> Causes:
    known = TRACKS.get(pair.track)
    a, b = run.retold.get(pair.a.name), run.retold.get(pair.b.name)
    found = gaps(a, b) if a is not None and b is not None else {}
    return flip_causes(pair.tried, pair.samples, known.dimensions if known else (), found)


def _without_verdict(run: Run, pair: _Pair, metric: str | None, word: Word, reason: str) -> Comparison:
    base = _base(run, pair, metric)
    return msgspec.structs.replace(
        base,
        verdict=word,
        reason=reason,
        sentence=verdicts.withheld(word, a=pair.a.name, b=pair.b.name, track=pair.title, reason=reason),
        evidence=verdicts.evidence(
            diff_pp=None, bounds_pp=None, margin_pp=run.margin_pp, n=base.n, identical=base.identical
        ),
    )


def _identical(pair: _Pair) -> int:
    return sum(a.output == b.output for a, b in pair.common)


def _needed(run: Run, pair: _Pair, strata: str | None) -> int | None:
    """Return how many pairs would show that equal arms are the same, at the differences seen here."""
    needed = spread_of(pair.common, strata).pairs_for_equivalence(run.margin_pp / 100.0)
    return needed if needed is not None and needed > len(pair.common) else None
