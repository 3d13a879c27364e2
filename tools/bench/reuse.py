"""Four questions about one tiled image, reuse on against off, on both runtimes with the embedded model."""

import importlib
from collections.abc import Callable

from tools.bench.figures import Figure, tell

RUNTIMES = ("mlx", "gguf")
RATIO = 3.0


def run(*, smoke: bool) -> bool:
    """Measure, print, and return whether the limit holds on every runtime; a ratio means the same on any machine."""
    del smoke
    return all([_run_one(name) for name in RUNTIMES])  # noqa: C419 -- all are measured, also behind one that misses


def _run_one(name: str) -> bool:
    try:
        module = importlib.import_module(f"tools.bench.reuse_{name}")
    except ModuleNotFoundError as error:
        print(f"reuse {name}: not measured, {error}")
        return False
    measure: Callable[[], float] = module.measure
    ratio = measure()
    figure = Figure(what=f"{name}: time off by time on", value=ratio, unit="x", limit=RATIO, is_at_least=True)
    return tell([figure], f"reuse {name}: {ratio:.1f}x")
