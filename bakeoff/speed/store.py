"""`speed.json` of a run directory: the values of every round, so that figures can be made again from the file alone."""

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.files import write_atomically
from bakeoff.runs import RunDirectory, pretty_json
from bakeoff.speed.metrics import METRICS, Figure, figure

FILE = "speed.json"
SCHEMA = 1


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """One arm on one setting in one pass: values of each round by quantity; `error` where it could not be measured.

    `before` and `after` are the machine's conditions; `images_sha256` are of the pictures that were shown.
    """

    arm: str
    setting: str
    number: int
    values: dict[str, tuple[float, ...]] = {}
    before: dict[str, str | float] = {}
    after: dict[str, str | float] = {}
    images_sha256: tuple[str, ...] = ()
    error: str | None = None


class Speed(msgspec.Struct, frozen=True, kw_only=True):
    """All that was measured. `absent` says why the machine does not give a quantity."""

    passes: tuple[Pass, ...] = ()
    absent: dict[str, str] = {}
    schema: int = SCHEMA

    def with_pass(self, new: Pass) -> "Speed":
        """Return this with `new` in place of what was measured before of the same arm, setting and pass."""
        key = (new.arm, new.setting, new.number)
        kept = tuple(old for old in self.passes if (old.arm, old.setting, old.number) != key)
        return msgspec.structs.replace(self, passes=(*kept, new))

    def figures(self) -> dict[str, dict[str, dict[str, Figure]]]:
        """Return the figures by arm, setting and quantity, in the order in which they were first measured."""
        found: dict[str, dict[str, list[Pass]]] = {}
        for one in sorted(self.passes, key=lambda one: one.number):
            found.setdefault(one.arm, {}).setdefault(one.setting, []).append(one)
        return {
            arm: {setting: _figures(passes) for setting, passes in settings.items()} for arm, settings in found.items()
        }


def _figures(passes: list[Pass]) -> dict[str, Figure]:
    found = {name: figure([one.values.get(name, ()) for one in passes]) for name in METRICS}
    return {name: value for name, value in found.items() if value is not None}


def read_speed(run: RunDirectory) -> Speed | None:
    """Read what was measured in a run, None when nothing was.

    Raises:
        UsageProblem: when the file is not readable.
    """
    path = run.path / FILE
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Speed)
    except ValueError as error:
        raise UsageProblem(f"{path} is not readable: {error}.\nRemove it to report without speed") from error


def write_speed(run: RunDirectory, speed: Speed) -> None:
    """Replace the file in one step."""
    write_atomically(run.path / FILE, pretty_json(msgspec.to_builtins(speed)))
