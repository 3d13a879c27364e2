"""The running mean says what the interval of the whole sample says, at every moment."""

import random

import pytest

from bakeoff.stats import interval
from bakeoff.stats.running import RunningMean

SHAPES = {
    "independent, right or wrong": (False, lambda draw: float(draw.random() < 0.8)),
    "independent, partial": (False, lambda draw: draw.random()),
    "several a picture, right or wrong": (True, lambda draw: float(draw.random() < 0.95)),
    "several a picture, partial": (True, lambda draw: draw.random() ** 4),
    "several a picture, all right": (True, lambda _: 1.0),
    "several a picture, all half right": (True, lambda _: 0.5),
}


@pytest.mark.parametrize(("is_clustered", "score"), SHAPES.values(), ids=list(SHAPES))
def test_it_equals_the_interval_of_what_was_taken_in(is_clustered: bool, score: object) -> None:  # noqa: FBT001 - a parameter
    draw = random.Random(7)  # noqa: S311 - a seeded draw
    assert callable(score)
    scores = [score(draw) for _ in range(400)]
    clusters = [f"picture {draw.randrange(90) if is_clustered else place}" for place in range(400)]
    mean = RunningMean()
    for n, (value, cluster) in enumerate(zip(scores, clusters, strict=True), start=1):
        mean.add(value, cluster)
        if n in {1, 2, 3, 10, 31, 100, 400}:
            found, wanted = mean.interval(), interval(scores[:n], clusters=clusters[:n])
            assert found.n == wanted.n
            assert found.value == pytest.approx(wanted.value)
            assert found.low == pytest.approx(wanted.low, abs=1e-6)
            assert found.high == pytest.approx(wanted.high, abs=1e-6)


def test_without_a_sample_there_is_no_mean() -> None:
    assert RunningMean().interval().value is None


def test_one_picture_has_no_interval() -> None:
    mean = RunningMean()
    for score in (0.0, 1.0, 1.0):
        mean.add(score, "the same")
    assert mean.interval().value == pytest.approx(2 / 3)
    assert mean.interval().low is None
