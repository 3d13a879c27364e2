"""The simulation that holds the statistics against the specification: it draws what it says and it can fail."""

import msgspec
import numpy as np
import pytest

from tools.bench.statistics import (
    SHAPES,
    SPECIFIED,
    Cell,
    Shape,
    draw_differences,
    draw_scores,
    keys_of,
    run,
    simulate,
)

CELL = Cell(kind="coverage", n=224, score=0.5, shape=SHAPES[0], specified=0.95, found=0.94, runs=400)


def correlation(values: np.ndarray, size: int) -> float:
    """The correlation of two values of one cluster."""
    rows = values.reshape(-1, size)
    return float(np.corrcoef(rows[:, 0], rows[:, 1])[0, 1])


@pytest.mark.parametrize("icc", [0.2, 0.5])
def test_draws_have_the_mean_and_the_correlation_they_are_named_for(icc: float) -> None:
    generator, shape = np.random.default_rng(1), Shape(size=2, icc=icc)
    scores = draw_scores(generator, 60_000, 0.8, shape)
    assert scores.mean() == pytest.approx(0.8, abs=0.01)
    assert correlation(scores, 2) == pytest.approx(icc, abs=0.02)
    differences = draw_differences(generator, 60_000, 0.16, 0.05, shape)
    assert differences.mean() == pytest.approx(0.05, abs=0.01)
    assert np.abs(differences).mean() == pytest.approx(0.16, abs=0.01)
    assert correlation(differences, 2) == pytest.approx(icc, abs=0.03)
    assert keys_of(differences[:4], shape) == ["0", "0", "1", "1"]


@pytest.mark.parametrize(
    ("specified", "found", "is_off"),
    [(0.95, 0.94, False), (0.95, 0.88, True), (0.0, 0.005, False), (0.0, 0.1, True), (1.0, 1.0, False)],
)
def test_a_cell_is_off_only_beyond_chance(specified: float, found: float, *, is_off: bool) -> None:
    assert msgspec.structs.replace(CELL, specified=specified, found=found).is_off is is_off


def test_a_seed_gives_the_same_cells() -> None:
    assert list(simulate(3, (224,), 7)) == list(simulate(3, (224,), 7))


def test_the_statistics_agree_with_the_specification_at_the_smaller_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(runs=60, sizes=(224,))
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "statistics: 0 cells off by more than chance explains"
    assert len(lines) == 2 + sum(len(figures) * len(SHAPES) for figures in (kind[224] for kind in SPECIFIED.values()))
