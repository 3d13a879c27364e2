"""What holds for the statistics whatever the data; the numbers themselves are in `stats/test_vectors`."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from bakeoff import stats

BINARY = st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=40)
SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def test_no_scores_have_no_value_rather_than_zero() -> None:
    found = stats.interval([])
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)


@pytest.mark.parametrize(("score", "side"), [(1.0, "high"), (0.0, "low")])
def test_end_of_interval_is_exact_when_all_scores_agree_at_the_edge(score: float, side: str) -> None:
    weights = {"a": 0.1, "b": 0.2, "c": 0.7}  # a sum that rounds
    found = stats.interval([score] * 12, strata=list("abc" * 4), clusters=list("gghhiijjkkll"), weights=weights)
    assert getattr(found, side) == found.value == score


@given(SCORES)
def test_interval_holds_its_value_and_stays_in_range(scores: list[float]) -> None:
    found = stats.interval(scores, clusters=[str(position // 2) for position in range(len(scores))])
    assert found.value is not None
    if found.low is None or found.high is None:
        assert found.clusters == 1
    else:
        assert 0.0 <= found.low <= found.value + 1e-9
        assert found.value <= found.high + 1e-9
        assert found.high <= 1.0


@given(BINARY, st.randoms())
def test_interval_does_not_depend_on_input_order(scores: list[float], random: Any) -> None:
    rows = [(score, f"image{position // 3}", f"group{position % 2}") for position, score in enumerate(scores)]
    shuffled = list(rows)
    random.shuffle(shuffled)

    def ends(table: list[tuple[float, str, str]]) -> tuple[float | None, float | None]:
        columns = list(zip(*table, strict=True))
        found = stats.interval(list(columns[0]), clusters=list(columns[1]), strata=list(columns[2]))
        return found.low, found.high

    assert ends(shuffled) == pytest.approx(ends(rows), abs=1e-12)


def test_negative_correlation_within_images_does_not_narrow_the_interval() -> None:
    scores = [1.0, 0.0] * 30
    paired_up = stats.interval(scores, clusters=[str(position // 2) for position in range(60)])
    apart = stats.interval(scores)
    assert paired_up.low is not None
    assert apart.low is not None
    assert paired_up.low <= apart.low
    assert paired_up.deff == 1.0


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from([-1, 0, 1]), st.booleans())
def test_verdict_never_contradicts_its_direction(p_diff: float, p_tost: float, sign: int, is_enough: bool) -> None:  # noqa: FBT001 -- drawn
    verdict, direction = stats.decide(p_diff=p_diff, p_tost=p_tost, sign=sign, margin=0.02, is_enough=is_enough)
    assert (verdict == "a_better") <= (direction == "a")
    assert (verdict == "b_better") <= (direction == "b")
    assert (verdict == "undecided") <= (direction is None)


@given(BINARY, BINARY)
def test_swapping_arms_mirrors_the_comparison(a: list[float], b: list[float]) -> None:
    n = min(len(a), len(b))
    one = stats.paired_difference(a[:n], b[:n], margin=0.05)
    two = stats.paired_difference(b[:n], a[:n], margin=0.05)
    mirror = {"a_better": "b_better", "b_better": "a_better"}
    assert two.verdict == mirror.get(one.verdict, one.verdict)
    assert one.value is not None
    assert two.value == pytest.approx(-one.value)
    assert two.p_diff == pytest.approx(one.p_diff)


@given(BINARY)
def test_difference_test_agrees_with_its_printed_interval(a: list[float]) -> None:
    found = stats.paired_difference(a, a[1:] + a[:1], margin=0.05)
    assert found.low is not None
    assert found.high is not None
    assert found.p_diff is not None
    assert (found.p_diff < 0.05) == (found.low > 0 or found.high < 0)


def test_identical_arms_are_not_equivalent_on_few_samples() -> None:
    few, many = [1.0, 0.0] * 20, [1.0, 0.0] * 200
    assert stats.paired_difference(few, few, margin=0.02).verdict == "undecided"
    assert stats.paired_difference(many, many, margin=0.02).verdict == "equivalent"


@given(st.integers(0, 12), st.integers(0, 12))
def test_sign_flip_of_singletons_is_mcnemar(a_only: int, b_only: int) -> None:
    flipped, plain = stats.sign_flip([1] * a_only + [-1] * b_only), stats.mcnemar(a_only, b_only)
    assert (flipped.p_exact, flipped.p_midp) == pytest.approx((plain.p_exact, plain.p_midp), abs=1e-12)
    assert flipped.sign == plain.sign


def test_sign_flip_refuses_continuous_totals() -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        stats.sign_flip([0.5, 1])


@pytest.mark.parametrize(("a_only", "b_only", "n"), [(10, 0, 10), (0, 10, 10), (1, 0, 1), (0, 0, 1), (5, 5, 10)])
def test_tango_is_ordered_at_the_ends_of_its_range(a_only: int, b_only: int, n: int) -> None:
    low, high, at_zero = stats.tango(a_only, b_only, n)
    assert -1.0 <= low <= (a_only - b_only) / n <= high <= 1.0
    assert (at_zero > 0) == (a_only > b_only)
    assert low < high


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_raises_p_values_and_keeps_their_order(p_values: list[float]) -> None:
    adjusted = stats.holm(p_values)
    assert all(after >= before for before, after in zip(p_values, adjusted, strict=True))
    order = sorted(range(len(p_values)), key=lambda position: p_values[position])
    assert [adjusted[position] for position in order] == sorted(adjusted)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [1.0, 0.0], "clusters": ["a"]}, "1 keys for 2 values"),
        ({"values": [1.0], "strata": ["a"], "weights": {"b": 1.0}}, "weights are for"),
        ({"values": [1.0, 1.0], "strata": ["a", "b"], "weights": {"a": 0.9, "b": 0.2}}, "sum to 1"),
        ({"values": []}, "no values"),
    ],
)
def test_moments_refuse_what_does_not_fit(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stats.compute_moments(**arguments)


def test_bootstrap_gives_the_same_bits_for_the_same_seed_text() -> None:
    scores = [0.1, 0.9, 0.4, 0.7, 0.2]
    one = stats.bootstrap_mean(scores, seed="suite/track/arm", resamples=500)
    assert one == stats.bootstrap_mean(scores, seed="suite/track/arm", resamples=500)
    assert one != stats.bootstrap_mean(scores, seed="suite/track/other", resamples=500)
    assert one.flags == ("few_clusters",)


def test_a_threshold_of_one_cannot_be_passed_and_zero_cannot_fail() -> None:
    assert stats.threshold_gate([1.0] * 500, 1.0).outcome == "not enough data"
    assert stats.threshold_gate([0.0] * 5, 0.0).outcome == "pass"


def test_planned_samples_show_the_planned_difference() -> None:
    n = stats.samples_for_difference(0.05, 0.1)
    assert n == 312  # the round figure of the handbook
    shown = stats.detectable_difference(n, 0.1)
    assert shown is not None
    assert shown <= 0.05
    assert stats.detectable_difference(48, 0.04) is None
    assert stats.samples_for_difference(0.0, 0.1) is None


def test_repeats_of_one_run_know_no_rerun_noise() -> None:
    found = stats.split_repeats([[1.0], [0.0], [1.0]])
    assert (found.within, found.between, found.se_run) == (None, None, None)
    assert found.se_total == pytest.approx((1 / 3 / 3) ** 0.5)
