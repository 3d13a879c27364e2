"""`python -m tools.bench NAME... [--smoke]`: how fast and how true the suite is.

Each benchmark prints its figures with their limits and, last, the one that stands for all; `all` runs every one of
them. With --smoke the sizes are small and only what a busy machine can hold decides: ratios and memory. Exit code 1
when a limit is missed, 2 for a name that is none. docs/performance.md says what the figures mean.
"""

import sys
from collections.abc import Callable

from tools.bench import loop, overhead, profiling, report, reuse, scale, scorers, statistics

BENCHMARKS: dict[str, Callable[..., bool]] = {
    "overhead": overhead.run,
    "loop": loop.run,
    "reuse": reuse.run,
    "scale": scale.run,
    "report": report.run,
    "scorers": scorers.run,
    "statistics": statistics.run_as_benchmark,
    "profile": profiling.run,
}


def main(arguments: list[str]) -> int:
    """Run the named benchmarks; return 1 when one is not as it must be, 2 for a bad name."""
    is_smoke = "--smoke" in arguments
    named = [name for name in arguments if name != "--smoke"]
    names = list(BENCHMARKS) if not named or "all" in named else named
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}, all", file=sys.stderr)
        return 2
    kept = {}
    for name in names:
        print(f"{name}:", flush=True)
        kept[name] = BENCHMARKS[name](smoke=is_smoke)
    missed = [name for name, is_kept in kept.items() if not is_kept]
    if missed:
        print(f"limits missed: {', '.join(missed)}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
