"""A difference lies in one group, or chance may have spread it so: then nothing is said."""

from collections.abc import Iterable

import msgspec
import numpy as np
import pytest
from scipy.stats import hypergeom

from bakeoff.records import Record
from bakeoff.report.causes import flip_causes
from bakeoff.report.flip_results import Gathering
from bakeoff.report.gathering import by_chance, gathered
from bakeoff.report.verdicts import flips

Pair = tuple[Record, Record]


def found_in(spread: list[Pair], *, dimensions: int = 1) -> Gathering | None:
    """Return where the difference lies, looking at the size by as many names as `dimensions`."""
    sizes = [a.groups.get("size") for a, _ in spread]
    return gathered(spread, {f"size{i or ''}": sizes for i in range(dimensions)})


def pairs(size: str, *, lost: int, n: int, gained: int = 0, image: str = "") -> list[Pair]:
    """Return `n` pairs of a group, `lost` of them right in the second arm only, `gained` in the first only.

    Each has an image of its own, or all share `image`.
    """

    def record(number: int, *, is_right: bool) -> Record:
        return Record(
            sample_id=f"{size}{image}{number}",
            track="toy",
            status="ok",
            image_sha256=(image or f"{size}{number}",),
            groups={"size": size},
            output="yes" if is_right else "no",
            answer="yes" if is_right else "no",
            score=float(is_right),
            correct=is_right,
        )

    return [(record(i, is_right=i >= lost), record(i, is_right=not lost <= i < lost + gained)) for i in range(n)]


def test_the_group_that_lost_is_named_with_the_differences_there_and_elsewhere() -> None:
    found = found_in([*pairs("tiled", lost=9, n=16), *pairs("square", lost=5, gained=4, n=249)])
    assert found is not None
    assert (found.dimension, found.value, found.groups) == ("size", "tiled", 2)
    assert (found.n, found.diff_pp, found.rest_n) == (16, -56.25, 249)
    assert found.rest_diff_pp == pytest.approx(-100 / 249)
    assert found.p < 0.001


def test_a_gain_in_one_group_is_named_too() -> None:
    found = found_in([*pairs("tiled", lost=0, gained=9, n=16), *pairs("square", lost=5, gained=5, n=249)])
    assert found is not None
    assert (found.value, found.diff_pp) == ("tiled", 56.25)


@pytest.mark.parametrize(
    "spread",
    [
        [*pairs("tiled", lost=2, n=20), *pairs("square", lost=8, n=80)],
        [*pairs("tiled", lost=0, n=20), *pairs("square", lost=0, n=80)],
        [*pairs("tiled", lost=5, gained=5, n=10), *pairs("square", lost=5, gained=4, n=90)],  # losses equal gains
        pairs("tiled", lost=10, n=20),  # nothing to compare the group with
        [],
    ],
)
def test_a_difference_that_chance_may_have_spread_lies_nowhere(spread: list[Pair]) -> None:
    assert found_in(spread) is None


def test_questions_on_one_image_are_one_witness() -> None:
    others = pairs("square", lost=2, n=60)
    apart = pairs("tiled", lost=10, n=20)
    shared = [pair for i in range(2) for pair in pairs("tiled", lost=5 * (1 - i) * 2, n=10, image=f"i{i}")]
    assert sum(b.score != a.score for a, b in shared) == sum(b.score != a.score for a, b in apart) == 10
    assert found_in([*apart, *others]) is not None
    assert found_in([*shared, *others]) is None, "two images are too few, whatever is asked of them"


def test_many_groups_looked_at_cost_certainty() -> None:
    """The same losses that convince among two groups do not among a thousand."""
    some = [*pairs("tiled", lost=6, n=10), *pairs("square", lost=10, n=90)]
    few = found_in(some)
    assert few is not None
    assert few.p < 0.01
    assert found_in(some, dimensions=500) is None


def test_chance_alone_is_named_in_no_more_than_one_run_of_a_hundred() -> None:
    """Two hundred runs whose losses fall anywhere; more than seven would be beyond a binomial at 1%."""
    draw = np.random.default_rng(7)
    named = 0
    for _ in range(200):
        losses = draw.random(60) < 0.15
        spread = [
            pair
            for i, is_lost in enumerate(losses)
            for pair in pairs(f"size {i % 6}", lost=int(is_lost), n=1, image=str(i))
        ]
        named += found_in(spread) is not None
    assert named <= 7


def test_samples_without_a_score_are_left_out() -> None:
    failed = [
        (msgspec.structs.replace(a, status="error", score=None, correct=None), b)
        for a, b in pairs("tiled", lost=9, n=9)
    ]
    assert found_in([*failed, *pairs("square", lost=1, n=60)]) is None


def test_the_probability_of_losses_is_the_hypergeometric_tail() -> None:
    """With scores of 0 and 1 the permutation test is Fisher's: 4 of 5 images lost, 6 of 95 elsewhere."""
    exact = hypergeom.sf(3, 100, 10, 5)
    found = by_chance(np.array([-1.0] * 4 + [0.0]), np.array([-1.0] * 6 + [0.0] * 89), 400_000)
    assert found == pytest.approx(exact, rel=0.25)


def test_the_same_data_give_the_same_number() -> None:
    inside, outside = np.array([-1.0, -0.5, 0.0]), np.array([0.0] * 40 + [-1.0, 0.25])
    assert by_chance(inside, outside, 5_000) == by_chance(inside, outside, 5_000)


def test_the_sentence_names_the_group_and_both_differences() -> None:
    found: Iterable[Pair] = [*pairs("tiled", lost=9, n=16), *pairs("square", lost=5, gained=4, n=249)]
    assert flips(flip_causes(list(found), {}, ("size",))) == (
        "The difference lies in size tiled: −56.2 pp on 16 samples, −0.4 pp on the other 249. "
        "Flipped 18 of 265: text differs 18."
    )
