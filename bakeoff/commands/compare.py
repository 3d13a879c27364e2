"""`bakeoff compare`: arms of several runs against each other, on the samples they share."""

from collections.abc import Sequence
from pathlib import Path

from bakeoff.errors import UsageProblem
from bakeoff.report import Results, summarize, terminal_table, write_reports
from bakeoff.report.merging import merge_runs
from bakeoff.report.reading import read_run
from bakeoff.runs import RunDirectory


def compare_runs(directories: Sequence[Path], *, margin_pp: float | None, out: Path | None) -> str:
    """Return the table of all arms, whether they may be compared, and what keeps single pairs apart.

    Args:
        directories: run directories; at least two arms among them.
        margin_pp: largest difference called the same; None for that of the first run.
        out: where to write the three reports of the merged run, None for nowhere.

    Raises:
        UsageProblem: when a directory is no run or is named twice, or there is nothing to compare.
    """
    paths = [directory.resolve() for directory in directories]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise UsageProblem(f"{twice} is named twice; name different runs")
    if out is not None and RunDirectory(out).exists():
        raise UsageProblem(f"{out} is a run; name another folder for the reports with -o DIR")
    merged = merge_runs([read_run(RunDirectory(path)) for path in paths], margin_pp=margin_pp)
    if len(merged.arms) < 2:  # noqa: PLR2004 -- a pair
        raise UsageProblem("one arm in all: nothing to compare. Name another run, such as: bakeoff compare RUN1 RUN2")
    results = summarize(merged)
    if out is not None:
        write_reports(out, merged, results)
    return "\n\n".join((terminal_table(results), "\n".join(_validity(results))))


def _validity(results: Results) -> list[str]:
    lines = [f"badge: {results.validity.badge}"]
    lines += [f"  {reason}" for reason in results.validity.reasons]
    silent = [comparison for comparison in results.comparisons if comparison.reason]
    lines += [f"  no verdict for {c.a} against {c.b} on {c.track}: {c.reason}" for c in silent]
    return lines
