"""The `bakeoff` command: everything that is not a run. Runs are started by pytest."""

import functools
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from bakeoff import __version__
from bakeoff.errors import BakeoffError
from bakeoff.files import disk_trouble_told

app = typer.Typer(
    name="bakeoff",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Vision-language models on local runtimes: reports and lists. Runs are started with pytest: "
    "`uv run pytest tests_bench --model NAME`.",
)


@app.command()
def report(
    directory: Annotated[Path, typer.Argument(help="run directory, such as reports/20261130T101500Z-1f2e")],
) -> None:
    """Build results.json, report.html and report.md of a run again, from its files alone.

    Example: bakeoff report reports/20261130T101500Z-1f2e
    """
    from bakeoff.report import build, terminal_table  # noqa: PLC0415 - takes a while to load
    from bakeoff.runs import RunDirectory  # noqa: PLC0415

    run = RunDirectory(directory)
    manifest = run.manifest()
    run.lock()
    try:
        results = build(run)
    finally:
        run.unlock()
    typer.echo(terminal_table(results))
    typer.echo(f"report of {manifest.run}: {directory / 'report.html'}")


@app.command()
def models() -> None:
    """List the names that `--model` knows, with backend and place, and whether they can run on this machine.

    Example: bakeoff models
    """
    from bakeoff.commands.listing import show  # noqa: PLC0415
    from bakeoff.commands.models import HEADS, model_rows  # noqa: PLC0415 - takes a while to load

    show(HEADS, model_rows())


@app.command()
def tracks() -> None:
    """List the benchmarks with their protocols and how many samples are prepared.

    Example: bakeoff tracks
    """
    from bakeoff.commands.listing import show  # noqa: PLC0415
    from bakeoff.commands.tracks import HEADS, track_rows  # noqa: PLC0415 - takes a while to load

    show(HEADS, track_rows())


@app.command()
def prepare(
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="TRACK[=off|subset|full|N]", help="tracks and sizes; without any, all at theirs"),
    ] = None,
    revision: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TRACK=SHA", help="another commit than the pinned one; TRACK:REPOSITORY=SHA where several"
        ),
    ] = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="replace larger prepared data by smaller")] = False,
    skip_corrupt: Annotated[
        bool, typer.Option("--skip-corrupt", help="leave out rows whose image cannot be used, and list them")
    ] = False,
) -> None:
    """Freeze datasets of the Hugging Face hub into data/, reading no more of them than is needed.

    Example: bakeoff prepare docvqa=subset screenspot=full
    """
    from bakeoff.prepare import Consent, Link, Screen, prepare as freeze_all  # noqa: PLC0415 - takes a while to load
    from bakeoff.tracks import TRACKS  # noqa: PLC0415

    screen = Screen()
    consent = Consent(yes=yes, skip_corrupt=skip_corrupt)
    try:
        freeze_all(what or (), revision or (), TRACKS, consent=consent, screen=screen, link=Link(say=screen.say))
    except KeyboardInterrupt:
        sys.stdout.flush()
        os._exit(130)  # threads that wait for the hub would be waited for


@app.command()
def merge(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR...", help="parts of one run")],
    out: Annotated[Path, typer.Option("-o", metavar="DIR", help="new folder for the merged run")],
) -> None:
    """Join parts that were run with --shard, tell gaps and doubles, and build the report of the whole.

    The exit code is 1 when samples are missing.

    Example: bakeoff merge reports/part-1 reports/part-2 reports/part-3 -o reports/whole
    """
    from bakeoff.commands.merge import merge as merge_parts  # noqa: PLC0415 - takes a while to load

    merged = merge_parts(directories, out)
    typer.echo(merged.text)
    if not merged.is_complete:
        raise typer.Exit(1)


@app.command()
def compare(
    directories: Annotated[list[Path], typer.Argument(metavar="DIR...", help="run directories, two arms among them")],
    margin: Annotated[float | None, typer.Option(metavar="PP", help="largest difference called the same")] = None,
    out: Annotated[Path | None, typer.Option("-o", metavar="OUT", help="also write the reports to this folder")] = None,
) -> None:
    """Compare arms across runs, pair by pair on the samples both answered, and say what keeps pairs apart.

    Example: bakeoff compare reports/main reports/20261130T101500Z-1f2e --margin 1
    """
    from bakeoff.commands.compare import compare_runs  # noqa: PLC0415 - takes a while to load

    typer.echo(compare_runs(directories, margin_pp=margin, out=out))


@app.command(name="rescore")
def rescore_run(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="run directory")],
    scorer: Annotated[
        list[str] | None,
        typer.Option(metavar="[TRACK=]NAME", help="a scorer instead of the protocol's own; repeatable"),
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", metavar="OUT", help="rescore a copy and leave DIR as it is")] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only say what would change")] = False,
) -> None:
    """Score a run's stored outputs again with today's rules, or with a named one; no model is loaded.

    Example: bakeoff rescore reports/20261130T101500Z-1f2e --scorer docvqa=anls_official -o reports/official
    """
    from bakeoff.commands.rescore import read_scorers, rescore  # noqa: PLC0415 - takes a while to load

    typer.echo(rescore(directory, scorers=read_scorers(scorer or []), out=out, dry_run=dry_run))


