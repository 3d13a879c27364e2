"""How long the report of six arms of 25,770 samples takes, what memory, and how large the page is."""

from pathlib import Path

from tools.bench.figures import Figure, megabytes, run_python, scratch, tell
from tools.bench.six_arms import ARMS, write_six
from tools.bench.workload import ALL

SMOKE = 1_000
SECONDS, MEMORY_MB, PAGE_MB = 60.0, 1000.0, 15.0

_BUILD = """
import json, pathlib, resource, sys, time
began, cpu = time.perf_counter(), time.process_time()
from bakeoff.report import build
from bakeoff.runs import RunDirectory
run = RunDirectory(pathlib.Path(sys.argv[1]))
build(run)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
page = (run.path / "report.html").stat().st_size
spent = {"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu}
print(json.dumps({**spent, "peak": peak, "page": page}))
"""


def run(*, smoke: bool) -> bool:
    """Measure, print, and return whether the limits hold."""
    with scratch() as folder:
        return measure(write_six(folder, SMOKE if smoke else ALL).path, smoke=smoke)


def measure(path: Path, *, smoke: bool) -> bool:
    """Build the report of a run that `write_six` wrote, print, and return whether the limits hold."""
    found = run_python(_BUILD, str(path), data=path.parent / "data")
    figures = [
        Figure(what=f"report of {ARMS} arms, CPU", value=found["cpu_s"], unit="s", limit=SECONDS, is_told_only=smoke),
        Figure(what=f"report of {ARMS} arms, wall", value=found["wall_s"], unit="s", limit=SECONDS, is_told_only=True),
        Figure(what="peak memory", value=megabytes(found["peak"]), unit="MB", limit=MEMORY_MB),
        Figure(what="report.html", value=megabytes(found["page"]), unit="MB", limit=PAGE_MB),
    ]
    return tell(figures, f"report: {found['cpu_s']:.1f} s")
