"""Scores for a model card of the Hugging Face hub: `.eval_results/*.yaml`, one file an arm and track.

Format: https://huggingface.co/docs/hub/eval-results and `huggingface_hub.EvalResultEntry`. The hub shows such a value
beside others of the same benchmark, so only what can stand there is written: the whole split, the default protocol, no
sample without an answer. `verifyToken` is never written: it is given to jobs that run on the hub's own machines.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
import yaml  # type: ignore[import-untyped]  # its stubs are no dependency of this project

from bakeoff.errors import UsageProblem
from bakeoff.files import write_atomically
from bakeoff.report import summarize
from bakeoff.report.reading import Run, read_run
from bakeoff.report.results import ArmResult, MetricResult, Results, TrackResult
from bakeoff.report.visible import visible_line
from bakeoff.runs import RunDirectory
from bakeoff.tracks import TRACKS, Track

_COMMIT = re.compile(r"[0-9a-f]{40}")
_DECIMALS = 2


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What the run itself cannot say.

    `source` is the address where the run can be looked at; `tasks` maps a track to the id of its task in the
    benchmark's `eval.yaml`, where that is not the name of the dataset's configuration; `allows_subset` writes a score
    of a part of the split too, and says so first in its notes.
    """

    source: str | None = None
    tasks: Mapping[str, str] = {}
    allows_subset: bool = False


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """The files, and for each arm and track that has none the reason."""

    paths: tuple[Path, ...]
    refused: tuple[str, ...]


def write_hub(run: RunDirectory, folder: Path, wishes: Wishes) -> Written:
    """Write `<folder>/<arm>/.eval_results/<track>.yaml` for every score that can stand on a model card.

    Raises:
        UsageProblem: when there is none; the message gives all reasons. Also for an address that is none.
    """
    if wishes.source is not None and not wishes.source.startswith(("https://", "http://")):
        raise UsageProblem(f"--source {wishes.source}: write an address that begins with https://")
    content = read_run(run)
    results = summarize(content)
    paths: list[Path] = []
    refused: list[str] = []
    for name, arm in results.arms.items():
        for track, found in arm.tracks.items():
            reason = _reason(content, track, found, allows_subset=wishes.allows_subset)
            if reason is not None:
                refused.append(f"{name} on {track}: {reason}")
                continue
            path = folder / name / ".eval_results" / f"{track}.yaml"
            write_atomically(path, _yaml(content, results, arm, track, wishes))
            paths.append(path)
    if not paths:
        lines = "\n".join(f"  {reason}" for reason in refused) or "  no arm has a track"
        raise UsageProblem(f"{run.path} has no score for a model card:\n{lines}")
    return Written(paths=tuple(paths), refused=tuple(refused))


def _reason(run: Run, name: str, found: TrackResult, *, allows_subset: bool) -> str | None:
    """Return why a score cannot stand on a model card; None when it can."""
    track, manifest = TRACKS.get(name), run.manifest.tracks.get(name)
    if track is None or manifest is None:
        return "this version does not know the track"
    if dataset_of(track) is None:
        return "its samples are not one dataset of the hub"
    if manifest.protocol != track.protocols[0].name:
        return f"protocol {manifest.protocol} is not the default one, {track.protocols[0].name}"
    if manifest.version != track.version:
        return f"made by version {manifest.version} of the track; today's is {track.version}. Run it again"
    return _lack(run, found, allows_subset=allows_subset)


def _lack(run: Run, found: TrackResult, *, allows_subset: bool) -> str | None:
    """Return which samples, or which value, a score lacks; None when it lacks none."""
    if not found.complete or found.errors:
        missing = f"{(found.selected or 0) - found.n} of {found.selected} samples have no answer"
        return f"{missing}. Go on with: pytest tests_bench --resume=reports/{run.name}"
    if found.full is not None and found.n < found.full and not allows_subset:
        return f"a subset, {found.n} of {found.full} samples. Run all of it, or name it a subset with --subset"
    primary = _primary(found)
    return "its main metric has no value" if primary is None or primary[1].value is None else None


def _yaml(run: Run, results: Results, arm: ArmResult, name: str, wishes: Wishes) -> str:
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml  # noqa: PLC0415 - takes a while to load

    track, manifest, found = TRACKS[name], run.manifest.tracks[name], arm.tracks[name]
    dataset, primary = dataset_of(track), _primary(found)
    assert dataset is not None  # noqa: S101 - for the type checker: `_reason` has refused it
    assert primary is not None  # noqa: S101 - as above
    repository, config = dataset
    entry = EvalResultEntry(
        dataset_id=repository,
        task_id=wishes.tasks.get(name, config),
        value=round(100 * (primary[1].value or 0.0), _DECIMALS),
        dataset_revision=manifest.revision if _COMMIT.fullmatch(manifest.revision) else None,
        date=results.created.partition("T")[0],
        source_url=wishes.source,
        source_name=f"vlm-bakeoff run {results.run}" if wishes.source else None,
        notes=_notes(run, arm, name, primary),
    )
    text: str = yaml.safe_dump(eval_result_entries_to_yaml([entry]), sort_keys=False, allow_unicode=True, width=100)
    return text


def _notes(run: Run, arm: ArmResult, name: str, primary: tuple[str, MetricResult]) -> str:
    """Return the conditions of the number in one line: what a reader needs to judge or repeat it."""
    manifest, found = run.manifest.tracks[name], arm.tracks[name]
    metric, result = primary
    is_subset = found.full is not None and found.n < found.full
    asked = {key.removeprefix("sampling."): value for key, value in arm.fingerprint.items() if "sampling." in key}
    weights = arm.identity.get("weights_sha256")
    version = run.manifest.environment.get("bakeoff", "of unknown version")
    parts = (
        f"SUBSET: {found.n} of {found.full} samples" if is_subset else "",
        f"{metric} in percent, n {found.n}",
        f"95% interval {100 * result.ci95[0]:.1f} to {100 * result.ci95[1]:.1f}" if result.ci95 else "",
        f"{found.truncated} cut off, {found.unparsed} without a readable answer",
        f"protocol {manifest.protocol}, {manifest.max_tokens} tokens",
        ", ".join(f"{key} {value}" for key, value in asked.items() if value is not None),
        f"model {arm.model} on {arm.backend}",
        f"weights sha256 {weights}" if isinstance(weights, str) else "",
        f"vlm-bakeoff {version}, track version {manifest.version}",
        "self-reported, run on a local machine",
    )
    return visible_line("; ".join(part for part in parts if part))


def _primary(found: TrackResult) -> tuple[str, MetricResult] | None:
    return next(((name, metric) for name, metric in found.metrics.items() if metric.primary), None)


def dataset_of(track: Track) -> tuple[str, str] | None:
    """Return repository and configuration where all samples of a track come from one dataset."""
    splits = track.source.splits if track.source is not None else ()
    repositories = {split.repository for split in splits}
    if len(repositories) != 1:
        return None
    configs = {split.config for split in splits}
    return repositories.pop(), (configs.pop() or "default") if len(configs) == 1 else "default"
