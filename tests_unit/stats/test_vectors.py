"""Statistics against truth vectors (`vectors/statistics.jsonl`, fields described in its own lines)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.stat_vectors import RULES, mismatches, read_vectors

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests_unit" / "vectors" / "statistics.jsonl"
VECTORS = read_vectors(FILE)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["id"]))
def test_agrees_with_truth_vector(vector: dict[str, Any]) -> None:
    assert list(mismatches(vector)) == []


def test_every_kind_of_vector_has_a_rule_and_every_rule_a_vector() -> None:
    assert {vector["type"] for vector in VECTORS} == RULES.keys()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"expected": {"est": 0.5, "interval": None}}, "est: expected 0.5, found None"),
        ({"expected": {"refused": "missing"}}, "expected a refusal (missing)"),
        ({"input": {"k": 3, "n": 2, "conf": 0.95}}, "refused with:"),
        ({"type": "astrology"}, "no rule for vectors of type 'astrology'"),
        ({"expected": {"interval": [0.0, 1.0]}}, "interval: expected [0.0, 1.0], found None"),
    ],
)
def test_a_mismatch_is_told(change: dict[str, Any], says: str) -> None:
    assert any(says in line for line in mismatches({**VECTORS[0], **change}))


def vectors_tool(*files: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "tools.stat_vectors", *map(str, files)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_tool_exits_with_0_where_all_agree_and_with_1_on_a_mismatch(tmp_path: Path) -> None:
    good, bad, empty = (tmp_path / name for name in ("good.jsonl", "bad.jsonl", "empty.jsonl"))
    good.write_text("".join(json.dumps(vector) + "\n" for vector in VECTORS[:3]), "utf-8")
    wrong = {**VECTORS[1], "expected": {**VECTORS[1]["expected"], "est": 0.25}}
    bad.write_text(json.dumps(wrong) + "\n", "utf-8")
    empty.write_text("", "utf-8")
    done = vectors_tool(good)
    assert (done.returncode, done.stdout) == (0, "3 of 3 vectors agree\n")
    done = vectors_tool(good, bad)
    assert done.returncode == 1
    assert f"{bad}: {wrong['id']}: est: expected 0.25" in done.stdout
    assert "3 of 4 vectors agree" in done.stdout
    assert vectors_tool(empty).returncode == 1
