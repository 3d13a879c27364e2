"""Logs that `inspect view` opens: one `.eval` file an arm and track.

The format is documented at https://inspect.aisi.org.uk/eval-logs.html: a ZIP of JSON files, `header.json` for the
whole, `samples/<id>_epoch_1.json` a sample, `summaries.json` for the list. It is written by hand, because Inspect
brings some sixty packages; that Inspect reads it is tested with Inspect.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from bakeoff import __version__
from bakeoff.errors import UsageProblem
from bakeoff.export.asked import Questions
from bakeoff.export.inspect_sample import SCORE, as_sample, as_summary, ended
from bakeoff.export.reading import Survey
from bakeoff.files import filling_atomically
from bakeoff.metrics import Metric
from bakeoff.records import Record
from bakeoff.report.visible import encodable
from bakeoff.tracks import TRACKS

_SCHEMA = 2
_BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The earliest date that a ZIP can hold: the same files give the same bytes."""


def write_inspect(found: Survey, folder: Path) -> tuple[Path, ...]:
    """Write the logs into `folder`; names are those that Inspect gives.

    Raises:
        UsageProblem: when the records of an arm give no number.
    """
    return tuple(_write_log(found, arm, track, folder) for arm, tracks in found.offsets.items() for track in tracks)


def _write_log(found: Survey, arm: str, track: str, folder: Path) -> Path:
    manifest = found.manifest.arms[arm]
    model = f"{manifest.backend}/{arm}"
    stamp = found.manifest.created.replace(":", "-").replace(".", "-")
    path = folder / f"{stamp}_{track}_{arm.replace('_', '-')}_{_identifier(found, arm, track)}.eval"
    questions = Questions(track)
    summaries: list[str] = []
    slim: list[Record] = []
    with filling_atomically(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        header = {"version": _SCHEMA, "eval": _spec(found, arm, track, model), "plan": _PLAN}
        _add(archive, "_journal/start.json", header)
        for entry in found.entries_of(arm, track):
            sample = as_sample(entry, questions, model)
            _add(archive, f"samples/{sample['id']}_epoch_1.json", sample)
            summaries.append(_json(as_summary(sample)))
            slim.append(msgspec.structs.replace(entry.record, output=None, answer=None))
        _write(archive, "summaries.json", ("[", *_between(summaries, ","), "]"))
        results = _results(slim, arm, track, found.selected.get(arm, {}).get(track))
        _add(archive, "header.json", {**header, **results, "stats": _stats(slim, model)})
    return path


_PLAN = {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}}


def _spec(found: Survey, arm: str, track: str, model: str) -> dict[str, Any]:
    manifest, of_arm, of_track = found.manifest, found.manifest.arms[arm], found.manifest.tracks.get(track)
    environment = manifest.environment
    packages = environment.get("packages", {})
    known = TRACKS.get(track)
    spec: dict[str, Any] = {
        "eval_id": _identifier(found, arm, track, "eval"),
        "run_id": _identifier(found, "", ""),
        "created": manifest.created,
        "task": track,
        "task_id": _identifier(found, arm, track),
        "task_version": of_track.version if of_track else "",
        "task_display_name": known.title if known else track,
        "task_args": {"protocol": of_track.protocol, "max_tokens": of_track.max_tokens} if of_track else {},
        "dataset": {
            "name": of_track.dataset if of_track else track,
            "location": f"{of_track.dataset}@{of_track.revision}" if of_track else None,
            "samples": found.selected.get(arm, {}).get(track),
        },
        "model": model,
        "model_args": {"name": of_arm.model, "identity": of_arm.identity, "settings": of_arm.settings},
        "model_generate_config": _generation(of_arm.fingerprint, of_track.max_tokens if of_track else None),
        "config": {},
        "packages": {"vlm-bakeoff": environment.get("bakeoff", __version__), **packages},
        "metadata": {"run": manifest.run, "arm": arm, "fingerprint": of_arm.fingerprint, "environment": environment},
    }
    git = environment.get("git")
    if isinstance(git, dict) and git.get("commit"):
        spec["revision"] = {"type": "git", "origin": "", "commit": git["commit"], "dirty": bool(git.get("dirty"))}
    cleaned: dict[str, Any] = encodable(spec)
    return cleaned


def _generation(fingerprint: Mapping[str, Any], max_tokens: int | None) -> dict[str, Any]:
    names = ("temperature", "top_p", "top_k")
    sampling = {name: fingerprint[f"sampling.{name}"] for name in names if f"sampling.{name}" in fingerprint}
    return {**sampling, "max_tokens": max_tokens, "seed": fingerprint.get("seed")}


def _results(records: list[Record], arm: str, track: str, selected: int | None) -> dict[str, Any]:
    """Return status and metrics: those of the report, by the same functions, the primary one first."""
    answered = [record for record in records if record.status != "error"]
    known = TRACKS.get(track)
    try:
        metrics = dict(known.metrics(answered)) if known and answered else {}
    except ValueError as error:
        raise UsageProblem(f"the records of arm {arm} on {track} give no number: {error}") from error
    is_complete = len(answered) == (len(records) if selected is None else selected)
    score = {
        "name": SCORE,
        "scorer": "+".join(sorted({record.scorer for record in records})),
        "scored_samples": len(answered),
        "unscored_samples": len(records) - len(answered),
        "metrics": {
            name: _metric(name, metric)
            for name, metric in sorted(metrics.items(), key=lambda item: not item[1].primary)
            if metric.value is not None
        },
    }
    return {
        "status": "success" if is_complete else "cancelled",
        "results": {
            "total_samples": len(records) if selected is None else selected,
            "completed_samples": len(answered),
            "scores": [score],
        },
    }


def _metric(name: str, metric: Metric) -> dict[str, Any]:
    more = {"ci95": metric.ci95, "n": metric.n, "primary": metric.primary, "flags": metric.flags}
    return {"name": name, "value": metric.value, "metadata": more}


def _stats(records: list[Record], model: str) -> dict[str, Any]:
    asked, said = (_tokens(records, name) for name in ("prompt_tokens", "completion_tokens"))
    return {
        "started_at": min((record.started_at for record in records if record.started_at), default=""),
        "completed_at": max((at for record in records if (at := ended(record))), default=""),
        "model_usage": {model: {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}},
    }


def _tokens(records: list[Record], name: str) -> int:
    return sum(getattr(record, name) or 0 for record in records if record.status != "error")


def _identifier(found: Survey, *parts: str) -> str:
    """Return an id that follows from the run and from what is named, 22 letters and digits long as Inspect's own."""
    return hashlib.sha256("\0".join((found.manifest.run, *parts)).encode("utf-8", "replace")).hexdigest()[:22]


def _add(archive: zipfile.ZipFile, name: str, value: Any) -> None:
    _write(archive, name, (_json(value),))


def _write(archive: zipfile.ZipFile, name: str, pieces: Iterable[str]) -> None:
    information = zipfile.ZipInfo(name, _BEGINNING)
    information.compress_type = zipfile.ZIP_DEFLATED
    information.external_attr = 0o644 << 16
    with archive.open(information, "w") as member:
        for piece in pieces:
            member.write(piece.encode("ascii"))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _between(texts: list[str], separator: str) -> Iterator[str]:
    for position, text in enumerate(texts):
        yield text if position == 0 else separator + text
