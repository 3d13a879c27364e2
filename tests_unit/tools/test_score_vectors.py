"""`python -m tools.score_vectors`: every vector holds, and a row that does not is told with its reason."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tools.bench.__main__ import main as bench
from tools.score_vectors import main

VECTORS = Path(__file__).parents[1] / "vectors" / "scorers.jsonl"
GOOD: dict[str, Any] = {
    "id": "g",
    "scorer": "anls.default",
    "output": "ITC",
    "expected": {"answers": ["itc"]},
    "score": 1.0,
    "why": "case is folded",
}


def score(tmp_path: Path, capsys: pytest.CaptureFixture[str], *rows: Any) -> tuple[int, str]:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), "utf-8")
    code = main([str(file)])
    return code, capsys.readouterr().out


def test_all_vectors_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(VECTORS)]) == 0
    assert re.fullmatch(r"(\d+) of \1 rows agree\n", capsys.readouterr().out)


def test_mismatch_is_told_with_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = score(tmp_path, capsys, GOOD, {**GOOD, "id": "bad", "score": 0.25})
    assert code == 1
    assert "bad [anls.default]: score is 1, expected 0.25; read 'ITC' in 'ITC'" in said
    assert "why: case is folded" in said
    assert "1 of 2 rows agree, 1 differ" in said


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**GOOD, "scorer": "anls.other"}, "no rule is called 'anls.other'"),
        ({**GOOD, "expected": {}}, "the row cannot be scored: KeyError"),
        ("{", "not JSON"),
        ("[1]", "not an object"),
        (
            {**GOOD, "scorer": "aggregate.micro", "expected": {"items": [["a", 1], ["a", 0]]}},
            "average is 0.5, expected 1",
        ),
    ],
)
def test_row_that_cannot_be_right_is_told(
    row: Any, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = score(tmp_path, capsys, row)
    assert code == 1
    assert reason in said


@pytest.mark.parametrize(
    "row",
    [
        {"output": None, "expected": {"answers": [""]}},
        {"expected": {"answers": [""]}},
        {"output": "itc", "expected": {"answers": "ITC"}},
        {"output": "itc", "expected": {"answers": None, "answer": "ITC"}},
        {"output": "12", "expected": {"answers": [12, "a dozen"]}},
        {"scorer": "anls.official", "output": "abcz", "expected": {"answers": ["abxy"], "threshold": 0.75}, "score": 0},
        {"output": "abcz", "expected": {"answers": ["abcy"], "threshold": None}, "score": 0.75},
        {
            "scorer": "mathvista_extraction.official",
            "output": "1.24",
            "expected": {"question_type": "free_form", "answer_type": "float", "answer": "1.2", "precision": 1.0},
            "normalized": "1.2",
        },
        {
            # An integer stays one whatever stands under precision.
            "scorer": "mathvista_extraction.official",
            "output": "7.9",
            "expected": {"question_type": "free_form", "answer_type": "integer", "answer": "7", "precision": 2.0},
            "normalized": "7",
        },
        {
            "scorer": "mathvista_raw.official_no_llm",
            "output": "cat",
            "expected": {
                "question_type": "multi_choice",
                "answer_type": "text",
                "answer": "cat",
                "choices": ["cat", "dog", "cat"],
                "unit": None,
                "precision": None,
            },
        },
        {
            "scorer": "mmmu_mc.official",
            "output": "cat",
            "expected": {"options": ["cat", "dog"], "choices": None, "answer": "(A)", "explanation": "more fields"},
            "score": 0,
            "parsed": None,
            "random_fallback": True,
            "expected_score_with_random": 0.5,
        },
        {"scorer": "mmmu_open.official", "output": "so 5", "expected": {"answer": 5}},
        {"scorer": "blink.default", "output": "B", "expected": {"choices": ["cat", "dog"], "answer": "B"}},
        {
            "scorer": "screenspot.seeclick_official",
            "output": "(0.5, 0.5)",
            "expected": {"gold_xywh_px": [40, 40, 20, 20], "image_size": [100, 100]},
        },
        {
            "scorer": "refcoco.vlmevalkit_acc50",
            "output": "[1, 1]",
            "expected": {"gold_xyxy_norm": [0, 0, 1, 1], "image_size": None, "coord_space": "norm1000"},
            "score": False,
            "iou": None,
        },
        {"scorer": "aggregate.platform_macro", "expected": {"items": [[1, True], [2, False]]}, "score": 0.5},
        {"scorer": "aggregate.micro", "expected": {"items": []}, "score": None},
        {"scorer": "aggregate.mmmu_official", "expected": {"items": []}, "score": 0},
    ],
    ids=str,
)
def test_row_may_lack_what_its_rule_does_not_need(
    row: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = {"id": "r", "scorer": "anls.default", "score": 1.0, "note": "a field that nobody knows"}
    code, said = score(tmp_path, capsys, {**plain, **row})
    assert (code, said) == (0, "1 of 1 rows agree\n")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"output": 5}, "cannot be scored"),
        ({"score": None}, "cannot be scored"),
        ({"expected": None}, "cannot be scored"),
        ({"scorer": ["anls.default"]}, "cannot be scored"),
        ({"scorer": "mmmu_mc.default", "expected": {"answer": "A", "options": None}}, "options or choices"),
        ({"scorer": "mmmu_mc.default", "expected": {"answer": "A", "options": "['a', 'b']"}}, "options or choices"),
        ({"scorer": "mmmu_mc.default", "expected": {"answer": ["A"], "options": ["a", "b"]}}, "cannot be scored"),
        (
            {"scorer": "screenspot.default", "expected": {"gold_xyxy_norm": [0, 0, 1, 1], "coord_space": "norm100"}},
            "no frame is called 'norm100'",
        ),
        (
            {
                "scorer": "mathvista_raw.default",
                "expected": {"question_type": "free_form", "answer_type": "float", "answer": "1.2", "precision": None},
            },
            "precision",
        ),
        (
            {
                "scorer": "mathvista_raw.default",
                "expected": {"question_type": "free_form", "answer_type": "text", "answer": "cat"},
            },
            "no answer type is called 'text'",
        ),
        (
            {
                "scorer": "mmmu_mc.official",
                "output": "A",
                "expected": {"options": ["a", "b"], "answer": "A"},
                "random_fallback": True,
            },
            "guess is 0, expected 1",
        ),
    ],
    ids=str,
)
def test_row_that_its_rule_cannot_read_is_told_and_ends_nothing(
    change: dict[str, Any], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = score(tmp_path, capsys, {**GOOD, **change}, GOOD)
    assert code == 1
    assert reason in said
    assert "1 of 2 rows agree, 1 differ" in said


def test_file_may_begin_with_a_byte_order_mark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(tmp_path, capsys, "\ufeff" + json.dumps(GOOD))[0] == 0


def test_averages_over_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = [["web/text", 1], ["web/icon", 0], ["web/icon", 0], ["mobile/text", 1]]
    means = {"aggregate.micro": 0.5, "aggregate.platform_macro": 2 / 3, "aggregate.six_cell_macro": 2 / 3}
    rows = [{"id": name, "scorer": name, "score": mean, "expected": {"items": items}} for name, mean in means.items()]
    assert score(tmp_path, capsys, *rows)[0] == 0


def test_no_file_and_an_absent_file_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert main(["/nowhere.jsonl"]) == 2
    assert "usage" in capsys.readouterr().err


def test_file_without_rows_proves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(tmp_path, capsys)[0] == 1


def test_benchmark_that_does_not_exist_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench(["nothing"]) == 2
    assert "there are: overhead" in capsys.readouterr().err
