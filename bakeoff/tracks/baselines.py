"""Answers that need no model: the gold itself, and the same text for every sample. The ceiling and floor of a track."""

from collections.abc import Sequence

from bakeoff.metrics import Metric
from bakeoff.records import BoxTarget, NumberTarget, OptionTarget, Record, Sample, TextTarget
from bakeoff.tracks.grounding import oracle_json
from bakeoff.tracks.track import Protocol, Track


def oracle_output(sample: Sample, protocol: Protocol) -> str:
    """Return the gold of a sample as `protocol` asks for it; scored by the protocol's own rule it gives 1."""
    match sample.target:
        case BoxTarget():
            return protocol.oracle(sample) if protocol.oracle is not None else oracle_json(sample)
        case OptionTarget(letter=letter):
            return letter
        case NumberTarget(value=value):
            return value
        case TextTarget(answers=answers):
            return answers[0]


def answered(sample: Sample, protocol: Protocol, output: str) -> Record:
    """Return the record that `output` would leave for a sample."""
    scorer = protocol.scorer(sample)
    score = scorer.score(output, sample.target)
    return Record(
        sample_id=sample.id,
        track=sample.track,
        status="ok",
        groups=sample.groups,
        image_sha256=tuple(image.sha256 for image in sample.images),
        protocol=protocol.name,
        output=output,
        answer=score.answer,
        score=score.value,
        correct=score.correct,
        scorer=scorer.name,
        scorer_version=scorer.version,
        metrics=score.metrics,
    )


def constant_metrics(track: Track, protocol: Protocol, samples: Sequence[Sample]) -> dict[str, dict[str, Metric]]:
    """Return the track's metrics for each of its constant outputs, by output; a floor that a result must clear."""
    return {
        output: track.metrics([answered(sample, protocol, output) for sample in samples]) for output in track.constants
    }
