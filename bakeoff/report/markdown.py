"""`report.md`: headline, verdicts, scores and groups for a pull request or a diff. The same words as the page."""

import re
from collections.abc import Iterable, Sequence

from bakeoff.report import constant, evidence, flips, groups, numbers, tables, verdicts
from bakeoff.report.checks import LABELS, named_checks
from bakeoff.report.drawing import ladder_table
from bakeoff.report.grid import Cell, Column, Grid, score_grid
from bakeoff.report.heading import command, title
from bakeoff.report.notes import metric_notes
from bakeoff.report.published import published_table, references
from bakeoff.report.reading import Run
from bakeoff.report.results import Results
from bakeoff.report.sections import beside_scores
from bakeoff.report.speed import speed_section
from bakeoff.report.tradeoffs import tradeoffs
from bakeoff.report.visible import visible_line

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def render_markdown(run: Run, results: Results) -> str:
    """Return the report as Markdown."""
    parts = [
        f"# {_text(title(results))}",
        f"Run {_text(results.run)}, {_text(results.state)}. {numbers.instant(results.created)}.",
        "## What this run shows",
        *_verdicts(results),
        "## May it be compared",
        f"Badge: **{results.validity.badge}**. " + _text(" · ".join(results.validity.reasons)),
        _table(
            ("Check", "State", "Reason"),
            ((LABELS[name], check.state, check.reason) for name, check in named_checks(results.validity).items()),
        ),
        "## Scores",
        _scores(results),
        "\n".join(f"* **{_text(track)}** {_text(note)}" for track, note in metric_notes(results)),
        *_titled("### Constant answers", constant.baseline_table(results)),
        *_titled("### Published values", published_table(results)),
        *_groups(results),
        "## Paired differences",
        *_differences(run, results),
        *_flips(results),
        "## Time and memory",
        _table(*tables.time_table(results)),
        "\n".join(f"* {_text(heading)}: {_text(text)}" for heading, text in tradeoffs(results)),
        *_titled("### Quant ladder", ladder_table(results)),
        *_speed(results),
        "## Run health",
        _table(*tables.health_table(results)),
        *_evidence(results),
    ]
    if results.gates:
        gates = ((gate.gate, gate.outcome, gate.detail) for gate in results.gates)
        parts += ["## Gates", _table(("Gate", "Outcome", "Detail"), gates)]
    parts += ["## How to repeat", _code(command(results))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _evidence(results: Results) -> list[str]:
    """Return what was asked beside the samples; nothing where nothing was."""
    found = [f"* **{kind}** {_text(sentence)}" for kind, sentence in evidence.findings(results)]
    parts = [
        *(["### Parity probes", "\n".join(found)] if found else []),
        *_titled("### Agreement on given words", evidence.agreement_table(results)),
        *_titled("### Vision controls", evidence.control_table(results)),
        *_titled("### Batch audit", evidence.audit_table(results)),
    ]
    return ["## Behind the checks", *parts] if parts else []


def _titled(heading: str, table: tables.Table) -> list[str]:
    """Return a heading with its table, or nothing for an empty one."""
    return [heading, _table(*table)] if table[1] else []


def _verdicts(results: Results) -> list[str]:
    leading = verdicts.leading(results.comparisons)
    if not leading:
        return [_text(results.headline)]
    lines = [
        f"* **{verdicts.SYMBOLS[c.verdict]} {tables.word_text(c)}** {_text(c.sentence)}  \n  {_text(c.evidence)}"
        for c in leading
    ]
    return ["\n".join(lines)]


def _scores(results: Results) -> str:
    grid = score_grid(results, beside_scores(results))
    if not grid.rows or not grid.columns:
        return "No arm of this run has a track yet."
    heads = ("Arm", *(_head(column) for column in grid.columns), "Samples/min", "Peak memory")
    rows = ((row.arm, *(_cell(cell) for cell in row.cells), row.speed, row.memory) for row in grid.rows)
    return _table(heads, [*rows, *_beside(results, grid)])


def _beside(results: Results, grid: Grid) -> list[tuple[str, ...]]:
    """Return the rows below the arms: what others published, and what a constant answer scores."""
    published, floors = references(results), constant.floors(results)
    rows: list[tuple[str, ...]] = []
    tracks = [column.track for column in grid.columns]
    if published:
        texts = (
            f"{p.shown} ({p.model}, {p.metric}, {p.date})" if (p := published.get(t)) else "none found" for t in tracks
        )
        rows.append(("Published", *texts, "", ""))
    if floors:
        said = (
            f"{numbers.score(f.found.value, f.found.n)} (always {constant.said(f.output)})"
            if (f := floors.get(t))
            else "none tried"
            for t in tracks
        )
        rows.append(("Constant answer", *said, "", ""))
    return rows


def _head(column: Column) -> str:
    return f"{column.title} ({column.metric}; n {column.n}{', ' + column.scope if column.scope else ''})"


def _cell(cell: Cell) -> str:
    value = cell.void or f"{cell.value} ({cell.interval})"
    return "; ".join((value, *(["highest"] if cell.is_highest else []), *(flag.text for flag in cell.flags)))


def _groups(results: Results) -> list[str]:
    parts: list[str] = []
    for table in groups.group_tables(results):
        rows = ((row.value, row.n, *(_group_cell(cell) for cell in row.cells)) for row in table.rows)
        heads = (table.dimension, "n", *(f"{arm}, %" for arm in table.arms))
        parts += [f"### {_text(table.title)}, {_text(table.dimension)}", _table(heads, rows)]
    return parts


def _group_cell(cell: groups.GroupCell) -> str:
    beside = ", ".join(part for part in (cell.interval, cell.n) if part)
    return f"{cell.value} ({beside})" if beside else cell.value


def _differences(run: Run, results: Results) -> list[str]:
    parts: list[str] = []
    for forest in tables.forests(results, run.margin_pp):
        rows = (
            (
                f"{row.a} vs {row.b}",
                row.lost_gained,
                row.identical,
                f"{row.difference} ({row.interval})" if row.interval else row.difference,
                f"{row.symbol} {row.word}",
                row.reason or "",
            )
            for _, found in forest.groups
            for row in found
        )
        heads = ("Comparison", "Lost / gained", "Same output", "Difference, pp (95%)", "Verdict", "Reason")
        parts += [f"### {_text(forest.title)}", _table(heads, rows)]
    return parts or ["No two arms of this run share a track."]


def _speed(results: Results) -> list[str]:
    section = speed_section(results)
    if section is None:
        return []
    tables_ = [part for one in section.tables for part in (f"### {_text(one.title)}", _table(*one.table))]
    return ["## Speed track", *tables_, "\n".join(f"* {_text(note)}" for note in section.notes)]


def _flips(results: Results) -> list[str]:
    by_cause, by_place = flips.flip_table(results), flips.flip_slices(results)
    if not by_cause[1]:
        return []
    meanings = "\n".join(f"* {_text(name)}: {_text(text)}" for name, text in flips.explained(by_cause))
    return ["### Why samples flipped", _table(*by_cause), meanings, _table(*by_place)]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    found = [[_text(cell) for cell in row] for row in rows]
    if not found:
        return ""
    rule = ["---", *("---:" for _ in heads[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in ([_text(head) for head in heads], rule, *found))


def _text(text: str) -> str:
    """Return any text as literal Markdown on one line."""
    return _SPECIAL.sub(r"\\\1", visible_line(text))


def _code(text: str) -> str:
    """Return any text as a code block with a fence that does not occur in it."""
    line = visible_line(text)
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}\n{line}\n{fence}"
