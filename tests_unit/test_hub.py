"""Downloads through the real client against a hub of our own; the endpoint is read at import, hence the processes."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bakeoff.errors import UsageProblem
from bakeoff.hub import file_sha256, gguf_files, weights_sha256
from bakeoff.models import resolve
from tests_unit.doubles.hub import COMMIT, hub

Ask = Callable[[str, str], dict[str, Any]]

CODE = """
import json, sys
from bakeoff.errors import UsageProblem
from bakeoff.hub import gguf_files, model_folder
from bakeoff.models import resolve
try:
    spec = resolve(sys.argv[2])
    if sys.argv[1] == "gguf":
        found = gguf_files(spec)
        print(json.dumps({"weights": found.weights.name, "projector": found.projector and found.projector.name,
                          "revision": found.revision, "text": found.weights.read_text()}))
    else:
        folder, revision = model_folder(spec)
        print(json.dumps({"files": sorted(p.name for p in folder.iterdir()), "revision": revision}))
except UsageProblem as problem:
    print(json.dumps({"problem": str(problem)}))
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "hub"
    for repository, names in {
        "org/One-GGUF": ["One-Q8_0.gguf", "One-Q4_0.gguf", "mmproj-One-F16.gguf"],
        "org/Two-GGUF": ["Two-Q8_0.gguf", "Two-Q4_0.gguf", "mmproj-Two-Q8_0.gguf", "mmproj-Two-F16.gguf"],
        "org/Bare-GGUF": ["Bare-Q8_0.gguf"],
        "org/Model": ["config.json", "model.safetensors"],
    }.items():
        for name in names:
            file = place / repository / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{repository}/{name}", "utf-8")
    return place


@pytest.fixture
def ask(root: Path, tmp_path: Path) -> Iterator[Ask]:
    with hub(root) as endpoint:

        def run(kind: str, name: str) -> dict[str, Any]:
            cleared = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
            environment = {**cleared, "HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "home")}
            done = subprocess.run(
                [sys.executable, "-c", CODE, kind, name], env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            return dict(json.loads(done.stdout.strip().splitlines()[-1]))

        yield run


def test_a_quantisation_takes_its_own_file_and_the_only_projector(ask: Ask) -> None:
    found = ask("gguf", "gguf:org/One-GGUF:q4_0")
    assert found == {
        "weights": "One-Q4_0.gguf",
        "projector": "mmproj-One-F16.gguf",
        "revision": COMMIT,
        "text": "org/One-GGUF/One-Q4_0.gguf",
    }


def test_of_several_projectors_the_one_of_the_same_quantisation_is_taken(ask: Ask) -> None:
    assert ask("gguf", "gguf:org/Two-GGUF:Q8_0")["projector"] == "mmproj-Two-Q8_0.gguf"


def test_several_projectors_of_which_none_fits_are_not_guessed_at(ask: Ask) -> None:
    assert "has several projectors" in ask("gguf", "gguf:org/Two-GGUF:Q4_0")["problem"]


def test_a_repository_without_projector_has_none(ask: Ask) -> None:
    assert ask("gguf", "gguf:org/Bare-GGUF:Q8_0")["projector"] is None


def test_a_quantisation_that_is_not_there_lists_those_that_are(ask: Ask) -> None:
    problem = ask("gguf", "gguf:org/One-GGUF:Q6_K")["problem"]
    assert "One-Q4_0.gguf, One-Q8_0.gguf" in problem


@pytest.mark.parametrize("name", ["gguf:org/None-GGUF:Q8_0", "gguf:org/One-GGUF:Q8_0@gone"])
def test_what_the_hub_does_not_have_is_a_usage_problem(ask: Ask, name: str) -> None:
    problem = ask("gguf", name)["problem"]
    assert "cannot be read from the hub" in problem
    assert "HF_TOKEN" in problem


def test_a_folder_of_the_hub_comes_with_its_commit(ask: Ask) -> None:
    assert ask("mlx", "org/Model") == {"files": ["config.json", "model.safetensors"], "revision": COMMIT}


def test_a_file_that_is_missing_on_disk_is_named(tmp_path: Path) -> None:
    weights = tmp_path / "w.gguf"
    weights.write_bytes(b"x")
    with pytest.raises(UsageProblem, match=r"the projector file .*absent\.gguf does not exist"):
        gguf_files(resolve(f"{weights},mmproj={tmp_path}/absent.gguf"))


def test_hashes_follow_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAKEOFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("bakeoff.hub._WORTH_CACHING_BYTES", 0)
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"content")
    two.write_bytes(b"other")
    before = file_sha256(one)
    assert file_sha256(one) == before
    assert (tmp_path / "cache" / "sha256.json").is_file()
    assert weights_sha256([one, two]) != weights_sha256([two, one])
    one.write_bytes(b"changed content")
    assert file_sha256(one) != before


def test_a_spoiled_cache_of_hashes_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAKEOFF_CACHE", str(tmp_path))
    (tmp_path / "sha256.json").write_text("{broken", "utf-8")
    file = tmp_path / "w"
    file.write_bytes(b"content")
    assert len(file_sha256(file)) == 64
