"""What the launcher shows, what an order would do, and starting it."""

import contextlib
import json
import secrets
import shutil
from pathlib import Path
from typing import Any

import msgspec
import psutil

from bakeoff.errors import UsageProblem
from bakeoff.files import write_atomically
from bakeoff.runs import new_run_path
from bakeoff.validity.rules import read_rules, rule_warnings
from bakeoff.web.arms import arm_rows
from bakeoff.web.asked import Start
from bakeoff.web.cases import TryCase, check
from bakeoff.web.choices import missing_samples, track_rows
from bakeoff.web.command import Command, model_names, prepare_command, resume_command, run_command
from bakeoff.web.estimate import Estimate, estimate
from bakeoff.web.index import RunIndex
from bakeoff.web.jobs import Job, Jobs
from bakeoff.web.place import Place
from bakeoff.web.problems import Refusal
from bakeoff.wording import some


class Preparing(msgspec.Struct, frozen=True, kw_only=True):
    """What must be fetched first: how many samples each track shall have, and how many of them are here.

    `picture_bytes` is about what the missing ones take, judged from the pictures of the track that are there; tracks
    without any are left out.
    """

    sizes: dict[str, int]
    here: dict[str, int]
    picture_bytes: dict[str, float]
    typed: str


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a `Start` comes to: the commands as typed, how long they may take, what is missing, what is odd."""

    typed: str
    prepare: Preparing | None
    estimate: Estimate
    warnings: tuple[str, ...]


def launcher(place: Place) -> dict[str, Any]:
    """Return everything that the launcher offers."""
    last = None
    with contextlib.suppress(OSError, ValueError):
        last = msgspec.json.decode((place.own / "last.json").read_bytes())
    return {
        "arms": arm_rows(),
        "tracks": track_rows(place),
        "last": last,
        "machine": machine(),
        "root": str(place.root),
    }


def machine() -> dict[str, Any]:
    """Return memory and power of this machine, as far as it tells."""
    memory = psutil.virtual_memory()
    battery = None
    with contextlib.suppress(AttributeError, OSError, RuntimeError):  # not on every system
        battery = psutil.sensors_battery()
    power = (
        None if battery is None or battery.power_plugged is None else "mains" if battery.power_plugged else "battery"
    )
    return {"memory": memory.total, "available": memory.available, "power": power}


def order(asked: Start, place: Place, index: RunIndex) -> Order:
    """Return what would be done, without doing it.

    Raises:
        UsageProblem, Refusal: when a value cannot be meant.
    """
    command = run_command(asked, place, Path("reports") / "RUN")
    missing = missing_samples(asked, place)
    rules = read_rules({"min_score": asked.min_score})
    return Order(
        typed=_without_run_dir(command.typed),
        prepare=_preparing(missing, place) if missing else None,
        estimate=estimate(asked, model_names(asked), track_rows(place), index.rows(), missing),
        warnings=rule_warnings(rules, 2.0 if asked.margin is None else asked.margin),
    )


def _preparing(missing: dict[str, int], place: Place) -> Preparing:
    rows = {row.name: row for row in track_rows(place) if row.name in missing}
    here = {name: row.prepared or 0 for name, row in rows.items()}
    return Preparing(
        sizes=missing,
        here=here,
        picture_bytes={
            name: (missing[name] - here[name]) * row.sample_bytes for name, row in rows.items() if row.sample_bytes
        },
        typed=prepare_command(missing).typed,
    )


def _without_run_dir(typed: str) -> str:
    """Leave out the folder, which is another one each time."""
    return " ".join(word for word in typed.split(" ") if not word.startswith("--run-dir="))


def start(asked: Start, place: Place, jobs: Jobs) -> Job:
    """Start a run, fetching samples first where that was asked for.

    Raises:
        Refusal: when samples are missing and nobody agreed to fetch them, or a run is going on.
    """
    run = new_run_path(place.reports)
    command = run_command(asked, place, run)
    missing = missing_samples(asked, place)
    steps: tuple[Command, ...] = (command,)
    if missing:
        if not asked.prepare:
            what = ", ".join(f"{some(n, 'sample')} of {track}" for track, n in missing.items())
            raise Refusal(409, f"not all is prepared: {what}. Prepare first, or ask for less", "prepare")
        steps = (prepare_command(missing), command)
    job = jobs.start("run", steps, run)
    with contextlib.suppress(OSError):  # the run goes on, whether or not the form is filled in next time
        write_atomically(place.own / "last.json", msgspec.json.encode(asked), lasting=False)
    return job


def resume(name: str, place: Place, jobs: Jobs) -> Job:
    """Go on with a run that has not ended, with its own options."""
    run = place.run(name)
    if not run.selection():
        raise Refusal(409, f"{name} selected no sample before it was stopped; start it again instead", "empty")
    return jobs.start("resume", (resume_command(run, place),), run.path)


def try_on_arm(asked: TryCase, place: Place, jobs: Jobs) -> Job:
    """Ask one arm one unsaved case, in a data folder of its own, away from the runs.

    Raises:
        UsageProblem, Refusal: when the case or the model's name is not right, or a run is going on.
    """
    case, sample = check(asked.case)
    folder = place.own / "tries" / secrets.token_hex(6)
    try:
        for name, image in zip(case.images, sample.images, strict=True):
            copy = folder / "data" / "images" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(image.path, copy)
        write_atomically(folder / "data" / "tasks" / "case.json", json.dumps([asked.case]), lasting=False)
        order = Start(models=(asked.model or "",), tracks=("custom",), parity="off")
        command = run_command(order, place, folder / "run")
        return jobs.start("try", (command,), folder / "run", {"BAKEOFF_DATA": str(folder / "data")})
    except (Refusal, UsageProblem, OSError):
        shutil.rmtree(folder, ignore_errors=True)
        raise
