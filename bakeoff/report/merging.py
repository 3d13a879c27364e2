"""Several runs as one, in memory: their arms side by side, for a comparison across runs. Nothing is written."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from bakeoff.report.reading import Arm, Run
from bakeoff.validity.audit import Audit
from bakeoff.validity.controls import Controls
from bakeoff.validity.probes import Probe
from bakeoff.validity.retold import RetoldArm


def merge_runs(runs: Sequence[Run], *, margin_pp: float | None = None) -> Run:
    """Return one run with the arms of all; an arm name that several runs have gets its run's name behind an `@`.

    Options, environment and tracks are those of the first run that has them; `margin_pp` replaces its margin. What
    differs between runs and can move a score stands in each arm's fingerprint, from which the comparisons give their
    reasons. Gates are left out.
    """
    names = [name for run in runs for name in run.arms]
    arms: dict[str, Arm] = {}
    probes: dict[str, Probe] = {}
    audits: dict[str, Audit] = {}
    controls: dict[str, Controls] = {}
    retold: dict[str, RetoldArm] = {}
    for run in runs:
        for name, arm in run.arms.items():
            known = wanted = name if names.count(name) == 1 else f"{name}@{run.name}"
            number = 2
            while known in arms:  # runs in different folders may have the same name
                known, number = f"{wanted}-{number}", number + 1
            arms[known] = msgspec.structs.replace(arm, name=known)
            if name in run.probes:
                probes[known] = msgspec.structs.replace(run.probes[name], arm=known)
            if name in run.audits:
                audits[known] = msgspec.structs.replace(run.audits[name], arm=known)
            if name in run.controls:
                controls[known] = msgspec.structs.replace(run.controls[name], arm=known)
            if name in run.retold:
                retold[known] = msgspec.structs.replace(run.retold[name], arm=known)
    first = runs[0].manifest
    margin = {} if margin_pp is None else {"margin": margin_pp}
    manifest = msgspec.structs.replace(
        first,
        run=" and ".join(run.name for run in runs),
        arms={name: arm.manifest for name, arm in arms.items()},
        tracks={name: track for run in reversed(runs) for name, track in run.manifest.tracks.items()},
        options={**first.options, **margin},
        environment=shared_environment([run.manifest.environment for run in runs]),
    )
    return Run(
        name=manifest.run,
        manifest=manifest,
        arms=arms,
        gates=(),
        probes=probes,
        audits=audits,
        controls=controls,
        retold=retold,
    )


def shared_environment(environments: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what all environments agree on; the rest is said to differ, so that no machine is named for all."""
    fields = dict.fromkeys(field for found in environments for field in found)
    values = {field: [found.get(field) for found in environments] for field in fields}
    return {
        field: found[0] if all(value == found[0] for value in found) else "differs between the runs"
        for field, found in values.items()
    }
