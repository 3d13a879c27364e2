"""Statistics against truth vectors (`vectors/statistics.jsonl`, fields described in its own lines) and by property."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from bakeoff import stats

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parent / "vectors" / "statistics.jsonl").read_text(encoding="utf-8").splitlines()
]
FIELDS = {  # our field for the vectors' name of it
    "est": "value",
    "K": "informative_clusters",
    "enough_for_equivalence": "is_enough",
    "best": "answer",
    "score": "value",
    "var_within": "within",
    "var_between": "between",
}


def _optional(case: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: case[name] for name in names if name in case}


def _floats(scores: list[Any]) -> list[Any]:
    return [float(score) if isinstance(score, str) else score for score in scores]


def _deff(case: Mapping[str, Any]) -> float:
    return stats.design_effect(case.get("cluster_sizes", [case.get("cluster_size", 1)]), case["icc"])


def _wilson(case: dict[str, Any]) -> object:
    return stats.wilson(case["k"], case["n"], confidence=case["conf"])


def _mean(case: dict[str, Any]) -> object:
    return stats.interval(case["scores"], **_optional(case, "clusters", "strata", "weights"))


def _paired(case: dict[str, Any]) -> object:
    return stats.paired_difference(
        case["a"], case["b"], margin=case["margin"], **_optional(case, "clusters", "strata", "weights")
    )


def _paired_missing(case: dict[str, Any]) -> object:
    joined = stats.join_scores(case["a"], case["b"], missing=case["missing"])
    found = stats.paired_difference(joined.a, joined.b, margin=0.05)
    return {
        "n_common": len(joined.ids),
        "n_only_a": joined.only_a,
        "n_only_b": joined.only_b,
        "a_mean": found.a_mean,
        "b_mean": found.b_mean,
        "est": found.value,
    }


def _validation(case: dict[str, Any]) -> object:
    scores = _floats(case["scores"])
    values, kept = stats.check_scores(scores, ids=case.get("ids"), missing=case["missing"])
    return {"n_used": len(kept), "n_excluded": len(scores) - len(kept), "est": stats.interval(values).value}


def _bootstrap(case: dict[str, Any]) -> object:
    found = stats.bootstrap_mean(
        case["scores"], seed="vectors", resamples=case["resamples"], **_optional(case, "clusters", "strata")
    )
    if found.low is None:
        return {"interval": None, "reason": found.flags[0]}
    return {"interval": [found.low, found.high], "se": found.se}


def _tango(case: dict[str, Any]) -> object:
    low, high, at_zero = stats.tango(case["a_only"], case["b_only"], case["n"], confidence=case["conf"])
    return {"interval": [low, high], "z_at_0": at_zero}


def _verdict(case: dict[str, Any]) -> object:
    case["is_enough"] = case.pop("enough_for_equivalence")
    return dict(zip(("verdict", "direction"), stats.decide(**case), strict=True))


def _holm(case: dict[str, Any]) -> object:
    adjusted = stats.holm(case["p"])
    return {"p_adj": adjusted, "reject": [p < case["alpha"] for p in adjusted]}


def _mde_paired_binary(case: dict[str, Any]) -> object:
    deff = _deff(case)
    return {"mde": stats.detectable_difference(case["n"], case["discordance"], deff=deff), "deff": deff}


def _mde_continuous(case: dict[str, Any]) -> object:
    deff = _deff(case)
    m_eff = stats.design_effect(case["cluster_sizes"], 1.0)
    mde = stats.detectable_difference_continuous(case["n"], case["sd_diff"], deff=deff)
    return {"mde": mde, "deff": deff, "m_eff": m_eff}


def _n_paired_binary(case: dict[str, Any]) -> object:
    deff = _deff(case)
    return {"n": stats.samples_for_difference(case["difference"], case["discordance"], deff=deff), "deff": deff}


def _n_equivalence(case: dict[str, Any]) -> object:
    deff = _deff(case)
    return {"n": stats.samples_for_equivalence(case["margin"], case["discordance"], deff=deff), "deff": deff}


def _icc(case: dict[str, Any]) -> object:
    groups = case["clusters"]
    values = [value for group in groups for value in group]
    keys = [str(position) for position, group in enumerate(groups) for _ in group]
    m = stats.compute_moments(values, clusters=keys)
    observed = m.variance / m.independent
    return {
        "icc": stats.intraclass_correlation(groups),
        "deff_observed": observed,
        "deff_used": max(observed, 1.0),
    }


def _gate_noninferiority(case: dict[str, Any]) -> object:
    return stats.non_inferiority_gate(
        case["new"], case["baseline"], case["margin"], **_optional(case, "clusters", "strata")
    )


def _gate_threshold(case: dict[str, Any]) -> object:
    scores = case["scores"] if "scores" in case else [1.0] * case["k"] + [0.0] * (case["n"] - case["k"])
    return stats.threshold_gate(
        scores, case["threshold"], confidence=case["conf"], **_optional(case, "clusters", "strata")
    )


def _gate_baseline_summary(case: dict[str, Any]) -> object:
    return stats.baseline_value_gate(
        case["k"], case["n"], case["baseline"], case["margin"], baseline_se=case["baseline_se"]
    )


def _bounds(case: dict[str, Any]) -> object:
    found = stats.bound_missing(case["valid_scores"], case["n_errored"] + case["n_truncated"])
    names = ("worst", "best", "complete_case")
    return {name: getattr(found, name) for name in names} | {"outer_interval": [found.low, found.high]}


def _bounds_paired(case: dict[str, Any]) -> object:
    found = stats.bound_difference(case["a"], case["b"])
    assert found is not None
    return {"diff_worst_for_a": found[0], "diff_best_for_a": found[1]}


RULES: dict[str, Callable[[dict[str, Any]], object]] = {
    "wilson": _wilson,
    "mean_continuous": _mean,
    "mean_clustered": _mean,
    "mean_macro": _mean,
    "validation": _validation,
    "bootstrap": _bootstrap,
    "mcnemar": lambda case: stats.mcnemar(**case),
    "signflip_cluster": lambda case: stats.sign_flip(**case),
    "tango": _tango,
    "paired": _paired,
    "paired_macro": _paired,
    "paired_missing": _paired_missing,
    "verdict": _verdict,
    "holm": _holm,
    "mde_paired_binary": _mde_paired_binary,
    "mde_continuous": _mde_continuous,
    "n_paired_binary": _n_paired_binary,
    "n_equivalence": _n_equivalence,
    "icc": _icc,
    "gate_noninferiority": _gate_noninferiority,
    "gate_threshold": _gate_threshold,
    "gate_baseline_summary": _gate_baseline_summary,
    "repeats": lambda case: stats.split_repeats(case["samples"]),
    "pass_at_k": lambda case: {"value": stats.pass_at_k(case["n"], case["c"], case["k"])},
    "bounds": _bounds,
    "bounds_paired": _bounds_paired,
    "constant_baseline": lambda case: stats.constant_baseline(case["gold"], case["options"], groups=case.get("groups")),
}


def _field(result: object, name: str) -> object:
    """Read a field of the vectors from a mapping or one of our structs."""
    if isinstance(result, Mapping):
        return result[name]
    if name in {"interval", "interval_diff"}:
        low, high = getattr(result, "low"), getattr(result, "high")  # noqa: B009 -- mypy knows no such attribute
        return None if low is None else [low, high]
    return getattr(result, FIELDS.get(name, name))


def _agrees(found: object, expected: object, tolerance: float) -> bool:
    if isinstance(expected, list):
        assert isinstance(found, list | tuple)
        return len(found) == len(expected) and all(
            _agrees(x, y, tolerance) for x, y in zip(found, expected, strict=True)
        )
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        # The contract writes an outcome with blanks.
        return found == (expected.replace("_", " ") if expected == "not_enough_data" else expected)
    assert isinstance(expected, int | float)
    assert isinstance(found, int | float)
    return abs(found - expected) <= tolerance + 5e-13  # expected values carry twelve digits


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["id"]))
def test_agrees_with_truth_vector(vector: dict[str, Any]) -> None:
    expected = dict(vector["expected"])
    if "refused" in expected:
        words = {"k_out_of_range": "out of range", "score_out_of_range": "out of range"}
        with pytest.raises(ValueError, match=words.get(expected["refused"], expected["refused"].replace("_", " "))):
            RULES[vector["type"]](vector["input"])
        return
    result = RULES[vector["type"]](vector["input"])
    if expected.get("method") == "wilson_kish":
        del expected["df"]  # informative in the vectors: the quantile is the normal one
    for name, value in expected.items():
        tolerance = vector["tol"][name] if isinstance(vector["tol"], dict) else vector["tol"]
        assert _agrees(_field(result, name), value, tolerance), (name, _field(result, name), value)


BINARY = st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=40)
SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


def test_no_scores_have_no_value_rather_than_zero() -> None:
    found = stats.interval([])
    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)


@pytest.mark.parametrize(("score", "side"), [(1.0, "high"), (0.0, "low")])
def test_end_of_interval_is_exact_when_all_scores_agree_at_the_edge(score: float, side: str) -> None:
    weights = {"a": 0.1, "b": 0.2, "c": 0.7}  # a sum that rounds
    found = stats.interval([score] * 12, strata=list("abc" * 4), clusters=list("gghhiijjkkll"), weights=weights)
    assert getattr(found, side) == score


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
    with pytest.raises(TypeError, match="whole numbers"):
        stats.sign_flip([0.5, 1])  # type: ignore[list-item]  # the mistake under test


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


def test_repeats_of_one_run_know_no_rerun_noise() -> None:
    found = stats.split_repeats([[1.0], [0.0], [1.0]])
    assert (found.within, found.between, found.se_run) == (None, None, None)
    assert found.se_total == pytest.approx((1 / 3 / 3) ** 0.5)
