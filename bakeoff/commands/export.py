"""`bakeoff export`: a run in the form that another tool reads."""

from collections.abc import Sequence
from pathlib import Path

from bakeoff.errors import UsageProblem
from bakeoff.export import FORMATS, Wishes, markdown_table, survey, write_csv, write_hub, write_inspect, write_parquet
from bakeoff.files import write_atomically
from bakeoff.runs import RunDirectory
from bakeoff.tracks import TRACKS

_FILES = {"csv": "records.csv", "parquet": "records.parquet", "markdown": "table.md"}
_MOST_SHOWN = 10


def export_run(directory: Path, form: str, *, out: Path | None, wishes: Wishes) -> str:
    """Write `directory` as `form` and return what was written, or the table itself for `markdown` without `out`.

    Args:
        directory: the run.
        form: one of `FORMATS`.
        out: the file to write, or the folder for `inspect` and `hf`; `<directory>/exports/` when None.
        wishes: what only `hf` takes.

    Raises:
        UsageProblem: for an unknown format, a run that is not readable, or one that the format cannot hold.
    """
    if form not in FORMATS:
        raise UsageProblem(f"--format {form}: there is no such format; formats: {', '.join(FORMATS)}")
    if wishes != Wishes() and form != "hf":
        raise UsageProblem(f"--source, --task and --subset are for --format hf, not for {form}")
    run = RunDirectory(directory)
    run.manifest()  # says that it is no run before anything is made
    refused: tuple[str, ...] = ()
    try:
        if form == "markdown":
            table = markdown_table(run)
            if out is None:
                return table.rstrip("\n")
            path = _file(directory, form, out)
            write_atomically(path, table)
            paths: tuple[Path, ...] = (path,)
        elif form == "hf":
            paths, refused = _hub(run, out or directory / "exports" / "hf", wishes)
        elif form == "inspect":
            paths = write_inspect(survey(run), out or directory / "exports" / "inspect")
        else:
            write = write_csv if form == "csv" else write_parquet
            paths = write(survey(run), _file(directory, form, out))
    except OSError as error:
        raise UsageProblem(f"cannot write the export: {error}.\nName another place with -o PATH") from error
    return "\n".join((*_told(paths), *(f"left out: {reason}" for reason in refused)))


def read_tasks(texts: Sequence[str]) -> dict[str, str]:
    """Return `TRACK=ID` entries as a mapping.

    Raises:
        UsageProblem: for an entry of another form, or a track that does not exist.
    """
    found: dict[str, str] = {}
    for text in texts:
        track, _, task = text.partition("=")
        if track not in TRACKS or not task:
            raise UsageProblem(f"--task {text}: write --task TRACK=ID with a track of {', '.join(TRACKS)}")
        found[track] = task
    return found


def _hub(run: RunDirectory, folder: Path, wishes: Wishes) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    written = write_hub(run, folder, wishes)
    return written.paths, written.refused


def _file(directory: Path, form: str, out: Path | None) -> Path:
    """Return the file to write; a folder gets one of the usual name."""
    if out is None:
        return directory / "exports" / _FILES[form]
    return out / _FILES[form] if out.is_dir() else out


def _told(paths: Sequence[Path]) -> list[str]:
    lines = [f"wrote {path}" for path in paths[:_MOST_SHOWN]]
    return lines if len(paths) <= _MOST_SHOWN else [*lines, f"and {len(paths) - _MOST_SHOWN} more in {paths[0].parent}"]
