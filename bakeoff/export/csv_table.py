"""The tidy table as CSV (RFC 4180 with line feeds), UTF-8.

Texts stand in quotes, empty ones too, and nothing stands for null, so that a reader can tell the two apart
(`pyarrow.csv` with `quoted_strings_can_be_null=False` does; pandas reads both as missing). Numbers have all their
digits. A text that begins with `=`, `+`, `-` or `@` is a formula to a spreadsheet program: it is left as it is, because
a changed answer would be a wrong table. `docs/exporting.md` says how to open the file safely.
"""

from pathlib import Path

from bakeoff.export.columns import Value, columns, rows
from bakeoff.export.reading import Survey
from bakeoff.files import filling_atomically


def write_csv(found: Survey, path: Path) -> tuple[Path, ...]:
    """Write the table to `path`, one row at a time."""
    of = columns(found)
    with filling_atomically(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(_cell(column.name) for column in of) + "\n")
        for row in rows(found, of):
            file.write(",".join(map(_cell, row)) + "\n")
    return (path,)


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
