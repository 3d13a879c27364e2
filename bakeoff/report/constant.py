"""What answers without a model score on the samples of a run: the floor that a result has to clear."""

from collections.abc import Mapping

import msgspec

from bakeoff.report import numbers
from bakeoff.report.comparing import shown_metric
from bakeoff.report.grid import tracks_of
from bakeoff.report.reading import Run, asked_protocol, prepared_samples
from bakeoff.report.results import MetricResult, Results
from bakeoff.report.tables import Table
from bakeoff.report.visible import shortened, visible_line
from bakeoff.tracks import TRACKS
from bakeoff.tracks.baselines import constant_metrics

Baselines = Mapping[str, Mapping[str, Mapping[str, MetricResult]]]
"""Track -> constant output -> metric -> number."""

_LONGEST_OUTPUT = 40


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """The constant output that scores best on the metric shown for a track."""

    output: str
    found: MetricResult


def constant_baselines(run: Run) -> dict[str, dict[str, dict[str, MetricResult]]]:
    """Return the metrics of each constant output of each track, on the samples that any arm selected.

    A track is left out when it names no constant outputs, when its samples are not prepared here, or when its protocol
    is not known to this version: there is no floor then, which is not a floor of 0.
    """
    found: dict[str, dict[str, dict[str, MetricResult]]] = {}
    for name in run.tracks:
        track, protocol = TRACKS.get(name), asked_protocol(run, name)
        if track is None or protocol is None or not track.constants:
            continue
        prepared, wanted = prepared_samples(run, name), _wanted(run, name)
        samples = [sample for key, sample in prepared.items() if key in wanted]
        if not samples:
            continue
        found[name] = {
            output: {
                metric: MetricResult(value=m.value, ci95=m.ci95, n=m.n, primary=m.primary, flags=m.flags)
                for metric, m in metrics.items()
            }
            for output, metrics in constant_metrics(track, protocol, samples).items()
        }
    return found


def floors(results: Results) -> dict[str, Floor]:
    """Return the best constant output of each track that has one."""
    found: dict[str, Floor] = {}
    for name, tracks in tracks_of(results).items():
        metric = shown_metric(tracks) or ""
        scored = [
            Floor(output=output, found=m)
            for output, metrics in results.baselines.get(name, {}).items()
            if (m := metrics.get(metric)) is not None and m.value is not None
        ]
        if scored:
            found[name] = max(scored, key=lambda floor: floor.found.value or 0.0)
    return found


def baseline_table(results: Results) -> Table:
    """Return every constant output with its score on the metric shown for the track."""
    rows: list[tuple[str, ...]] = []
    for name, tracks in tracks_of(results).items():
        metric = shown_metric(tracks) or ""
        for output, metrics in results.baselines.get(name, {}).items():
            found = metrics.get(metric) or MetricResult(value=None, ci95=None, n=0)
            rows.append(
                (
                    tracks[0].title,
                    said(output),
                    metric,
                    numbers.score(found.value, found.n),
                    numbers.count(found.n),
                )
            )
    return ("Track", "Always answered", "Metric", "Score, %", "n"), tuple(rows)


def said(output: str) -> str:
    """Return a constant output as shown: in quotation marks, on one line."""
    return f"“{shortened(visible_line(output), _LONGEST_OUTPUT)}”"


def _wanted(run: Run, track: str) -> frozenset[str]:
    """Return the ids that any arm selected, or answered where no selection is recorded."""
    ids: set[str] = set()
    for arm in run.arms.values():
        chosen = arm.selection.get(track, ()) if arm.selection is not None else arm.answered(track)
        ids.update(chosen)
    return frozenset(ids)
