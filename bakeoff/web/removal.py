"""Deleting a run: only a run, only when nobody writes to it, and out of sight before it is taken apart."""

import secrets
import shutil

from bakeoff.errors import UsageProblem
from bakeoff.web.place import Place
from bakeoff.web.problems import Refusal


def delete_run(name: str, confirm: str, place: Place) -> None:
    """Delete the folder of a run; `confirm` repeats its name.

    Raises:
        Refusal: when the name is not repeated, or the run is going on.
    """
    run = place.run(name)
    if confirm != name:
        raise Refusal(400, f"repeat the name {name} to delete it", "confirm")
    try:
        run.lock()
    except UsageProblem as problem:
        raise Refusal(409, f"{name} is being written; stop it first", "busy") from problem
    bin_ = place.own / "deleted"
    bin_.mkdir(parents=True, exist_ok=True)
    target = bin_ / f"{name}-{secrets.token_hex(3)}"
    try:
        run.path.rename(target)  # at once: no reader sees half a run
    finally:
        run.unlock()
    shutil.rmtree(target, ignore_errors=True)
