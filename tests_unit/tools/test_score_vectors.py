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
