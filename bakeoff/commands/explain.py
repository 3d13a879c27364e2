"""`bakeoff explain`: ask the arms of a run their flipped samples once more, with log-probabilities, to say why.

A flip that no check of the files explains is a matter of words: was it a near tie that rounding decided, or do the arms
differ? Every arm is loaded once, asked exactly as in the run, and what it says is kept in `retold/<arm>.json`, from
which every later report takes the causes.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec

from bakeoff.backends import Settings, open_backend
from bakeoff.errors import BackendError, DataMissing, UsageProblem
from bakeoff.evaluate import Asking, TrackPlan, context_bound, prompt_of
from bakeoff.models import resolve
from bakeoff.records import Output, Prompt, Record, Sampling
from bakeoff.report import build
from bakeoff.report.causes import UNEXPLAINED, cause_of
from bakeoff.report.reading import Arm, Run, read_run
from bakeoff.runs import RunDirectory
from bakeoff.traces import Trace
from bakeoff.tracks import TRACKS, samples_of
from bakeoff.validity.retold import Retold, RetoldArm, write_retold

MOST = 64
"""Samples of an arm that are asked again, drawn evenly from its flips."""

CANDIDATES = 8
"""Likeliest tokens kept at each place."""


def explain(directory: Path, say: Callable[[str], None], *, llama_server: str | None = None) -> None:
    """Ask the flipped samples again and build the reports with what came out.

    Raises:
        UsageProblem: when the directory is no run, or a model cannot be loaded.
    """
    directory_of_run = RunDirectory(directory)
    run = read_run(directory_of_run)
    wanted = _flipped(run)
    if not wanted:
        say("no sample flipped between two arms of this run without a known cause: there is nothing to ask again")
        return
    directory_of_run.lock()
    try:
        for name, records in wanted.items():
            retold = _ask(run, run.arms[name], records, directory_of_run, llama_server)
            write_retold(directory_of_run, retold)
            same = sum(answer.repeats for answer in retold.answers.values())
            say(f"{name}: {len(retold.answers)} flipped samples asked again, {same} answered to the letter as before")
        results = build(directory_of_run)
    finally:
        directory_of_run.unlock()
    for comparison in results.comparisons:
        if comparison.causes is not None and comparison.causes.flips:
            causes = ", ".join(f"{cause} {count}" for cause, count in comparison.causes.causes.items())
            flips = comparison.causes.flips
            say(f"{comparison.a} vs {comparison.b} on {comparison.track}: {flips} flipped: {causes}")


def _flipped(run: Run) -> dict[str, list[Record]]:
    """Return by arm the records whose flip no file explains, at most `MOST` each."""
    found: dict[str, dict[str, Record]] = {}
    for a, b in itertools.combinations(run.arms, 2):
        for track in run.arms[a].tracks:
            mine, theirs = run.arms[a].answered(track), run.arms[b].answered(track)
            for key, record in mine.items():
                other = theirs.get(key)
                if other is not None and record.correct != other.correct and cause_of(record, other) == UNEXPLAINED:
                    found.setdefault(a, {})[key] = record
                    found.setdefault(b, {})[key] = other
    chosen = _spread(sorted({key for records in found.values() for key in records}))
    return {arm: [records[key] for key in chosen if key in records] for arm, records in found.items()}


def _spread(names: Sequence[str]) -> list[str]:
    step = max(1.0, len(names) / MOST)
    return [names[int(place * step)] for place in range(min(MOST, len(names)))]


def _ask(run: Run, arm: Arm, records: Sequence[Record], directory: RunDirectory, llama_server: str | None) -> RetoldArm:
    spec = resolve(arm.manifest.model)
    prompts = _prompts(run, arm, records)
    options = run.manifest.options
    settings = Settings(
        context_tokens=context_bound(prompts.values()),
        log_path=directory.path / "logs" / f"explain-{spec.arm}.log",
        needs_images=any(prompt.images for prompt in prompts.values()),
        llama_server=llama_server or options.get("llama_server"),
        server_args=tuple(options.get("server_arg") or ()),
        progress=lambda _: None,
    )
    try:
        backend = open_backend(spec, settings)
    except BackendError as error:
        raise UsageProblem(f"{spec.name} cannot be loaded again: {error}") from error
    try:
        _refuse_others(arm, backend.identity)
        futures = {record.sample_id: backend.submit(prompts[record.sample_id]) for record in records}
        answers = {r.sample_id: told for r in records if (told := _told(r, futures[r.sample_id])) is not None}
    finally:
        backend.close()
    return RetoldArm(arm=arm.name, answers=answers)


def _told(record: Record, future: Future[Output]) -> Retold | None:
    """Return what came of a sample; None when nothing did, which leaves its flip unexplained."""
    try:
        output = future.result()
    except BackendError:
        return None
    trace = output.trace or Trace()
    return Retold(repeats=output.text == record.output, text_ids=trace.text_ids, tokens=trace.tokens)


def _refuse_others(arm: Arm, identity: Mapping[str, Any]) -> None:
    """Refuse other weights or another runtime than answered in the run: what they say explains nothing."""
    for field in ("weights_sha256", "projector_sha256", "runtime_version"):
        then, now = arm.manifest.identity.get(field), identity.get(field)
        if then != now:
            raise UsageProblem(
                f"{arm.name} had the {field} {then} in the run and has {now} now, so it cannot say why its samples "
                f"flipped. Repeat the run first: bakeoff replay DIR --run"
            )


def _prompts(run: Run, arm: Arm, records: Sequence[Record]) -> dict[str, Prompt]:
    """Return the prompts as they were asked, with log-probabilities asked for.

    Raises:
        UsageProblem: when a sample is not prepared here as it was asked.
    """
    inputs = arm.manifest.fingerprint
    sampling = {name.removeprefix("sampling."): value for name, value in inputs.items() if name.startswith("sampling.")}
    asking = Asking(
        sampling=msgspec.convert(sampling, Sampling), seed=inputs["seed"], thinking=inputs.get("thinking", "default")
    )
    found: dict[str, Prompt] = {}
    for name in dict.fromkeys(record.track for record in records):
        asked = [record for record in records if record.track == name]
        plan = _plan(run, arm, name, asked[0].protocol)
        samples = {sample.id: sample for sample in plan.samples}
        for record in asked:
            sample = samples.get(record.sample_id)
            prompt = prompt_of(sample, plan, asking) if sample is not None else None
            if prompt is None or prompt.sha256 != record.prompt_sha256:
                raise UsageProblem(
                    f"{record.sample_id} of {name} is not prepared here as it was asked: bakeoff prepare {name}"
                )
            found[record.sample_id] = msgspec.structs.replace(prompt, top_logprobs=CANDIDATES)
    return found


def _plan(run: Run, arm: Arm, name: str, protocol_name: str) -> TrackPlan:
    try:
        track = TRACKS[name]
        protocol = track.protocol(protocol_name)
        samples = samples_of(track, protocol)
    except KeyError as error:
        raise UsageProblem(f"this version does not know track {name} with protocol {protocol_name}") from error
    except DataMissing as error:
        raise UsageProblem(str(error)) from error
    budget = arm.manifest.fingerprint.get(f"tracks.{name}.max_tokens", protocol.max_tokens)
    return TrackPlan(
        track=track,
        protocol=protocol,
        max_tokens=budget,
        is_budget_given=bool(run.manifest.options.get("max_tokens")),
        samples=samples,
        prepared=len(samples),
    )
