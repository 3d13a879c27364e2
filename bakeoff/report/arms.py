"""What a reader calls an arm: its runtime, its mark, its precision as the name states it."""

import re
from collections.abc import Mapping
from typing import Any

from bakeoff.backends import BACKENDS
from bakeoff.report.results import ArmResult

MARKS = {name: facts.mark for name, facts in BACKENDS.items() if facts.mark is not None}
"""Backend -> mark (colour and shape). Others take the ring, then the cross: there is no fourth hue."""

_PRECISION = re.compile(r"(?i)(?:bf|fp|f)(16|32)|(?:int|q)-?([2-8])|([2-8])-?bit")


def runtime(backend: str) -> str:
    """Return the runtime's name in words; a backend that this version does not know is called as its records do."""
    return BACKENDS[backend].title if backend in BACKENDS else backend


def place(arm: ArmResult) -> str:
    """Return the runtime's name, and the processor where it says that it computed on no accelerator."""
    is_slow = "cpu" in str(arm.identity.get("device", "")).lower()
    return f"{runtime(arm.backend)}, on the CPU" if is_slow else runtime(arm.backend)


def marks(backends: tuple[str, ...]) -> dict[str, str]:
    """Return the mark of each backend; the first unknown one is a ring, all further ones are crosses."""
    unknown = [backend for backend in dict.fromkeys(backends) if backend not in MARKS]
    others = {backend: "cross" if position else "ring" for position, backend in enumerate(unknown)}
    return {backend: MARKS.get(backend) or others[backend] for backend in backends}


def precision(model: str) -> int | None:
    """Return the bits per weight that a model's name states, for pairing like with like. It is not printed."""
    found = _PRECISION.findall(model)
    return int("".join(found[-1])) if found else None


def bits_per_weight(identity: Mapping[str, Any]) -> float | None:
    """Return the measured bits per weight of an arm: as its identity states it, else bytes by parameters."""
    stated, size, parameters = (identity.get(name) for name in ("bits_per_weight", "weights_bytes", "parameters"))
    if isinstance(stated, int | float):
        return float(stated)
    if isinstance(size, int) and isinstance(parameters, int) and parameters > 0:
        return 8.0 * size / parameters
    return None
