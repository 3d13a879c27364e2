"""`--max-tokens probe`: how long answers get is measured before the run, and every arm gets twice the longest."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from bakeoff.backends import open_backend
from bakeoff.models import ModelSpec
from bakeoff.plugin.opening import backend_settings
from bakeoff.plugin.options import Options
from bakeoff.plugin.planning import Plan
from bakeoff.records import Prompt, Sample
from bakeoff.runs import RunDirectory
from bakeoff.validity.budget import ROOM, Measured, measure

SAMPLES = 8
"""Samples of a track that are asked of every arm."""


def probe_budgets(
    options: Options,
    plan: Plan,
    raw: Mapping[str, Any],
    tell: Callable[[str], None],
    is_meant: Callable[[ModelSpec, Sample], bool],
) -> dict[str, Any]:
    """Return the options to store, with a number of tokens for every track and what it was made from.

    Every arm is loaded once more for it; one budget holds for all, as scores at different budgets are not compared.

    Args:
        options: the run's.
        plan: arms and tracks.
        raw: the options as they are stored.
        tell: takes a line for people.
        is_meant: whether the run is to ask an arm this sample; no other is measured.
    """
    worst: dict[str, Measured] = {}
    for spec in plan.arms:
        for found in _measured(spec, options, plan, tell, is_meant):
            tell(f"{spec.arm}: {found.sentence}")
            if found.track not in worst or found.advised > worst[found.track].advised:
                worst[found.track] = found
    given = [entry for entry in raw["max_tokens"] if entry != "probe"]
    numbers = [f"{name}:{found.advised}" for name, found in worst.items()]
    return {**raw, "max_tokens": [*numbers, *given], "budget_probe": msgspec.to_builtins(worst)}


def _measured(
    spec: ModelSpec,
    options: Options,
    plan: Plan,
    tell: Callable[[str], None],
    is_meant: Callable[[ModelSpec, Sample], bool],
) -> list[Measured]:
    prompts = plan.prompts(spec.arm)
    tracks = plan.tracks_of(spec.arm)
    chosen: dict[str, Sequence[Prompt]] = {}
    for name, track in tracks.items():
        meant = [sample for sample in track.samples if is_meant(spec, sample)]
        if meant:
            step = max(1, len(meant) // SAMPLES)
            chosen[name] = [prompts[sample.id] for sample in meant[::step][:SAMPLES]]
    if not chosen:
        return []
    roomy = {
        prompt.sample_id: msgspec.structs.replace(prompt, max_tokens=ROOM * prompt.max_tokens)
        for some in chosen.values()
        for prompt in some
    }
    with tempfile.TemporaryDirectory(prefix="bakeoff-budget-") as folder:
        settings = backend_settings(spec, options, RunDirectory(Path(folder)), roomy, tell)
        backend = open_backend(spec, settings)
        try:
            found = [measure(backend, name, some, tracks[name].max_tokens) for name, some in chosen.items()]
        finally:
            backend.close()
    return [measured for measured in found if measured is not None]
