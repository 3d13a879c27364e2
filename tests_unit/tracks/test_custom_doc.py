"""docs/custom-cases.md: every snippet runs, and every output in its tables scores what it says."""

import functools
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from bakeoff.records import Sample
from bakeoff.tracks import TRACKS, samples_of
from bakeoff.tracks.baselines import answered, oracle_output
from bakeoff.tracks.cases import SCORER_NAMES, read_file
from tests_unit.tracks.tables import DOCS, as_output, cells, rows

TEXT = (DOCS / "custom-cases.md").read_text("utf-8")
SECTION = re.compile(r"^### `(\w+)`\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```json\n(.*?)^```", re.MULTILINE | re.DOTALL)
SECTIONS = dict(SECTION.findall(TEXT))


@functools.cache
def picture() -> bytes:
    file = io.BytesIO()
    Image.new("1", (1920, 1080)).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Sample]:
    """Return the samples of all snippets, written and loaded as a user would."""
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path))
    (tmp_path / "tasks").mkdir()
    (tmp_path / "images" / "custom").mkdir(parents=True)
    for number, block in enumerate(BLOCK.findall(TEXT)):
        (tmp_path / "tasks" / f"{number}.json").write_text(block, "utf-8")
        for name in set(re.findall(r"custom/\w+\.png", block)):
            (tmp_path / "images" / name).write_bytes(picture())
    return {sample.id: sample for sample in samples_of(TRACKS["custom"])}


def said(section: str) -> Iterator[tuple[str, str, float]]:
    """Return case, output and score of the rows of a section's table."""
    items: Any = json.loads(BLOCK.findall(section)[0])
    lines = iter(section.splitlines())
    for line in lines:
        if line.startswith("|"):
            header = cells(line)
            next(lines)
            for found in rows(lines):
                case = found[0] if header[0] == "case" else items["id"]
                yield case, as_output(found[-2]), float(found[-1])


def test_there_is_a_snippet_for_every_scorer() -> None:
    assert sorted(SECTIONS) == sorted(SCORER_NAMES)


@pytest.mark.parametrize("scorer", SECTIONS)
def test_outputs_score_as_the_guide_says(scorer: str, prepared: dict[str, Sample]) -> None:
    protocol = TRACKS["custom"].protocol(None)
    found = list(said(SECTIONS[scorer]))
    assert {score for *_, score in found} >= {0.0, 1.0}
    for case, output, score in found:
        sample = prepared[case]
        assert sample.groups["scorer"].partition("@")[0] == scorer
        assert answered(sample, protocol, output).score == pytest.approx(score, abs=5e-5), output


def test_the_gold_of_every_snippet_scores_one(prepared: dict[str, Sample]) -> None:
    protocol = TRACKS["custom"].protocol(None)
    for sample in prepared.values():
        assert answered(sample, protocol, oracle_output(sample, protocol)).score == 1.0


def test_python_snippets_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "custom-cases.md", "exec"), {})  # noqa: S102 -- the project's own document


def test_the_example_of_a_refusal_is_what_is_said(tmp_path: Path) -> None:
    (shown,) = re.findall(r"^data/tasks/my_cases\.json, (item 3, .*)$", TEXT, re.MULTILINE)
    good = json.loads(BLOCK.findall(SECTIONS["bbox_iou"])[0])
    bad = {**good, "expected": {"bbox": [40, 220, 960]}}
    file = tmp_path / "my_cases.json"
    file.write_text(json.dumps([good, good, good, bad]), "utf-8")
    with pytest.raises(Exception, match=re.escape(shown)):
        read_file(file)
