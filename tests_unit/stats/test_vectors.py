"""Statistics against truth vectors (`vectors/statistics.jsonl`, fields described in its own lines)."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bakeoff import stats

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "vectors" / "statistics.jsonl").read_text(encoding="utf-8").splitlines()
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
