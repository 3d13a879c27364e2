"""Parts of one run, held against each other."""

from pathlib import Path
from typing import Any

import pytest

from bakeoff.commands.parts import Part, agreed_fingerprints
from bakeoff.errors import RunMismatch
from bakeoff.runs import ArmManifest, Manifest, RunDirectory, ShardManifest


def part(name: str, *, shard: ShardManifest | None = None, **arms: dict[str, Any]) -> Part:
    """A part with the given inputs by arm."""
    found = {arm: ArmManifest(model=arm, backend="fake", fingerprint=inputs) for arm, inputs in arms.items()}
    manifest = Manifest(run=name, created="", argv=(), options={}, environment={}, arms=found, shard=shard)
    return Part(RunDirectory(Path(name)), manifest, {}, {})


def split(count: int, samples: str) -> ShardManifest:
    return ShardManifest(index=1, count=count, whole={"x": samples})


def test_inputs_of_all_parts_are_joined() -> None:
    parts = part("p", a={"seed": 1, "tracks.x.v": 1}, b={}), part("q", a={"seed": 1, "tracks.y.v": 2}, b={"seed": 3})
    assert agreed_fingerprints(parts) == {"a": {"seed": 1, "tracks.x.v": 1, "tracks.y.v": 2}, "b": {"seed": 3}}


@pytest.mark.parametrize(
    ("later", "field"),
    [
        ({"sampling.temperature": 1, "tracks.x.v": 1}, "b: sampling.temperature"),
        ({"sampling.temperature": 0, "tracks.x.v": 2}, "b: tracks.x.v"),
        ({"sampling.temperature": 0, "tracks.x.v": 1, "tracks.x.w": 1}, "b: tracks.x.w"),
        ({"sampling.temperature": 0, "top_k": 1}, "b: top_k"),
    ],
)
@pytest.mark.parametrize("between", [{}, {"sampling.temperature": 0, "tracks.y.v": 1}])
def test_any_two_parts_with_other_inputs_are_refused_by_field_and_name(
    later: dict[str, Any], field: str, between: dict[str, Any]
) -> None:
    parts = [part("p", a={"seed": 1}), part("q", b={"sampling.temperature": 0, "tracks.x.v": 1}), part("r", b=between)]
    with pytest.raises(RunMismatch) as refused:
        agreed_fingerprints([*parts, part("s", b=later)])
    assert refused.value.field == field
    assert "q and s are no parts of one run" in str(refused.value)


@pytest.mark.parametrize(
    ("later", "field"), [(split(3, "m"), "shard count"), (split(2, "n"), "samples of x before the split")]
)
def test_splits_are_held_against_each_other_also_when_the_first_run_is_no_part(
    later: ShardManifest, field: str
) -> None:
    with pytest.raises(RunMismatch) as refused:
        agreed_fingerprints([part("p"), part("q", shard=split(2, "m")), part("r", shard=later)])
    assert refused.value.field == field
