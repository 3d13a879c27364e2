"""Every rule against truth vectors: defaults and officials, adversarial outputs, wrong ones included.

`vectors/scorers.jsonl` holds one row per output, gold and rule. The official rows were made by running the authors'
code; the default rows were set by hand from the written rule. Aggregates are tested in `test_metrics`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from bakeoff.records import BoxTarget, NumberTarget, OptionTarget, TextTarget
from bakeoff.scorers import SCORERS, Scorer, with_frame
from tools.vector_rules import FRAMED, RULES

Expected = dict[str, Any]

VECTORS = [
    row
    for line in (Path(__file__).parents[1] / "vectors" / "scorers.jsonl").read_text(encoding="utf-8").splitlines()
    if not (row := json.loads(line))["scorer"].startswith("aggregate.")
]


def _scorer(rule: str, expected: Expected) -> Scorer:
    name = RULES[rule][0]
    return with_frame(name, expected["coord_space"]) if name in FRAMED else SCORERS[name]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["id"]))
def test_agrees_with_truth_vector(vector: dict[str, Any]) -> None:
    rule, expected = vector["scorer"], vector["expected"]
    found = _scorer(rule, expected).score(vector["output"], RULES[rule][1](expected))
    assert found.value == pytest.approx(vector["score"], abs=1e-6), vector["why"]
    if "iou" in vector:
        assert found.metrics["iou"] == pytest.approx(vector["iou"], abs=1e-6)
    if "expected_score_with_random" in vector:
        assert found.metrics["expected_with_guess"] == pytest.approx(vector["expected_score_with_random"], abs=1e-6)
        assert found.metrics["guess"] == vector["random_fallback"]
    if "normalized" in vector:
        assert str(found.answer) == str(vector["normalized"])
    if "parsed" in vector:
        parsed = vector["parsed"]
        letter = None if parsed is None or parsed.startswith("(Z)") else parsed.strip("()")
        assert found.answer == letter


# Without its language model, MathVista's official rule reads neither letters nor lists.
READABLE = [vector for vector in VECTORS if vector["scorer"] != "mathvista_raw.official_no_llm"]


@pytest.mark.parametrize("vector", READABLE, ids=lambda vector: str(vector["id"]))
def test_gold_as_output_scores_one(vector: dict[str, Any]) -> None:
    rule, expected = vector["scorer"], vector["expected"]
    target = RULES[rule][1](expected)
    if isinstance(target, BoxTarget):
        # The SeeClick rule has its own form: fractions without any word.
        gold = json.dumps(expected["gold_xyxy_norm"])
        scorer = SCORERS[RULES[rule][0]]
    else:
        gold = {
            OptionTarget: lambda t: t.letter,
            NumberTarget: lambda t: t.value,
            TextTarget: lambda t: t.answers[0],
        }[type(target)](target)
        scorer = _scorer(rule, expected)
    assert scorer.score(gold, target).value == 1.0


def test_every_default_scores_nothing_for_an_empty_output() -> None:
    # The official rules credit some empty outputs; that is what the defaults are for.
    for vector in VECTORS:
        if not vector["scorer"].split(".")[1].startswith("default") or vector["expected"].get("answers") == [""]:
            continue
        found = _scorer(vector["scorer"], vector["expected"]).score("", RULES[vector["scorer"]][1](vector["expected"]))
        assert (found.value, found.answer) == (0.0, None), vector["id"]
