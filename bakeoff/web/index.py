"""The table of runs, quick with hundreds of them: each run is read once for every version of its files."""

import contextlib
import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Any

import filelock
import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.runs import Manifest, RunDirectory
from bakeoff.web.place import Place

_FRESH_S = 3600.0


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The primary number of an arm on a track; `right` counts the right ones of `n` where every score is 0 or 1."""

    arm: str
    track: str
    metric: str
    value: float | None
    ci95: tuple[float, float] | None
    n: int
    errors: int
    right: int | None


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the table. `problem` is why a run cannot be read; such a run stays in the list.

    `status` is running, complete, partial, failed gate or unreadable; `rates` are samples per second by model.
    """

    run: str
    created: str
    status: str
    state: str = ""
    headline: str = ""
    badge: str | None = None
    arms: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tracks: tuple[str, ...] = ()
    scores: tuple[Score, ...] = ()
    gates: tuple[str, ...] = ()
    answered: int | None = None
    selected: int | None = None
    bytes: int = 0
    has_report: bool = False
    machine: tuple[Any, ...] = ()
    rates: dict[str, float] = {}
    loads: dict[str, float] = {}
    problem: str | None = None


class _Metric(msgspec.Struct):
    value: float | None
    ci95: tuple[float, float] | None
    n: int
    primary: bool = False


class _Track(msgspec.Struct):
    n: int
    errors: int
    metrics: dict[str, _Metric]
    selected: int | None = None
    right: int | None = None


class _Arm(msgspec.Struct):
    model: str
    tracks: dict[str, _Track]
    samples_per_s: float | None = None
    load_s: float | None = None


class _Validity(msgspec.Struct):
    badge: str


class _Gate(msgspec.Struct):
    gate: str
    outcome: str


class _Results(msgspec.Struct):
    """What the table needs of `results.json`; the rest is passed over."""

    state: str
    headline: str
    arms: dict[str, _Arm]
    validity: _Validity
    gates: list[_Gate] = []
    options: dict[str, Any] = {}


class RunIndex:
    """Rows of the runs of a reports folder."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._rows: dict[str, tuple[object, RunRow]] = {}

    def rows(self) -> list[RunRow]:
        """Return all rows, the newest first."""
        with contextlib.suppress(OSError):
            paths = [path.parent for path in self._place.reports.glob("*/run.json") if path.parent.name[0] != "."]
            names = {path.name for path in paths}
            self._rows = {name: kept for name, kept in self._rows.items() if name in names}
            found = [self.row(path) for path in paths if not path.is_symlink()]
            return sorted(found, key=lambda row: (row.created, row.run), reverse=True)
        return []

    def row(self, path: Path) -> RunRow:
        """Return the row of one run."""
        journals = sorted(path.glob("records/*.jsonl"))
        stamp = tuple(map(_stamp, (path / "run.json", path / "results.json", path / "selection.json", *journals)))
        known = self._rows.get(path.name)
        row = known[1] if known is not None and known[0] == stamp else _read(path, journals)
        self._rows[path.name] = (stamp, row)
        if row.status == "partial" and _is_fresh(path, journals) and _is_being_written(path):
            return msgspec.structs.replace(row, status="running")
        return row


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def _is_fresh(path: Path, journals: list[Path]) -> bool:
    """Return whether anything was written within the hour, so that it is worth asking who holds the lock."""
    newest = max((_stamp(p)[0] for p in (path / "run.json", *journals)), default=0) / 1e9
    return dt.datetime.now(dt.UTC).timestamp() - newest < _FRESH_S


def _is_being_written(path: Path) -> bool:
    """Return whether another process holds the run's lock."""
    if not (path / "run.lock").exists():
        return False
    lock = filelock.FileLock(path / "run.lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        return True
    except OSError:
        return False
    lock.release()
    return False


def _read(path: Path, journals: list[Path]) -> RunRow:
    size = sum(_stamp(file)[1] for file in (*journals, *path.glob("*.*")))
    try:
        manifest = RunDirectory(path).manifest()
    except (UsageProblem, OSError) as problem:
        created = dt.datetime.fromtimestamp(_stamp(path / "run.json")[0] / 1e9, dt.UTC).isoformat(timespec="seconds")
        return RunRow(run=path.name, created=created, status="unreadable", problem=str(problem), bytes=size)
    selected = _selected(path)
    row = RunRow(
        run=path.name,
        created=manifest.created,
        status="partial",
        arms=tuple(manifest.arms),
        models=tuple(arm.model for arm in manifest.arms.values()),
        tracks=tuple(track for track in manifest.tracks if not selected or selected[track]),
        bytes=size,
        has_report=(path / "report.html").is_file(),
        machine=machine_of(manifest),
        selected=None if selected is None else sum(selected.values()),
    )
    return _with_results(row, path, journals)


def _with_results(row: RunRow, path: Path, journals: list[Path]) -> RunRow:
    try:
        content = (path / "results.json").read_bytes()
        results = msgspec.json.decode(content, type=_Results)
    except OSError:
        return msgspec.structs.replace(row, answered=_count(journals), state="no report yet")
    except ValueError as problem:
        return msgspec.structs.replace(row, answered=_count(journals), problem=f"results.json: {problem}")
    failing = {"fail"} if results.options.get("undecided") == "pass" else {"fail", "not enough data"}
    gates = tuple(gate.gate for gate in results.gates if gate.outcome in failing)
    tracks = [(arm, name, track) for arm, found in results.arms.items() for name, track in found.tracks.items()]
    is_whole = results.state.startswith("finished")
    return msgspec.structs.replace(
        row,
        status="partial" if not is_whole else "failed gate" if gates else "complete",
        state=results.state,
        headline=results.headline,
        badge=results.validity.badge if len(results.arms) > 1 else None,
        scores=tuple(_score(arm, name, track) for arm, name, track in tracks),
        gates=gates,
        answered=sum(track.n for _, _, track in tracks),
        rates={arm.model: arm.samples_per_s for arm in results.arms.values() if arm.samples_per_s},
        loads={arm.model: arm.load_s for arm in results.arms.values() if arm.load_s},
    )


def _score(arm: str, name: str, track: _Track) -> Score:
    metric, found = next(
        ((key, metric) for key, metric in track.metrics.items() if metric.primary and metric.value is not None),
        next(iter(track.metrics.items()), ("", _Metric(value=None, ci95=None, n=track.n))),
    )
    return Score(
        arm=arm,
        track=name,
        metric=metric,
        value=found.value,
        ci95=found.ci95,
        n=track.n,
        errors=track.errors,
        right=track.right,
    )


def machine_of(manifest: Manifest) -> tuple[Any, ...]:
    """Return what tells machines apart: kind of processor, cores, memory."""
    return tuple(manifest.environment.get(name) for name in ("machine", "cores", "memory_bytes"))


def _selected(path: Path) -> Counter[str] | None:
    """Return how many samples of each track all arms together are to answer; None where that cannot be read."""
    found: Counter[str] = Counter()
    try:
        for tracks in RunDirectory(path).selection().values():
            found.update({track: len(ids) for track, ids in tracks.items()})
    except (UsageProblem, OSError):
        return None
    return found


def _count(journals: list[Path]) -> int:
    """Count the records of journals that no report has summed up."""
    return sum(path.read_bytes().count(b'"type":"record"') for path in journals)
