"""Do the suite's intervals and verdicts keep their promises? A seeded simulation beside the specification's figures.

`python -m tools.bench.statistics [--runs N] [--sizes 224,1272]` draws data with a known truth, asks `bakeoff.stats`,
and prints what was found beside what the tables T1 (coverage of a score's interval), T4 (false differences) and T5
(false and true "same" at 5 points) of the specification hold. Exit code 1 when a cell is further from its figure than
chance explains: four standard deviations of both simulations, and half a point for the difference in generators.

Clusters have equal size. Scores of one arm are beta-binomial; differences copy a value of their cluster with
probability sqrt(icc), so that the correlation is exact.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from bakeoff.stats import interval, paired_difference

Draw = NDArray[np.float64]
SIZES = (224, 1272)
RUNS = 400
SEED = 20261130
MARGIN = 0.05
_SPECIFIED_RUNS = 4000
_SLACK = 0.005
_DEVIATIONS = 4.0


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """How samples share images: so many on each, so much alike."""

    size: int
    icc: float

    @property
    def words(self) -> str:
        """The shape as the tables name it."""
        return f"size {self.size}" + (f", icc {self.icc:g}" if self.size > 1 else "")


SHAPES = (Shape(size=1, icc=0.0), Shape(size=2, icc=0.2), Shape(size=6, icc=0.5))
DISCORDANCE = {0.5: 0.25, 0.8: 0.16, 0.97: 0.04}
"""Share of samples on which two arms of that score differ, as in the specification."""

# What the specification's tables hold, in percent: kind -> n -> score -> a figure per shape.
SPECIFIED: dict[str, dict[int, dict[float, tuple[float, float, float]]]] = {
    "coverage": {
        224: {0.5: (94.8, 95.2, 95.6), 0.8: (94.8, 95.3, 95.3), 0.97: (94.9, 95.5, 89.5)},
        1272: {0.5: (94.7, 95.3, 95.3), 0.8: (95.3, 94.8, 95.7), 0.97: (95.0, 95.1, 94.0)},
    },
    "false difference": {
        224: {0.5: (4.3, 4.4, 3.5), 0.8: (4.5, 4.0, 2.8), 0.97: (2.6, 1.9, 0.0)},
        1272: {0.5: (5.9, 4.8, 4.7), 0.8: (5.1, 5.2, 4.9), 0.97: (4.4, 4.6, 2.7)},
    },
    "false same": {
        224: {0.5: (0.1, 0.0, 0.0), 0.8: (2.9, 2.1, 0.1), 0.97: (6.9, 1.8, 0.0)},
        1272: {0.5: (5.6, 5.5, 3.7), 0.8: (6.0, 4.9, 4.8), 0.97: (6.0, 5.8, 3.0)},
    },
    "true same": {
        224: {0.5: (0.2, 0.0, 0.0), 0.8: (15.2, 7.0, 0.0), 0.97: (93.0, 65.5, 0.0)},
        1272: {0.5: (93.8, 89.5, 19.2), 0.8: (99.5, 98.5, 52.6), 0.97: (100.0, 100.0, 98.9)},
    },
}


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One figure: what it is of, what the specification holds, what `runs` draws gave; all shares in [0, 1]."""

    kind: str
    n: int
    score: float
    shape: Shape
    specified: float
    found: float
    runs: int

    @property
    def is_off(self) -> bool:
        """Whether the two differ by more than chance explains."""
        middle = min(max((self.specified + self.found) / 2.0, 0.5 / self.runs), 1.0 - 0.5 / self.runs)
        deviation = math.sqrt(middle * (1.0 - middle) * (1.0 / self.runs + 1.0 / _SPECIFIED_RUNS))
        return abs(self.found - self.specified) > _DEVIATIONS * deviation + _SLACK


def simulate(runs: int, sizes: tuple[int, ...], seed: int) -> Iterator[Cell]:
    """Yield every cell of the tables at these sizes."""
    for kind, events in EVENTS.items():
        for n in sizes:
            for score, figures in SPECIFIED[kind][n].items():
                for shape, figure in zip(SHAPES, figures, strict=True):
                    generator = np.random.default_rng([seed, n, round(1000 * score), shape.size, len(kind)])
                    hits = sum(events(generator, n, score, shape) for _ in range(runs))
                    yield Cell(
                        kind=kind,
                        n=n,
                        score=score,
                        shape=shape,
                        specified=figure / 100.0,
                        found=hits / runs,
                        runs=runs,
                    )


