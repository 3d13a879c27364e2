"""Lists on the standard output: a table on a terminal, else one whole line an entry, whatever the width."""

import sys
from collections.abc import Iterable, Sequence

import typer


def show(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a list with its heads; nothing is ever cut, and only a terminal gets lines that are broken."""
    found = [tuple(row) for row in rows]
    if sys.stdout.isatty():
        _show_table(heads, found)
        return
    widths = [max(len(row[column]) for row in (tuple(heads), *found)) for column in range(len(heads))]
    for row in (tuple(heads), *found):
        typer.echo("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def _show_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    from rich.console import Console  # noqa: PLC0415 - takes a while to load, and a pipe needs none
    from rich.markup import escape  # noqa: PLC0415 - as above
    from rich.table import Table  # noqa: PLC0415 - as above

    table = Table(box=None, pad_edge=False)
    for head in heads:
        table.add_column(head, overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    Console().print(table)
