"""`bakeoff replay`: the command that repeats a run, made from its manifest, and what is no longer as it was.

Every option that was in force is written out, defaults included, so that the command means the same in a version with
other defaults. Where the run went is left out: a repetition is a run of its own.
"""

import contextlib
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bakeoff.environment import environment
from bakeoff.errors import DataMissing, UsageProblem
from bakeoff.evaluate import TrackPlan
from bakeoff.families import Family
from bakeoff.hub import file_sha256, weights_sha256
from bakeoff.models import ModelSpec, resolve
from bakeoff.runs import ArmManifest, Manifest, RunDirectory, TrackManifest
from bakeoff.tracks import TRACKS, samples_of
from bakeoff.validity.inputs import value_text

_DROPPED = {"run_dir": True, "resume": None, "retry_errors": False, "no_retry_errors": False, "image_reuse": False}
"""Options that a manifest does not store and a repetition must not have: do they take a value? None: perhaps."""


def replay_arguments(manifest: Manifest) -> tuple[str, ...]:
    """Return the arguments of pytest that repeat a run."""
    models = (part for arm in manifest.arms.values() for part in ("--model", arm.model))
    options = {name: value for name, value in manifest.options.items() if name != "model"}
    return (*_others(manifest), *models, *(part for item in options.items() for part in _written(*item)))


def replay_text(directory: Path) -> str:
    """Return the command and what no longer matches, one line each.

    Raises:
        UsageProblem: when the directory is no run.
    """
    manifest = RunDirectory(directory).manifest()
    command = shlex.join(("uv", "run", "pytest", *replay_arguments(manifest)))
    found = [*_machine(manifest), *_tracks(manifest), *_models(manifest)]
    told = [f"  {line}" for line in found] or ["  nothing: versions, samples and local weights are as they were"]
    return "\n".join([command, "", "no longer as in the run:", *told])


def run_again(directory: Path) -> int:
    """Run the command in this Python and return pytest's exit code."""
    arguments = replay_arguments(RunDirectory(directory).manifest())
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


def _others(manifest: Manifest) -> Iterator[str]:
    """Return the arguments of the stored command that are not options of this suite: paths, -k, -n and the like."""
    takes_value: dict[str, bool | None] = {name: not isinstance(v, bool) for name, v in manifest.options.items()}
    takes_value |= _DROPPED
    flags = {_flag(name): takes for name, takes in takes_value.items()}
    rest = list(manifest.argv)
    if rest and Path(rest[0]).name in {"pytest", "py.test", "__main__.py"}:
        rest.pop(0)
    while rest:
        word = rest.pop(0)
        flag, equals, _ = word.partition("=")
        if flag not in flags:
            yield word
        elif not equals and (flags[flag] or (flags[flag] is None and rest and not rest[0].startswith("-"))):
            rest[:1] = []


def _written(name: str, value: Any) -> Iterator[str]:
    """Return an option as it is typed; nothing for one that was silent."""
    match value:
        case None | False | []:
            return
        case True:
            yield _flag(name)
        case list() | tuple():
            for item in value:
                yield f"{_flag(name)}={item}" if str(item).startswith("-") else _flag(name)
                if not str(item).startswith("-"):
                    yield str(item)
        case _:
            yield from (_flag(name), str(value))


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _machine(manifest: Manifest) -> Iterator[str]:
    yield from _differing("", manifest.environment, environment())


def _differing(prefix: str, stored: Mapping[str, Any], current: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys((*stored, *current)):
        old, new = stored.get(name), current.get(name)
        if isinstance(old, dict) or isinstance(new, dict):
            yield from _differing(f"{prefix}{name} ", old or {}, new or {})
        elif old != new:
            yield f"{prefix}{name} was {value_text(old)} and is now {value_text(new)}"


def _tracks(manifest: Manifest) -> Iterator[str]:
    for name, stored in manifest.tracks.items():
        try:
            yield from _track(name, stored, manifest)
        except DataMissing as problem:
            yield f"track {name}: {str(problem).splitlines()[0]}; bakeoff prepare {name}"
        except KeyError:
            yield f"track {name} has no protocol {stored.protocol!r} any more"


def _track(name: str, stored: TrackManifest, manifest: Manifest) -> Iterator[str]:
    track = TRACKS.get(name)
    if track is None:
        yield f"track {name} is not known to this version"
        return
    protocol = track.protocol(stored.protocol)
    samples = samples_of(track, protocol)
    plan = TrackPlan(
        track=track, protocol=protocol, max_tokens=stored.max_tokens, samples=samples, prepared=len(samples)
    )
    if track.version != stored.version:
        yield f"track {name} was version {stored.version} and is now {track.version}"
    if plan.samples_sha256 != stored.samples_sha256:
        old, new = value_text(stored.samples_sha256), value_text(plan.samples_sha256)
        yield f"samples of {name} had the hash {old} and now have {new}"
    key = f"tracks.{name}.scorers"
    rules = {rule for family in _families(manifest) for rule in plan.for_family(family).inputs()[key]}
    old_rules = {rule for arm in manifest.arms.values() for rule in arm.fingerprint.get(key, ())}
    for rule in sorted(old_rules - rules):
        yield f"scorer {rule} of {name} is now {', '.join(sorted(rules))}"


def _families(manifest: Manifest) -> list[Family]:
    """Return the families of the models whose names are still known."""
    found: list[Family] = []
    for arm in manifest.arms.values():
        with contextlib.suppress(UsageProblem):
            found.append(resolve(arm.model).family)
    return found


def _models(manifest: Manifest) -> Iterator[str]:
    for arm, stored in manifest.arms.items():
        try:
            spec = resolve(stored.model)
        except UsageProblem as problem:
            yield f"model of {arm}: {str(problem).splitlines()[0]}"
            continue
        yield from _weights(arm, stored, spec)


def _weights(arm: str, stored: ArmManifest, spec: ModelSpec) -> Iterator[str]:
    """Say whether weights on this disk are the stored ones; those on a hub are named by their commit."""
    revision = stored.identity.get("revision")
    if revision and spec.revision != revision:
        yield f"{arm} ran commit {value_text(str(revision)[:10])} of the hub, which its name does not pin"
    checks = [(stored.identity.get("weights_sha256"), _files(Path(spec.location)))]
    if spec.projector is not None:
        checks.append((stored.identity.get("projector_sha256"), _files(Path(spec.projector))))
    for known, files in checks:
        if files is None and Path(spec.location).is_absolute():
            yield f"{arm}: there are no weights at {spec.location} any more"
        elif files and known and known not in {weights_sha256(files), file_sha256(files[0])}:
            yield f"{arm}: the weights {files[0].name} are others than in the run"


def _files(path: Path) -> list[Path] | None:
    """Return the weight files at a local path; None when there are none, as for a name on a hub."""
    if path.is_dir():
        return sorted(path.glob("*.safetensors")) or None
    return [path] if path.is_file() else None
