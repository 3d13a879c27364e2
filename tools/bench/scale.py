"""Does the cost grow with the samples and no faster? And how soon does a resumed run of six arms go on?"""

import math
from pathlib import Path

from scipy.stats import linregress

from tools.bench.figures import Figure, megabytes, run_pytest, scratch, tell
from tools.bench.six_arms import ARMS, write_six
from tools.bench.workload import ALL, write_arms, write_bench, write_data

SIZES, SMOKE_SIZES = (1_000, 5_000, 25_000), (500, 1_000, 2_000)
SMOKE = 1_000
RESUME_S, MEMORY_MB = 10.0, 1000.0
EXPONENT = 1.1
"""A cost that grows as n to this power is called linear: twenty-five times the samples, at most 38 % more a sample."""


def run(*, smoke: bool) -> bool:
    """Measure, print, and return whether the limits hold."""
    with scratch() as folder:
        resumed = measure_resume(folder / "six", SMOKE if smoke else ALL, smoke=smoke)
    with scratch() as folder:
        costs = {size: _cost(folder / str(size), size) for size in (SMOKE_SIZES if smoke else SIZES)}
    for size, seconds in costs.items():
        print(f"  {size} samples: {seconds:.2f} s CPU, {seconds / size * 1000:.2f} ms a sample")
    slope = float(linregress([math.log(n) for n in costs], [math.log(s) for s in costs.values()]).slope)
    is_linear = tell(
        [Figure(what="cost grows as n to the power of", value=slope, unit="", limit=EXPONENT, is_told_only=smoke)],
        f"scale: n^{slope:.2f}",
    )
    return resumed and is_linear


def measure_resume(folder: Path, samples: int, *, smoke: bool) -> bool:
    """Resume a run of six arms that lacks a few samples, print, and return whether the limits hold."""
    folder.mkdir()
    run = write_six(folder, samples)
    stages = run_pytest(folder, "bench", f"--resume={run.path}", data=folder / "data")
    first, memory = stages["answered"], megabytes(stages["answered"]["peak_bytes"])
    name = f"{ARMS} arms of {samples}: to the first sample"
    figures = [
        Figure(what=f"{name}, CPU", value=first["cpu_s"], unit="s", limit=RESUME_S, is_told_only=smoke),
        Figure(what=f"{name}, wall", value=first["wall_s"], unit="s", limit=RESUME_S, is_told_only=True),
        Figure(what="peak memory until then", value=memory, unit="MB", limit=MEMORY_MB),
    ]
    return tell(figures, f"resume: {first['cpu_s']:.1f} s to the first sample")


def _cost(folder: Path, samples: int) -> float:
    """Return the CPU seconds from the first sample to the last."""
    write_data(folder / "data", samples)
    write_bench(folder / "bench")
    (arm,) = write_arms(folder, folder / "data", 1)
    stages = run_pytest(folder, "bench", "--model", arm, "--run-dir", str(folder / "run"), data=folder / "data")
    return stages["reporting"]["cpu_s"] - stages["running"]["cpu_s"]
