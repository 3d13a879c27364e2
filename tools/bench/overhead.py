"""What the suite itself costs a sample: 25,770 samples of eight tracks, answered by a scripted arm at once.

Beside it runs an empty pytest test of as many cases: pytest's own share, and the yardstick where the machine is shared
with others. On a quiet machine an empty case takes 0.5 ms, so four of them are the 2 ms that the suite may take.
"""

from pathlib import Path

from tools.bench.figures import Figure, megabytes, run_pytest, scratch, tell
from tools.bench.workload import ALL, write_arms, write_bench, write_data

SMOKE = 2_000
COLLECTION_S, SAMPLE_MS, MEMORY_MB = 5.0, 2.0, 300.0
IN_EMPTY_CASES = 4.0

_EMPTY = """
import pytest
@pytest.mark.parametrize("case", range({0}), ids=[f"arm-sample_{{n:05}}" for n in range({0})])
def test_sample(case): pass
"""


def run(*, smoke: bool) -> bool:
    """Measure, print, and return whether the limits hold."""
    samples = SMOKE if smoke else ALL
    with scratch() as folder:
        write_data(folder / "data", samples)
        write_bench(folder / "bench")
        (arm,) = write_arms(folder, folder / "data", 1)
        empty = _empty(folder / "empty", samples)
        stages = run_pytest(folder, "bench", "--model", arm, "--run-dir", str(folder / "run"), data=folder / "data")
    cost = (stages["reporting"]["cpu_s"] - stages["running"]["cpu_s"]) / samples * 1000
    wall = (stages["reporting"]["wall_s"] - stages["running"]["wall_s"]) / samples * 1000
    collecting = stages["running"]["cpu_s"] - stages["session"]["cpu_s"]
    peak = megabytes(stages["reporting"]["peak_bytes"])
    figures = [
        Figure(what="reading and collecting, CPU", value=collecting, unit="s", limit=COLLECTION_S, is_told_only=smoke),
        Figure(what="a sample, CPU", value=cost, unit="ms", limit=SAMPLE_MS, is_told_only=smoke),
        Figure(what="a sample, wall", value=wall, unit="ms", limit=SAMPLE_MS, is_told_only=True),
        Figure(what="an empty pytest case, CPU", value=empty, unit="ms", limit=SAMPLE_MS, is_told_only=True),
        Figure(what="a sample in empty cases", value=cost / empty, unit="x", limit=IN_EMPTY_CASES),
        Figure(what="peak memory until the last sample", value=peak, unit="MB", limit=MEMORY_MB),
    ]
    return tell(figures, f"overhead: {cost:.2f} ms/sample")


def _empty(folder: Path, samples: int) -> float:
    """Return the CPU milliseconds that pytest takes for a case that does nothing."""
    folder.mkdir()
    (folder / "test_empty.py").write_text(_EMPTY.format(samples), "utf-8")
    stages = run_pytest(folder, ".", "-p", "no:bakeoff.plugin")
    return (stages["reporting"]["cpu_s"] - stages["running"]["cpu_s"]) / samples * 1000
