"""Columns for `--html`: score, answer, and the images of samples that were not right.

pytest-html escapes nothing that a plugin gives it and keeps every row in one page, so all text is escaped and cut
here, and images are referred to by path, never embedded.
"""

import html
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bakeoff.plugin.reporting import Reporting
from bakeoff.records import Record, Sample

MAX_SHOWN = 200
"""Characters of an answer that a row shows; the journal has all of them."""

_NOTHING: dict[str, Any] = {"verdict": "", "score": "", "answer": "", "images": ()}


def note_for_html(report: pytest.TestReport, sample: Sample, record: Record) -> None:
    """Leave on the report what its row will show: short text and paths, which cross from worker to controller."""
    vars(report)["bakeoff_shown"] = {
        "verdict": "error" if record.correct is None else "right" if record.correct else "wrong",
        "score": "" if record.score is None else f"{record.score:.3f}",
        "answer": _short(record.output if record.answer is None else record.answer),
        "images": [] if record.correct else [image.path for image in sample.images],
    }


@pytest.hookimpl(optionalhook=True)  # the hook exists only where pytest-html is loaded
def pytest_html_results_table_header(cells: list[str]) -> None:
    """Add the headers."""
    cells.insert(2, '<th class="sortable" data-column-type="verdict">Verdict</th>')
    cells.insert(3, '<th class="sortable" data-column-type="score">Score</th>')
    cells.insert(4, '<th class="sortable" data-column-type="answer">Answer</th>')
    cells.insert(5, "<th>Image</th>")


@pytest.hookimpl(optionalhook=True)  # as above
def pytest_html_report_title(report: pytest.TestReport) -> None:
    """Name the page."""
    vars(report)["title"] = "vlm-bakeoff"


class HtmlRows:
    """Adds the cells of a row, and what came out above them; needs to know where the page lies, to refer from there."""

    def __init__(self, page: Path, reports: Reporting) -> None:
        self._folder = page.resolve().parent
        self._reports = reports

    @pytest.hookimpl(optionalhook=True)  # as above
    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        """Put verdicts, badge and scores above the rows, with a link to the whole report; nothing without a report."""
        text = self._reports.summary
        if text:
            link = self._relative(self._reports.page)
            prefix.append(f"<pre>{html.escape(text)}</pre>")
            prefix.append(f'<p><a href="{link}">The whole report, with intervals drawn and samples shown</a></p>')

    @pytest.hookimpl(optionalhook=True)  # as above
    def pytest_html_results_table_row(self, report: pytest.TestReport, cells: list[str]) -> None:
        """Add as many cells as there are headers, whatever the report is of."""
        shown = getattr(report, "bakeoff_shown", None) or _NOTHING
        for place, name in enumerate(("verdict", "score", "answer"), start=2):
            cells.insert(place, f'<td class="col-{name}">{html.escape(shown[name])}</td>')
        cells.insert(5, f"<td>{self._pictures(shown['images'])}</td>")

    def _pictures(self, paths: Sequence[str]) -> str:
        sources = (self._relative(path) for path in paths)
        return "".join(f'<a href="{s}"><img src="{s}" alt="" height="96" loading="lazy"></a>' for s in sources)

    def _relative(self, path: str | Path) -> str:
        return html.escape(Path(os.path.relpath(path, self._folder)).as_posix(), quote=True)


def _short(text: str | None) -> str:
    """Return one line of printable text; pytest-html reads cells with a pattern that ends at a line end."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text or "").split())
    return line if len(line) <= MAX_SHOWN else line[:MAX_SHOWN] + "…"
