import random
from collections import Counter

from hypothesis import given, strategies as st

from bakeoff.records import Sample, TextTarget
from bakeoff.tracks.draw import draw

SIZES = st.lists(st.integers(1, 30), min_size=1, max_size=6)


def samples(sizes: list[int]) -> list[Sample]:
    return [
        Sample(id=f"g{group}-{n}", track="t", question="q", target=TextTarget(answers=("x",)), groups={"g": str(group)})
        for group, size in enumerate(sizes)
        for n in range(size)
    ]


@given(SIZES, st.integers(1, 200), st.integers(0, 5))
def test_a_draw_has_the_size_asked_for_and_keeps_the_order(sizes: list[int], n: int, seed: int) -> None:
    everything = samples(sizes)
    drawn = draw(everything, n, dimension="g", seed=seed)
    assert len(drawn) == min(n, len(everything))
    places = [everything.index(sample) for sample in drawn]
    assert places == sorted(set(places))


@given(SIZES, st.integers(1, 200))
def test_groups_are_drawn_in_proportion(sizes: list[int], n: int) -> None:
    everything = samples(sizes)
    counts = Counter(sample.groups["g"] for sample in draw(everything, n, dimension="g", seed=0))
    if n >= len(sizes):
        assert set(counts) == {str(group) for group in range(len(sizes))}
    for group, size in enumerate(sizes):
        exact = min(n, len(everything)) * size / len(everything)
        assert abs(counts[str(group)] - exact) <= len(sizes)


def test_a_draw_is_repeatable_and_differs_by_seed() -> None:
    everything = samples([40, 40])
    first = draw(everything, 20, dimension="g", seed=1)
    random.seed(9)
    assert draw(everything, 20, dimension="g", seed=1) == first
    assert draw(everything, 20, dimension="g", seed=2) != first


def test_a_draw_is_never_a_prefix() -> None:
    everything = samples([100])
    assert draw(everything, 50, dimension="g", seed=0) != tuple(everything[:50])
