"""From the name typed after `--model` to a ModelSpec: which backend, which weights, which revision.

Nothing is loaded or downloaded here, and nothing is guessed: a name that fits no form is refused with its neighbours.
How the names of a backend are written is declared beside it.
"""

import difflib
import re
from collections.abc import Iterable

import msgspec

from bakeoff.backends import BACKENDS
from bakeoff.errors import UsageProblem
from bakeoff.spec import ModelSpec, safe_name

DEFAULT_MODELS = ("tiny-bf16", "tiny-gguf-bf16")
"""The embedded pair: what runs when no model is named."""

TINY_ALIASES = tuple(alias for facts in BACKENDS.values() for alias in facts.embedded)
ALIASES = (*TINY_ALIASES, *(alias for facts in BACKENDS.values() for alias in facts.aliases))
FORMS = {form: facts.name for facts in BACKENDS.values() for form in facts.forms}
"""Forms of names that are no aliases, and the backend of each."""

_CONTINUED = re.compile(r"\w+=")


def resolve(name: str) -> ModelSpec:
    """Return the ModelSpec for one name; the backend that is listed first takes what no other claims.

    Raises:
        UsageProblem: when the name has none of the known forms; the message lists near matches.
    """
    for facts in reversed(BACKENDS.values()):
        spec = facts.read_name(name)
        if spec is not None:
            return spec
    near = difflib.get_close_matches(name.lower(), ALIASES, n=3, cutoff=0.4) or ALIASES
    raise UsageProblem(
        f"unknown model {name!r}. Did you mean one of: {', '.join(near)}?\nOther forms: {'; '.join(FORMS)}"
    )


def resolve_all(names: Iterable[str]) -> tuple[ModelSpec, ...]:
    """Return specs in the order given, each with an arm name of its own.

    Raises:
        UsageProblem: as `resolve`, and when a name is given twice.
    """
    specs: dict[str, ModelSpec] = {}
    for name in names:
        spec = resolve(name)
        if any(other.name == name for other in specs.values()):
            raise UsageProblem(f"model {name!r} is named twice")
        number, arm = 2, spec.arm
        while arm.lower() in specs:  # some file systems fold case
            arm, number = f"{spec.arm}-{number}", number + 1
        specs[arm.lower()] = msgspec.structs.replace(spec, arm=arm)
    return tuple(specs.values())


def split_names(text: str) -> list[str]:
    """Split a list of names at commas; a part such as `mmproj=<file>` belongs to the name before it."""
    names: list[str] = []
    for part in text.split(","):
        if _CONTINUED.match(part) and names:
            names[-1] += f",{part}"
        elif part.strip():
            names.append(part.strip())
    return names


__all__ = [
    "ALIASES",
    "DEFAULT_MODELS",
    "FORMS",
    "TINY_ALIASES",
    "ModelSpec",
    "resolve",
    "resolve_all",
    "safe_name",
    "split_names",
]
