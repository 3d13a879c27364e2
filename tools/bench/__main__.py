"""`python -m tools.bench [NAME...]`: how fast and how true the suite is. Each prints its numbers with a verdict."""

import sys
from collections.abc import Callable

from tools.bench import scorers, statistics

BENCHMARKS: dict[str, Callable[[], bool]] = {"scorers": scorers.run, "statistics": statistics.run}


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, all without a name; return 1 when one is not as it must be, 2 for a bad name."""
    names = arguments or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    kept = [BENCHMARKS[name]() for name in names]
    return int(not all(kept))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
