"""How large dataset files are is read from the hub's list of files; nothing of their contents is fetched."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from bakeoff.prepare.link import Link
from bakeoff.prepare.sizes import Sizes, file_bytes, sizes_of
from bakeoff.tracks import TRACKS
from tests_unit.doubles.data_hub import data_hub
from tests_unit.prepare.real_schemas import write_datasets


@pytest.fixture
def root(tmp_path: Path) -> Path:
    source = TRACKS["gsm8k"].source
    assert source is not None
    write_datasets(tmp_path, source.splits)
    return tmp_path


def test_the_files_of_the_splits_are_counted_and_not_fetched(root: Path) -> None:
    source = TRACKS["gsm8k"].source
    assert source is not None
    wanted = {split.split for split in source.splits}
    files = [file for file in root.rglob("*.parquet") if file.name.partition("-")[0] in wanted]
    with data_hub(root) as hub:
        found = file_bytes(source, Link(endpoint=hub.endpoint))
        assert found == sum(file.stat().st_size for file in files) > 0
        assert not [request for request in hub.requests if ".parquet" in request]


def test_a_track_whose_dataset_is_not_there_keeps_no_other_from_its_size(root: Path) -> None:
    with data_hub(root) as hub:
        found = sizes_of(("docvqa", "gsm8k", "calibration", "nothing"), Link(endpoint=hub.endpoint))
    assert set(found.known) == {"gsm8k"}
    assert set(found.problems) == {"docvqa"}
    assert "DocVQA" in found.problems["docvqa"]


def test_the_program_says_that_a_hub_out_of_reach_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    done = subprocess.run(
        [sys.executable, "-m", "bakeoff.prepare.sizes", "gsm8k"], capture_output=True, check=True, text=True
    )
    found = msgspec.json.decode(done.stdout, type=Sizes)
    assert found.known == {}
    assert "127.0.0.1:9" in found.problems["gsm8k"]
