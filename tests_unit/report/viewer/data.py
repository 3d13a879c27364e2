"""Reads the viewer's data files back as a browser would, and makes the toy track one that can render its prompts."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.records import Prompt, Record, Sample
from bakeoff.scorers import SCORERS
from bakeoff.tracks import TRACKS, Protocol, images_then_text
from tests_unit.report.synthetic import TRACK


def read_data(path: Path) -> Any:
    """Return the JSON that a data file hands to the page."""
    found = re.fullmatch(r"bakeoffSamples\((.*)\);\n", path.read_text("ascii"))
    assert found is not None
    return json.loads(found.group(1))


def items_of(folder: Path) -> list[Any]:
    """Return the details of all samples of a track's folder, in the order of its index."""
    return [item for path in sorted(folder.glob("page-*.js")) for item in read_data(path)["items"]]


def with_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the toy track a protocol, so that its prompts can be shown."""
    protocol = Protocol(name="default", render=images_then_text, max_tokens=64, scorer=lambda _: SCORERS["exact"])
    monkeypatch.setitem(TRACKS, TRACK, msgspec.structs.replace(TRACKS[TRACK], protocols=(protocol,)))


def asked(record: Record, sample: Sample) -> Record:
    """Return `record` with the hash of what the toy track's protocol asks."""
    prompt = Prompt(sample_id=sample.id, messages=images_then_text(sample), max_tokens=64, seed=0)
    return msgspec.structs.replace(record, prompt_sha256=prompt.sha256)
