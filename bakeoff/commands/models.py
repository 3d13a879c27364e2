"""`bakeoff models`: every alias and form that `--model` knows, and whether it can run on this machine."""

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from bakeoff.backends import availability
from bakeoff.models import ALIASES, FORMS, resolve


def model_table() -> Table:
    """Return the table, without loading a runtime."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "backend", "from", "here"):
        table.add_column(heading, overflow="fold")  # a name that ends in dots cannot be typed
    for name in ALIASES:
        spec = resolve(name)
        table.add_row(name, spec.backend, _short(spec.location), _here(spec.backend))
    for form, backend in FORMS.items():
        table.add_row(escape(form), backend, "as named", _here(backend))
    return table


def _here(backend: str) -> str:
    reason = availability(backend)
    return "yes" if reason is None else f"no: {reason}"


def _short(location: str) -> str:
    path = Path(location)
    return f"embedded: {path.name}" if path.is_absolute() else location
