"""Reports, built from a run directory alone: `results.json`, `report.md`, `report.html` with `samples/` beside it.

No session, no clock, no randomness: the same files give the same bytes. A run may be partial, hold errors only, or
name tracks this version does not know; what is not known is said, never guessed and never 0.
"""

from pathlib import Path

import msgspec

from bakeoff.files import write_atomically
from bakeoff.report.checks import validate
from bakeoff.report.comparing import compare
from bakeoff.report.constant import constant_baselines
from bakeoff.report.markdown import render_markdown
from bakeoff.report.measuring import arm_result
from bakeoff.report.page import render_page
from bakeoff.report.reading import Run, read_run
from bakeoff.report.reproduction import reproductions
from bakeoff.report.results import SCHEMA, Results
from bakeoff.report.samples import wrong_samples
from bakeoff.report.speed_about import speed_about
from bakeoff.report.tables import first_pairs
from bakeoff.report.terminal import terminal_table
from bakeoff.report.verdicts import headline, run_state
from bakeoff.report.viewer import write_viewer
from bakeoff.report.visible import encodable
from bakeoff.runs import RunDirectory, pretty_json

__all__ = ["Results", "build", "summarize", "terminal_table", "write_reports"]


def build(run: RunDirectory) -> Results:
    """Write the three reports of `run` and return what they say.

    Raises:
        UsageProblem: when a file of the run is not readable; the message names it.
    """
    content = read_run(run)
    results = summarize(content)
    write_reports(run.path, content, results)
    return results


def write_reports(folder: Path, run: Run, results: Results) -> None:
    """Write the three reports of a run that was read and summarized, and the samples that the page shows."""
    page = render_page(run, results, wrong_samples(run))
    write_viewer(folder / "samples", run, first_pairs(results))
    write_atomically(folder / "results.json", pretty_json(encodable(msgspec.to_builtins(results))))
    write_atomically(folder / "report.md", render_markdown(run, results))
    write_atomically(folder / "report.html", page)


def summarize(run: Run) -> Results:
    """Return all numbers of a run that was read."""
    arms = {name: arm_result(run, arm) for name, arm in run.arms.items()}
    comparisons = compare(run, arms)
    return Results(
        schema=SCHEMA,
        run=run.name,
        created=run.manifest.created,
        state=run_state(arms.values()),
        headline=headline(comparisons, len(arms)),
        argv=run.manifest.argv,
        environment=run.manifest.environment,
        options=run.manifest.options,
        arms=arms,
        comparisons=comparisons,
        validity=validate(run, comparisons),
        gates=run.gates,
        reproductions=reproductions(run, arms),
        baselines=constant_baselines(run),
        speed=run.speed.figures(),
        speed_about=speed_about(run.speed),
    )
