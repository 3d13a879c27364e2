"""Holds `bakeoff.stats` against truth vectors: `python -m tools.stat_vectors FILE...`, exit code 1 on a mismatch.

A vector is a line of JSON: id, type, input, expected, tol, how, tags. `tol` is absolute, 0 is exact, a mapping is per
field; `refused` in `expected` means that an error with that meaning is raised.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bakeoff import stats

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
    if found is None:
        raise ValueError("no pairs")
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
        if not isinstance(found, list | tuple) or len(found) != len(expected):
            return False
        return all(_agrees(x, y, tolerance) for x, y in zip(found, expected, strict=True))
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        # The contract writes an outcome with blanks.
        return found == (expected.replace("_", " ") if expected == "not_enough_data" else expected)
    if not isinstance(expected, int | float) or not isinstance(found, int | float):
        return False
    return abs(found - expected) <= tolerance + 5e-13  # expected values carry twelve digits


_REFUSALS = {"k_out_of_range": "out of range", "score_out_of_range": "out of range"}
_INFORMATIVE = {"wilson_kish": ("df",)}
"""Fields that a vector gives for information only, by method: there the quantile is the normal one."""


def read_vectors(path: Path) -> list[dict[str, Any]]:
    """Read a file of vectors."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def mismatches(vector: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is not as a vector expects, one line each; nothing when all of it is."""
    rule = RULES.get(vector["type"])
    if rule is None:
        yield f"no rule for vectors of type {vector['type']!r}"
        return
    expected = dict(vector["expected"])
    refused = expected.get("refused")
    try:
        result = rule(dict(vector["input"]))
    except ValueError as error:
        if refused is None or _REFUSALS.get(refused, refused.replace("_", " ")) not in str(error):
            yield f"expected {refused or expected}, refused with: {error}"
        return
    if refused is not None:
        yield f"expected a refusal ({refused}), found {result}"
        return
    for name in _INFORMATIVE.get(str(expected.get("method")), ()):
        expected.pop(name, None)
    for name, value in expected.items():
        tolerance = vector["tol"][name] if isinstance(vector["tol"], dict) else vector["tol"]
        found = _field(result, name)
        if not _agrees(found, value, tolerance):
            yield f"{name}: expected {value}, found {found}"


def main() -> int:
    """Check the files named on the command line; print every mismatch and a line of sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="vectors, one JSON object a line")
    wrong = checked = 0
    for path in parser.parse_args().files:
        for vector in read_vectors(path):
            checked += 1
            found = list(mismatches(vector))
            wrong += bool(found)
            for line in found:
                print(f"{path}: {vector['id']}: {line}")
    print(f"{checked - wrong} of {checked} vectors agree")
    return 1 if wrong or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
