"""Scores of stored records again: which sample a record answers, which rule reads it, what its metric becomes."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from bakeoff.errors import DataMissing, UsageProblem
from bakeoff.evaluate import TrackPlan
from bakeoff.records import Prompt, Record, Sample
from bakeoff.scorers import SCORERS, Scorer
from bakeoff.tracks import TRACKS, Protocol, Track, samples_of

_MOST_NAMED = 5


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A record as it is and as it is scored now."""

    before: Record
    after: Record


class TrackScoring(msgspec.Struct, frozen=True, kw_only=True):
    """One arm on one track, scored again.

    `inputs` are the track's part of the fingerprint that holds for the new scores; `kept` counts samples whose target
    a named rule does not read; `n` counts records with an output.
    """

    track: str
    metric: str
    n: int
    kept: int
    value_before: float | None
    value_after: float | None
    inputs: dict[str, Any]
    rewritten: tuple[Change, ...]

    @property
    def changed(self) -> tuple[Change, ...]:
        """The changes that a reader of scores or answers sees."""
        return tuple(change for change in self.rewritten if _seen(change.before) != _seen(change.after))


def score_track(
    name: str, records: Sequence[Record], *, selected: Sequence[str], max_tokens: int, scorer: str | None
) -> TrackScoring:
    """Score the records of one arm on one track.

    Args:
        name: the track.
        records: the last record of each sample, errors included, which stay as they are.
        selected: ids that belong to the arm, for the rules that the fingerprint names.
        max_tokens: the token budget of the run.
        scorer: a rule for all samples whose target it reads, instead of the protocol's own.

    Raises:
        UsageProblem: when a sample or protocol is not there, or is not what was asked, or no metric comes out.
    """
    track = TRACKS.get(name)
    if track is None:
        raise UsageProblem(f"this version does not know the track {name!r}, so it cannot score its answers")
    protocol = _protocol(track, records)
    samples = _samples(track, protocol)
    answered = [record for record in records if record.status != "error"]
    _refuse_others(track, protocol, samples, answered)
    rules = {key: _rule(protocol, sample, scorer) for key, sample in samples.items()}
    meant = {rules[key] for key in (*selected, *(record.sample_id for record in records)) if key in rules}
    kept = sum(rules[r.sample_id].name != scorer for r in answered) if scorer else 0
    pairs = [Change(before=r, after=_scored(r, rules[r.sample_id], samples[r.sample_id])) for r in answered]
    metric, before = _primary(track, answered)
    after = _after(track, [change.after for change in pairs], metric)
    plan = TrackPlan(
        track=track,
        protocol=protocol,
        max_tokens=max_tokens,
        samples=tuple(samples[key] for key in selected if key in samples),
        prepared=len(samples),
    )
    named = {f"tracks.{name}.scorers": sorted(f"{rule.name}@{rule.version}" for rule in meant)}
    return TrackScoring(
        track=name,
        metric=metric,
        n=len(answered),
        kept=kept,
        value_before=before,
        value_after=after,
        inputs={**plan.inputs(), **named},
        rewritten=tuple(change for change in pairs if change.before != change.after),
    )


def _protocol(track: Track, records: Sequence[Record]) -> Protocol:
    name = records[0].protocol
    try:
        return track.protocol(name)
    except KeyError as error:
        known = ", ".join(protocol.name for protocol in track.protocols)
        raise UsageProblem(f"track {track.name} has no protocol {name!r} any more; it has {known}") from error


def _samples(track: Track, protocol: Protocol) -> dict[str, Sample]:
    try:
        return {sample.id: sample for sample in samples_of(track, protocol)}
    except DataMissing as error:
        raise UsageProblem(f"the targets of {track.name} are needed to score its answers: {error}") from error


def _refuse_others(track: Track, protocol: Protocol, samples: Mapping[str, Sample], answered: Sequence[Record]) -> None:
    """Refuse records whose sample is not here, or is asked otherwise: their targets may be those of other questions.

    A target that was corrected since leaves the prompt as it was and is what rescoring is for.
    """
    strangers = [
        record.sample_id
        for record in answered
        if record.sample_id not in samples
        or _prompt_sha256(protocol, samples[record.sample_id]) != record.prompt_sha256
    ]
    if strangers:
        named = ", ".join(strangers[:_MOST_NAMED]) + (" ..." if len(strangers) > _MOST_NAMED else "")
        prepare = f"Prepare the data of the run (bakeoff prepare {track.name}), or use" if track.source else "Use"
        raise UsageProblem(
            f"{len(strangers)} of {len(answered)} answers of {track.name} are to questions that are not prepared here "
            f"as they were asked: {named}.\n{prepare} the version of the suite that made it"
        )


def _prompt_sha256(protocol: Protocol, sample: Sample) -> str:
    return Prompt(sample_id=sample.id, messages=protocol.render(sample), max_tokens=1, seed=0).sha256


def _rule(protocol: Protocol, sample: Sample, scorer: str | None) -> Scorer:
    """Return the named rule where it reads the sample's kind of target, else the protocol's own."""
    if scorer is not None:
        try:
            SCORERS[scorer].score("", sample.target)
        except TypeError:
            return protocol.scorer(sample)
        return SCORERS[scorer]
    return protocol.scorer(sample)


def _scored(record: Record, rule: Scorer, sample: Sample) -> Record:
    score = rule.score(record.output or "", sample.target)
    return msgspec.structs.replace(
        record,
        answer=score.answer,
        score=score.value,
        correct=score.correct,
        metrics=score.metrics,
        scorer=rule.name,
        scorer_version=rule.version,
    )


def _primary(track: Track, answered: Sequence[Record]) -> tuple[str, float | None]:
    """Return name and value of the metric that the stored scores give; none where they no longer give one."""
    if not answered:
        return "score", None
    try:
        metrics = track.metrics(answered)
    except ValueError:
        return "score", None
    name = next((key for key, metric in metrics.items() if metric.primary), next(iter(metrics)))
    return name, metrics[name].value


def _after(track: Track, scored: Sequence[Record], metric: str) -> float | None:
    """Return the metric of the new scores.

    Raises:
        UsageProblem: when they give none: a report could not be made of them.
    """
    if not scored:
        return None
    try:
        found = track.metrics(scored)
    except ValueError as error:
        raise UsageProblem(
            f"the new scores give no metrics of {track.name}: {error}.\nName a scorer that gives what the track needs, "
            "or leave --scorer out"
        ) from error
    value = found.get(metric) or next(metric for metric in found.values() if metric.primary)
    return value.value


def _seen(record: Record) -> tuple[Any, ...]:
    return record.score, record.answer, record.correct
