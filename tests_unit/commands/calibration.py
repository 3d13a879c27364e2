"""A run of the calibration track made in this process: every record as a real run writes it, no pytest, no model."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from bakeoff.engine import Answer
from bakeoff.environment import environment
from bakeoff.errors import BackendError
from bakeoff.evaluate import Asking, TrackPlan, arm_fingerprint, prompt_of, record_of
from bakeoff.records import Output, Record, Sample, Sampling, to_line
from bakeoff.runs import ArmManifest, Manifest, RunDirectory, TrackManifest
from bakeoff.tracks import TRACKS, samples_of
from bakeoff.tracks.baselines import oracle_output

TRACK = TRACKS["calibration"]
ASKING = Asking(sampling=Sampling(), seed=0, thinking="default")
IDENTITY = {"runtime": "fake", "weights_sha256": "0" * 64}


def plan() -> TrackPlan:
    samples = samples_of(TRACK)
    return TrackPlan(track=TRACK, protocol=TRACK.protocols[0], max_tokens=64, samples=samples, prepared=len(samples))


def records(
    answer: Callable[[Sample], str | BackendError] = lambda sample: oracle_output(sample, TRACK.protocols[0]),
) -> list[Record]:
    """Return one record per sample, scored by today's rules."""
    asked = plan()
    found = []
    for sample in asked.samples:
        text = answer(sample)
        result = (
            text
            if isinstance(text, BackendError)
            else Answer(output=Output(text=text, finish_reason="stop", total_s=0.1), attempts=1)
        )
        prompt = prompt_of(sample, asked, ASKING)
        found.append(
            record_of(sample, asked, prompt, result, attempts_before=1, started_at="2026-11-30T09:00:00+00:00")
        )
    return found


def write_run(folder: Path, arms: Mapping[str, list[Record]], **options: Any) -> RunDirectory:
    """Write a run directory with these records."""
    run, asked = RunDirectory(folder), plan()
    fingerprint = arm_fingerprint("fake", IDENTITY, ASKING, [asked])
    for arm, lines in arms.items():
        base = {name: value for name, value in fingerprint.items() if not name.startswith("tracks.")}
        with run.open_journal(arm, base) as journal:
            for line in lines:
                journal.append(to_line(line))
    run.write_manifest(
        Manifest(
            run=run.name,
            created="2026-11-30T09:00:00.000+00:00",
            argv=("tests_bench", "--model", "fake:echo", "--run-dir", str(folder)),
            options=options,
            environment=environment(),
            arms={
                arm: ArmManifest(model="fake:echo", backend="fake", identity=IDENTITY, fingerprint=fingerprint)
                for arm in arms
            },
            tracks={
                TRACK.name: TrackManifest(
                    version=TRACK.version,
                    dataset=TRACK.dataset,
                    revision=TRACK.revision,
                    protocol=asked.protocol.name,
                    max_tokens=asked.max_tokens,
                    full=asked.prepared,
                    prepared=asked.prepared,
                    samples_sha256=asked.samples_sha256,
                )
            },
        )
    )
    run.write_selection({arm: {TRACK.name: [sample.id for sample in asked.samples]} for arm in arms})
    return run


def misread(record: Record) -> Record:
    """A record as a rule of an older version would have written it: nothing was read."""
    return msgspec.structs.replace(record, answer=None, score=0.0, correct=False, scorer_version="0")