def draw_scores(generator: np.random.Generator, n: int, score: float, shape: Shape) -> Draw:
    """Return binary scores in whole clusters, of mean `score` and the shape's correlation."""
    clusters = n // shape.size
    chance = np.full(clusters, score)
    if shape.icc > 0:
        strength = (1.0 - shape.icc) / shape.icc
        chance = generator.beta(score * strength, (1.0 - score) * strength, clusters)
    return (generator.random((clusters, shape.size)) < chance[:, None]).astype(np.float64).ravel()


def draw_differences(
    generator: np.random.Generator, n: int, discordance: float, difference: float, shape: Shape
) -> Draw:
    """Return differences of two binary arms: -1, 0 or 1, apart in the share `discordance`, of mean `difference`."""
    clusters = n // shape.size
    better, worse = (discordance + difference) / 2.0, (discordance - difference) / 2.0
    weights = (worse, 1.0 - discordance, better)
    own = generator.choice((-1.0, 0.0, 1.0), size=(clusters, shape.size), p=weights)
    shared = generator.choice((-1.0, 0.0, 1.0), size=(clusters, 1), p=weights)
    is_shared = generator.random((clusters, shape.size)) < math.sqrt(shape.icc)
    return np.where(is_shared, shared, own).ravel()


def keys_of(values: Draw, shape: Shape) -> list[str]:
    """Return the cluster of each value."""
    return [str(position // shape.size) for position in range(len(values))]


def is_covered(generator: np.random.Generator, n: int, score: float, shape: Shape) -> bool:
    """Whether the interval of one draw holds the true score."""
    values = draw_scores(generator, n, score, shape)
    found = interval(values.tolist(), clusters=keys_of(values, shape))
    return found.low is not None and found.high is not None and found.low <= score <= found.high


def _verdict(generator: np.random.Generator, n: int, shape: Shape, *, discordance: float, difference: float) -> str:
    values = draw_differences(generator, n, discordance, difference, shape)
    a, b = np.where(values > 0, 1.0, 0.0), np.where(values < 0, 1.0, 0.0)
    found = paired_difference(a.tolist(), b.tolist(), margin=MARGIN, clusters=keys_of(values, shape))
    if found.verdict == "equivalent":
        return "same" if found.direction is None else "same, and different"
    return found.verdict


def is_false_difference(generator: np.random.Generator, n: int, score: float, shape: Shape) -> bool:
    """Whether one draw of equal arms shows a difference."""
    told = _verdict(generator, n, shape, discordance=DISCORDANCE[score], difference=0.0)
    return told in {"a_better", "b_better", "same, and different"}


def is_false_same(generator: np.random.Generator, n: int, score: float, shape: Shape) -> bool:
    """Whether arms that are the margin apart are called the same."""
    discordance = max(DISCORDANCE[score], 1.2 * MARGIN)
    return _verdict(generator, n, shape, discordance=discordance, difference=MARGIN).startswith("same")


def is_true_same(generator: np.random.Generator, n: int, score: float, shape: Shape) -> bool:
    """Whether equal arms are called the same."""
    return _verdict(generator, n, shape, discordance=DISCORDANCE[score], difference=0.0).startswith("same")


EVENTS: dict[str, Callable[[np.random.Generator, int, float, Shape], bool]] = {
    "coverage": is_covered,
    "false difference": is_false_difference,
    "false same": is_false_same,
    "true same": is_true_same,
}


def run(runs: int = RUNS, sizes: tuple[int, ...] = SIZES, seed: int = SEED) -> bool:
    """Simulate, print a line a cell, and return whether all of them agree with the specification."""
    off = 0
    print("percent of runs            n  score  images            specified  found")
    for cell in simulate(runs, sizes, seed):
        off += cell.is_off
        print(
            f"{cell.kind:<18} {cell.n:>9}  {cell.score:>5g}  {cell.shape.words:<16}  {100 * cell.specified:>9.1f}  "
            f"{100 * cell.found:>5.1f}{'  <- off' if cell.is_off else ''}"
        )
    print(f"statistics: {off} cells off by more than chance explains")
    return off == 0


def run_as_benchmark(*, smoke: bool) -> bool:
    """Run whole, or in `smoke` with a tenth of the draws on the smaller size; no clock is in what is found."""
    return run(RUNS // 10, SIZES[:1]) if smoke else run()


def main() -> int:
    """Run with the numbers of the command line; return 1 when a cell is off."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help=f"draws a cell; default {RUNS}, under a minute")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of samples, of 224 and 1272")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    return int(not run(options.runs, tuple(int(size) for size in options.sizes.split(",")), options.seed))


if __name__ == "__main__":
    sys.exit(main())
