"""docs/scoring.md says what is true: its rows of vectors, its items of the reference system, its baselines."""

import functools
import json
import math
from pathlib import Path

import pytest

from bakeoff.records import Sample
from bakeoff.tracks import TRACKS, custom
from bakeoff.tracks.baselines import answered
from bakeoff.tracks.cases import read_cases
from tests_unit.tracks.reference import FOLDER, needs_reference
from tests_unit.tracks.tables import DOCS, as_output, table
from tools.score_vectors import differences
from tools.vector_rules import RULES

TEXT = (DOCS / "scoring.md").read_text("utf-8")
VECTORS = Path(__file__).parents[1] / "vectors" / "scorers.jsonl"
SHOWN = table(TEXT, "vector", "gold", "output", "here", "official", "lmms-eval", "VLMEvalKit", "reference")
ITEMS = table(TEXT, "item", "output", "reference", "here", "why")
PEERS = {5: "lmms-eval", 6: "VLMEvalKit", 7: "vlm-bakeoff"}


def test_every_track_and_default_scorer_is_in_the_table() -> None:
    for name in TRACKS:
        assert name == "calibration" or f"`{name}`" in TEXT
    for scorer, _ in RULES.values():
        assert f"`{scorer}`" in TEXT or scorer == "mathvista_extraction_official"


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: str(shown[0]))
def test_vector_scores_as_the_document_says(shown: list[str]) -> None:
    every = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]
    vectors = [vector for vector in every if vector["pair"] == shown[0]]
    for vector in vectors:
        assert vector["output"] == as_output(shown[2])
        assert differences(vector) == []
        is_default = ".default" in vector["scorer"]
        if not vector["scorer"].endswith("center"):
            assert float(shown[3 if is_default else 4]) == pytest.approx(vector["score"], abs=5e-4)
        for column, peer in PEERS.items():
            said = [value for name, value in vector.get("peers", {}).items() if peer in name]
            if said and shown[column] != "–":
                assert float(shown[column]) == pytest.approx(said[0], abs=5e-4)


@needs_reference
@pytest.mark.parametrize("shown", ITEMS, ids=lambda shown: f"{shown[0]}-{shown[1][:12]}")
def test_item_scores_as_the_document_says(shown: list[str]) -> None:
    item, output, theirs, ours, _ = shown
    record = answered(reference_samples()[item], TRACKS["custom"].protocol(None), as_output(output))
    assert record.score == pytest.approx(float(ours), abs=5e-5)
    assert not math.isclose(float(theirs), float(ours))


@functools.cache
def reference_samples() -> dict[str, Sample]:
    return {case.id: custom.sample_of(case, ()) for case in read_cases(FOLDER)}
