"""Reads Markdown tables and code blocks, so that what a document says can be tested."""

import re
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_CELL = re.compile(r"(?<!\\)\|")


def table(text: str, *header: str) -> list[list[str]]:
    """Return the rows of the first table with this header; code marks are taken off cells that are code alone."""
    lines = iter(text.splitlines())
    for line in lines:
        if tuple(cells(line)) == header:
            next(lines)
            return list(rows(lines))
    raise AssertionError(f"no table {header}")


def rows(lines: Iterator[str]) -> Iterator[list[str]]:
    for line in lines:
        if not line.startswith("|"):
            return
        yield cells(line)


def cells(line: str) -> list[str]:
    found = [cell.strip() for cell in _CELL.split(line.strip())[1:-1]]
    return [cell[1:-1] if re.fullmatch(r"`[^`]*`", cell) else cell for cell in found]


def as_output(cell: str) -> str:
    """Return the output that a cell shows on one line."""
    return "" if cell == "(empty)" else cell.replace("\\n", "\n").replace("\\|", "|")
