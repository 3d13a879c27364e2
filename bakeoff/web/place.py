"""Where the app works: the benchmark modules it runs, the folder of runs, and its own corner in that folder."""

import re
from pathlib import Path

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.paths import PACKAGE
from bakeoff.runs import RunDirectory
from bakeoff.web.problems import Refusal

_TRACK = re.compile(r"""^TRACK\s*=\s*["']([\w-]+)["']""", re.MULTILINE)
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,127}")


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Absolute folders: runs are started in `root`, `bench` holds the test modules, `reports` the runs."""

    root: Path
    bench: Path
    reports: Path

    @property
    def own(self) -> Path:
        """The app's own folder: jobs, comparisons, exports. Its name begins with a dot, so it is never a run."""
        return self.reports / ".ui"

    def run(self, name: str) -> RunDirectory:
        """Return a run by the name of its folder.

        Raises:
            Refusal: when the name is no plain folder name, leads out of the reports folder, or is no run.
        """
        path = self.reports / name
        if not _RUN.fullmatch(name) or path.is_symlink() or path.resolve().parent != self.reports.resolve():
            raise Refusal(404, f"there is no run {name!r}")
        run = RunDirectory(path)
        if not run.exists():
            raise Refusal(404, f"there is no run {name!r} in {self.reports}")
        return run

    def modules(self) -> dict[str, Path]:
        """Return the test module of each track, in the order of their names; nothing is imported."""
        found: dict[str, Path] = {}
        for path in sorted(self.bench.glob("test_*.py")):
            declared = _TRACK.search(path.read_text("utf-8", errors="replace"))
            if declared:
                found.setdefault(declared[1], path)
        return found


def find_place(bench: Path | None, reports: Path | None) -> Place:
    """Return the folders: what was named, else `tests_bench` here or in the checkout, and `reports` beside it.

    Raises:
        UsageProblem: when there are no test modules.
    """
    named = [bench] if bench else [Path.cwd() / "tests_bench", PACKAGE.parent / "tests_bench"]
    folder = next((path.resolve() for path in named if path.is_dir()), None)
    if folder is None:
        raise UsageProblem(
            f"no benchmarks in {named[0]}: name a folder with test_<track>.py modules, such as\n"
            "bakeoff ui --bench tests_bench"
        )
    root = folder.parent
    return Place(root=root, bench=folder, reports=(reports or root / "reports").resolve())
