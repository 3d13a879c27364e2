"""`bakeoff ui`: start, watch, stop, resume and read runs in a browser."""

from pathlib import Path

import typer

from bakeoff.web.place import find_place
from bakeoff.web.serve import Listening, serve


def run_ui(bench: Path | None, reports: Path | None, listening: Listening, *, opens_browser: bool) -> None:
    """Serve the app until it is interrupted.

    Raises:
        UsageProblem: when there are no benchmarks, or the port cannot be opened.
    """
    serve(find_place(bench, reports), listening, opens_browser=opens_browser, say=typer.echo)