@app.command(name="export")
def export_to(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="run directory")],
    form: Annotated[str, typer.Option("--format", metavar="NAME", help="csv, parquet, inspect, hf or markdown")],
    out: Annotated[
        Path | None, typer.Option("-o", metavar="PATH", help="file, or folder for inspect and hf; default: DIR/exports")
    ] = None,
    source: Annotated[str | None, typer.Option(metavar="URL", help="hf: where others can look at the run")] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(metavar="TRACK=ID", help="hf: the task's id in the benchmark's eval.yaml; repeatable"),
    ] = None,
    *,
    subset: Annotated[bool, typer.Option("--subset", help="hf: also scores of a subset, named as such")] = False,
) -> None:
    """Write a run as a table, as Inspect logs, as scores of a model card, or as a table to paste.

    Example: bakeoff export reports/20261130T101500Z-1f2e --format parquet -o records.parquet
    """
    from bakeoff.commands.export import export_run, read_tasks  # noqa: PLC0415 - takes a while to load
    from bakeoff.export import Wishes  # noqa: PLC0415

    wishes = Wishes(source=source, tasks=read_tasks(task or []), allows_subset=subset)
    typer.echo(export_run(directory, form, out=out, wishes=wishes))


@app.command()
def replay(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="run directory")],
    *,
    run: Annotated[bool, typer.Option("--run", help="also run it; the exit code is then pytest's")] = False,
) -> None:
    """Print the command that repeats a run, and what on this machine is no longer as it was.

    Example: bakeoff replay reports/20261130T101500Z-1f2e --run
    """
    from bakeoff.commands.replay import replay_text, run_again  # noqa: PLC0415 - takes a while to load

    typer.echo(replay_text(directory))
    if run:
        raise typer.Exit(run_again(directory))


@app.command(name="explain")
def explain_flips(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="run directory")],
    llama_server: Annotated[str | None, typer.Option(metavar="PATH", help="llama.cpp server to use")] = None,
) -> None:
    """Ask a run's arms the samples that flipped between them once more, to tell near ties from real differences.

    Example: bakeoff explain reports/20261130T101500Z-1f2e
    """
    from bakeoff.commands.explain import explain  # noqa: PLC0415 - takes a while to load

    explain(directory, typer.echo, llama_server=llama_server)


@app.command(name="plan")
def plan_samples(
    effect: Annotated[str, typer.Option(metavar="PP", help="difference to be seen, in points, such as 2pp")],
    power: Annotated[float, typer.Option(metavar="SHARE", help="share of runs that shall see it")] = 0.8,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="DIR", help="a run with two arms that are like those planned")
    ] = None,
) -> None:
    """Say how many samples it takes to see a difference, or to call two arms the same.

    Example: bakeoff plan --effect 2pp --power 0.8 --from reports/20261130T101500Z-1f2e
    """
    from bakeoff.commands.plan import plan  # noqa: PLC0415 - takes a while to load

    typer.echo(plan(effect, power, source))


@app.command()
def doctor(
    model: Annotated[
        list[str] | None, typer.Option(metavar="NAME[,NAME]", help="arms to examine; default: the embedded pair")
    ] = None,
    llama_server: Annotated[str | None, typer.Option(metavar="PATH", help="llama.cpp server to use")] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="samples of each track for --budget")] = 8,
    *,
    budget: Annotated[bool, typer.Option("--budget", help="also measure how long answers get")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="exit with 1 when something differs")] = False,
) -> None:
    """Say what runs here, and whether arms get the same prompts, see the same pictures and hold the same weights.

    Example: bakeoff doctor --model 8bit,gguf-q8
    """
    from bakeoff.commands.doctor import Doctor  # noqa: PLC0415 - takes a while to load
    from bakeoff.models import split_names  # noqa: PLC0415

    names = [name for entry in model or [] for name in split_names(entry)]
    note = functools.partial(typer.echo, err=True)
    examination = Doctor(typer.echo, note, llama_server=llama_server, budget=budget, limit=limit)
    if not examination.examine(names) and strict:
        raise typer.Exit(1)


@app.command()
def ui(  # noqa: PLR0917 - Typer reads options from parameters
    host: Annotated[
        str, typer.Option(metavar="HOST", help="address to listen on; beyond loopback asks for a token")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="port; 0 takes a free one")] = 8765,
    bench: Annotated[Path | None, typer.Option(metavar="DIR", help="folder of test_<track>.py modules")] = None,
    reports: Annotated[Path | None, typer.Option(metavar="DIR", help="folder of runs")] = None,
    name: Annotated[list[str] | None, typer.Option(metavar="HOST", help="a further host name to answer to")] = None,
    certificate: Annotated[Path | None, typer.Option(metavar="FILE", help="TLS certificate, PEM")] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="its private key, PEM")] = None,
    *,
    token: Annotated[bool, typer.Option("--token", help="ask for a token on loopback too")] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="do not open the browser")] = False,
) -> None:
    """Start, watch, stop, resume and read runs in a browser.

    Example: bakeoff ui --no-open
    """
    from bakeoff.commands.ui import run_ui  # noqa: PLC0415 - takes a while to load
    from bakeoff.web.serve import Listening  # noqa: PLC0415

    listening = Listening(host=host, port=port, token=token, names=tuple(name or ()), certificate=certificate, key=key)
    run_ui(bench, reports, listening, opens_browser=not no_open)


@app.command()
def version() -> None:
    """Print the version of the suite.

    Example: bakeoff version
    """
    typer.echo(__version__)


def main() -> None:
    """Run the command line; an error of ours, or of the disk, ends with its message and exit code 4, no traceback."""
    try:
        with disk_trouble_told("Make room, or give yourself the right to write there; then type the same again"):
            app()
    except BakeoffError as error:
        typer.echo(f"bakeoff: {error}", err=True)
        sys.exit(4)
