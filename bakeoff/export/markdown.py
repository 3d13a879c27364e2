"""A table of scores to paste into an issue, a pull request or a README: the numbers and words of the report."""

import re
from collections.abc import Iterable, Sequence

from bakeoff.report import numbers, summarize, verdicts
from bakeoff.report.grid import Cell, Column, score_grid
from bakeoff.report.reading import read_run
from bakeoff.report.results import Results
from bakeoff.report.visible import visible_line
from bakeoff.runs import RunDirectory

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&@])")


def markdown_table(run: RunDirectory) -> str:
    """Return verdicts, scores and conditions of `run` as Markdown that shows any text as it is.

    Raises:
        UsageProblem: when a file of the run is not readable.
    """
    content = read_run(run)
    results = summarize(content)
    parts = (_verdicts(results), _scores(results), _conditions(results))
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdicts(results: Results) -> str:
    leading = verdicts.leading(results.comparisons)
    if not leading:
        return _text(results.headline)
    return "\n".join(f"* {_text(comparison.sentence)} {_text(comparison.evidence)}" for comparison in leading)


def _scores(results: Results) -> str:
    grid = score_grid(results)
    if not grid.rows or not grid.columns:
        return "No arm of this run has a track yet."
    heads = ("Arm", *(_head(column) for column in grid.columns), "Samples/min", "Peak memory")
    rows = [(row.arm, *(_cell(cell) for cell in row.cells), row.speed, row.memory) for row in grid.rows]
    return "\n".join((_row(heads), _row(("---", *("---:" for _ in heads[1:])), is_rule=True), *map(_row, rows)))


def _conditions(results: Results) -> str:
    version = results.environment.get("bakeoff", "of unknown version")
    return _text(
        f"Scores in percent with 95% intervals. {results.validity.badge[0].upper()}{results.validity.badge[1:]}: "
        f"{'; '.join(results.validity.reasons)}. Run {results.run}, {results.state}, "
        f"{numbers.instant(results.created)}, vlm-bakeoff {version}."
    )


def _head(column: Column) -> str:
    return f"{column.title} ({column.metric}; n {column.n}{', ' + column.scope if column.scope else ''})"


def _cell(cell: Cell) -> str:
    value = cell.void or f"{cell.value} ({cell.interval})"
    return "; ".join((value, *(flag.text for flag in cell.flags)))


def _row(cells: Iterable[str] | Sequence[str], *, is_rule: bool = False) -> str:
    return f"| {' | '.join(cell if is_rule else _text(cell) for cell in cells)} |"


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", visible_line(text))
