"""`bakeoff models`: every alias and form that `--model` knows, and whether it can run on this machine."""

from collections.abc import Iterator
from pathlib import Path

from bakeoff.backends import availability
from bakeoff.models import ALIASES, FORMS, resolve

HEADS = ("name", "backend", "from", "here")


def model_rows() -> Iterator[tuple[str, str, str, str]]:
    """Return a row a name, without loading a runtime."""
    for name in ALIASES:
        spec = resolve(name)
        yield name, spec.backend, _short(spec.location), _here(spec.backend)
    for form, backend in FORMS.items():
        yield form, backend, "as named", _here(backend)


def _here(backend: str) -> str:
    reason = availability(backend)
    return "yes" if reason is None else f"no: {reason}"


def _short(location: str) -> str:
    path = Path(location)
    return f"embedded: {path.name}" if path.is_absolute() else location
