"""What a merged run takes over from its parts beside samples and answers, from probes to logs."""

import shutil
from collections.abc import Mapping, Sequence

import msgspec

from bakeoff.commands.parts import Part
from bakeoff.records import Record
from bakeoff.runs import RunDirectory
from bakeoff.speed.store import read_speed, write_speed
from bakeoff.validity.controls import Controls, read_controls, write_controls
from bakeoff.validity.retold import Retold, RetoldArm, read_retold, write_retold

_OF_AN_ARM = ("probes", "audit", "controls")
"""Folders with one file an arm, which the first part that has one gives."""


def carry(run: RunDirectory, parts: Sequence[Part], records: Mapping[str, Mapping[str, Record]]) -> list[str]:
    """Take over into `run` what lies beside the records of its parts, and return what is left behind, one line each.

    Controls are joined by track and explanations by sample. Figures of speed are those of one part alone: another
    session on another machine says nothing about an arm.
    """
    for part in reversed(parts):
        for folder in _OF_AN_ARM:
            if (part.run.path / folder).is_dir():
                shutil.copytree(part.run.path / folder, run.path / folder, dirs_exist_ok=True)
        if (part.run.path / "logs").is_dir():
            shutil.copytree(part.run.path / "logs", run.path / "logs" / part.run.name, dirs_exist_ok=True)
    _join_controls(run, parts)
    _join_retold(run, parts, records)
    return [*_audits(parts), *_speed(run, parts)]


def _join_controls(run: RunDirectory, parts: Sequence[Part]) -> None:
    found: dict[str, Controls] = {}
    for part in parts:
        for arm, controls in read_controls(part.run).items():
            before = found.setdefault(arm, controls)
            found[arm] = msgspec.structs.replace(before, tracks={**controls.tracks, **before.tracks})
    for controls in found.values():
        write_controls(run, controls)


def _join_retold(run: RunDirectory, parts: Sequence[Part], records: Mapping[str, Mapping[str, Record]]) -> None:
    """Join what arms said again; of a sample with answers in two parts only what belongs to the one that counts."""
    found: dict[str, dict[str, Retold]] = {}
    for part in parts:
        for arm, retold in read_retold(part.run).items():
            own = part.journals[arm].records if arm in part.journals else {}
            counting = records.get(arm, {})
            taken = {name: again for name, again in retold.answers.items() if own.get(name) is counting.get(name)}
            found.setdefault(arm, {}).update(taken)
    for arm, answers in found.items():
        write_retold(run, RetoldArm(arm=arm, answers=answers))


def _audits(parts: Sequence[Part]) -> list[str]:
    holders: dict[str, list[str]] = {}
    for part in parts:
        for path in sorted((part.run.path / "audit").glob("*.json")):
            holders.setdefault(path.stem, []).append(part.run.name)
    return [
        f"audit of {arm}: that of {first}; left behind: {', '.join(others)}"
        for arm, (first, *others) in holders.items()
        if others
    ]


def _speed(run: RunDirectory, parts: Sequence[Part]) -> list[str]:
    measured = [(part.run.name, speed) for part in parts if (speed := read_speed(part.run)) is not None]
    if not measured:
        return []
    (first, speed), *others = measured
    write_speed(run, speed)
    left = ", ".join(name for name, _ in others)
    return [f"speed: that of {first}, since sessions do not compare; left behind: {left}"] if others else []
