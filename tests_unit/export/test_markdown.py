"""The table to paste, read back by a Markdown parser."""

from collections.abc import Callable

from markdown_it import MarkdownIt

from bakeoff.export import markdown_table
from bakeoff.records import Record
from bakeoff.report import build
from bakeoff.runs import RunDirectory
from tests_unit.report.synthetic import RunMaker

Answered = Callable[..., list[Record]]


def _cells(text: str) -> list[list[str]]:
    rows: list[list[str]] = []
    for token in MarkdownIt("commonmark", {"html": True}).enable("table").parse(text):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows and token.level > 2:
            rows[-1].append("".join(child.content for child in token.children or []))
    return rows


def test_one_row_an_arm_with_score_interval_and_n(mixed: RunDirectory) -> None:
    head, *rows = _cells(markdown_table(mixed))
    assert head[0] == "Arm"
    assert head[1].startswith("Toy (accuracy, %; n ")
    assert [row[0] for row in rows] == ["tiny-bf16", "tiny-gguf"]
    assert rows[1][1].startswith("75.0 (")


def test_cut_off_answers_and_errors_stand_in_the_cell(mixed: RunDirectory) -> None:
    cell = _cells(markdown_table(mixed))[1][1]
    assert "1 of 119 cut off" in cell
    assert "1 error" in cell


def test_verdicts_and_conditions_are_those_of_the_report(mixed: RunDirectory) -> None:
    text = markdown_table(mixed).replace("\\", "")
    results = build(mixed)
    assert all(comparison.sentence in text for comparison in results.comparisons)
    assert f"Run {results.run}" in text
    assert results.validity.reasons[0] in text


def test_names_cannot_break_the_table_or_call_anyone(maker: RunMaker, answered: Answered) -> None:
    name = "a|b`c`<b>@team"
    text = markdown_table(maker.arm("plain", answered()).arm(name, answered()).write())
    assert name in {row[0] for row in _cells(text)}
    assert "<b>" not in text.replace("\\<", "")
    assert "@" not in text.replace("\\@", "")


def test_the_same_files_give_the_same_text(mixed: RunDirectory) -> None:
    assert markdown_table(mixed) == markdown_table(mixed)
