"""A run of six arms that have answered everything, written as the plugin writes it, without six hours of answering."""

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bakeoff.engine import Answer
from bakeoff.evaluate import Asking, TrackPlan, prompt_of, record_of
from bakeoff.records import Output, Sampling, to_line
from bakeoff.runs import RunDirectory
from bakeoff.tracks import TRACKS, load_samples
from bakeoff.tracks.baselines import oracle_output
from tools.bench.figures import run_pytest
from tools.bench.workload import ALL, sizes, write_arms, write_bench, write_data

ARMS = 6
LEFT = 8
"""Samples that the last arm has not answered, so that a resumed session has something to do."""

_RIGHT = 0.8


def write_six(folder: Path, samples: int) -> RunDirectory:
    """Write data, arms and a nearly finished run below `folder`."""
    write_data(folder / "data", samples)
    write_bench(folder / "bench")
    arms = write_arms(folder, folder / "data", ARMS)
    begun = ("bench", "--model", ",".join(arms), "--limit", "1", "--run-dir", str(folder / "run"))
    run_pytest(folder, *begun, data=folder / "data")  # identities and fingerprints are the plugin's own
    run = RunDirectory(folder / "run")
    manifest = run.manifest()
    run.write_manifest(msgspec.structs.replace(manifest, options={**manifest.options, "limit": []}))
    lines = list(_lines(folder / "data"))
    for number, arm in enumerate(manifest.arms):
        chance = random.Random(number)
        answered = lines[: -LEFT if number == ARMS - 1 else None]
        with run.journal_path(arm).open("ab") as journal:
            journal.writelines(right if chance.random() < _RIGHT else wrong for _, _, right, wrong in answered)
    everything: dict[str, list[str]] = {}
    for track, name, _, _ in lines:
        everything.setdefault(track, []).append(name)
    run.write_selection(dict.fromkeys(manifest.arms, everything))
    return run


def _lines(data: Path) -> Iterator[tuple[str, str, bytes, bytes]]:
    """Yield track, sample id, and the journal lines of a right and of a wrong answer."""
    asking = Asking(sampling=Sampling(), seed=0, thinking="default")
    for name in sizes(ALL):
        track, samples = TRACKS[name], load_samples(data / name)
        protocol = track.protocols[0]
        plan = TrackPlan(
            track=track, protocol=protocol, max_tokens=protocol.max_tokens, samples=samples, prepared=len(samples)
        )
        for sample in samples:
            prompt = prompt_of(sample, plan, asking)
            told = [
                to_line(
                    record_of(
                        sample,
                        plan,
                        prompt,
                        Answer(output=_output(text), attempts=1),
                        attempts_before=0,
                        started_at="2026-11-30T09:00:00.000+00:00",
                    )
                )
                for text in (oracle_output(sample, protocol), "It is not that one.")
            ]
            yield name, sample.id, *((line + "\n").encode("ascii") for line in told)  # type: ignore[misc]  # two lines


def _output(text: str) -> Output:
    return Output(
        text=text,
        finish_reason="stop",
        prompt_tokens=300,
        image_tokens=256,
        completion_tokens=len(text.split()),
        queue_s=0.01,
        ttft_s=0.1,
        prefill_s=0.09,
        decode_s=0.2,
        total_s=0.3,
        peak_memory_bytes=3_000_000_000,
    )
