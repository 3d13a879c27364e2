"""From the records of one arm to its numbers on each track."""

from collections.abc import Mapping, Sequence

from bakeoff.errors import UsageProblem
from bakeoff.metrics import Metric, group_metrics
from bakeoff.records import Record
from bakeoff.report.reading import Arm, Run
from bakeoff.report.results import ArmResult, GroupResult, MetricResult, TrackResult
from bakeoff.report.timing import measure
from bakeoff.tracks import TRACKS, Track


def arm_result(run: Run, arm: Arm) -> ArmResult:
    """Return all numbers of one arm."""
    timing = measure(arm.journal, (record for track in arm.tracks for record in arm.answered(track).values()))
    return ArmResult(
        model=arm.manifest.model,
        backend=arm.manifest.backend,
        identity=arm.manifest.identity,
        settings=arm.manifest.settings,
        fingerprint=arm.manifest.fingerprint,
        wall_s=timing.wall_s,
        samples_per_s=timing.samples_per_s,
        load_s=timing.load_s,
        sessions=timing.sessions,
        ttft_s_median=timing.ttft_s_median,
        decode_tps_median=timing.decode_tps_median,
        peak_memory_bytes=timing.peak_memory_bytes,
        tracks={track: _track_result(run, arm, track) for track in run.tracks if track in arm.tracks},
    )


def _track_result(run: Run, arm: Arm, name: str) -> TrackResult:
    track, manifest = TRACKS.get(name), run.manifest.tracks.get(name)
    records = arm.records.get(name, ())
    answered = tuple(arm.answered(name).values())
    selected = None if arm.selection is None else arm.selection.get(name, ())
    skipped = arm.skipped.get(name, ())
    done = {record.sample_id for record in answered} | {skip.sample_id for skip in skipped}
    return TrackResult(
        title=track.title if track else name,
        is_known=track is not None,
        n=len(answered),
        selected=None if selected is None else len(selected),
        full=(manifest.full or manifest.prepared or None) if manifest else None,
        complete=selected is not None and done.issuperset(selected),
        errors=sum(record.status == "error" for record in records),
        skipped=len(skipped),
        truncated=sum(record.status == "truncated" for record in answered),
        unparsed=sum(record.is_unparsed for record in answered),
        retried=sum(record.attempt > 1 for record in records),
        right=count_right(answered),
        metrics=_metrics(arm, track, answered) if track and answered else {},
        groups=_groups(answered, track.dimensions) if track and answered else {},
    )


def count_right(answered: Sequence[Record]) -> int | None:
    """Return how many are right; None when a score lies between 0 and 1 or nothing was answered."""
    scores = [record.score for record in answered]
    return sum(score == 1 for score in scores) if scores and all(score in {0, 1} for score in scores) else None


def _metrics(arm: Arm, track: Track, answered: Sequence[Record]) -> dict[str, MetricResult]:
    try:
        found = track.metrics(answered)
    except ValueError as error:
        raise UsageProblem(f"the records of arm {arm.name} on {track.name} give no number: {error}") from error
    return {
        name: MetricResult(value=m.value, ci95=m.ci95, n=m.n, primary=m.primary, flags=m.flags)
        for name, m in found.items()
    }


def _groups(answered: Sequence[Record], dimensions: Sequence[str]) -> dict[str, dict[str, GroupResult]]:
    found: Mapping[str, Mapping[str, Metric]] = group_metrics(answered, tuple(dimensions))
    return {
        dimension: {
            value: GroupResult(
                n=metric.n,
                value=metric.value,
                ci95=metric.ci95,
                right=count_right([record for record in answered if record.groups.get(dimension) == value]),
            )
            for value, metric in sorted(values.items(), key=lambda item: natural(item[0]))
        }
        for dimension, values in found.items()
        if values
    }


def natural(text: str) -> tuple[tuple[int, int | str], ...]:
    """Return a sort key that puts `size 9` before `size 10`."""
    pieces: list[tuple[int, int | str]] = []
    digits = ""
    for character in f"{text}\0":
        if character.isascii() and character.isdigit():
            digits += character
            continue
        if digits:
            pieces.append((0, int(digits)))
            digits = ""
        pieces.append((1, character))
    return tuple(pieces)
