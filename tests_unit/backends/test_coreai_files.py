"""Where Core AI runs, which files a model is made of, and what its files say of its sizes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture

from bakeoff.backends import availability, open_backend
from bakeoff.backends.backend import Settings
from bakeoff.backends.coreai.files import DECODER, TEXTS, TEXTS_REVISION, VISION, find_files, texts_sha256
from bakeoff.backends.coreai.pictures import patches_of
from bakeoff.backends.coreai.shape import read_norms, read_shape
from bakeoff.errors import UsageProblem
from bakeoff.models import resolve
from tests_unit.backends.coreai_cases import CHECKPOINT
from tests_unit.doubles import coreai_runtime
from tests_unit.doubles.hub import COMMIT, hub

CODE = """
import json, sys, msgspec
from bakeoff.backends.coreai import files
from bakeoff.backends.coreai.files import find_files
from bakeoff.errors import UsageProblem
from bakeoff.models import resolve
files.TEXTS_REVISION = sys.argv[1]  # the hub of the tests has one commit
try:
    found = find_files(msgspec.structs.replace(resolve("coreai"), revision=sys.argv[1]))
    print(json.dumps({"vision": str(found.vision), "decoder": str(found.decoder), "revision": found.revision,
        "texts": sorted(p.name for p in found.texts.iterdir()), "texts_revision": found.texts_revision}))
except UsageProblem as problem:
    print(json.dumps({"problem": str(problem)}))
"""


def test_other_machines_are_told_why_not() -> None:
    assert availability("coreai") == "Core AI needs macOS 27 or later; this is Linux"


def test_an_older_macos_is_told_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.mac_ver", lambda: ("26.6", ("", "", ""), "arm64"))
    assert availability("coreai") == "Core AI needs macOS 27 or later; this is macOS 26.6"


def test_a_macos_without_the_package_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.mac_ver", lambda: ("27.0", ("", "", ""), "arm64"))
    assert "coreai-core is not installed" in str(availability("coreai"))
    coreai_runtime.install(monkeypatch)
    assert availability("coreai") is None


def test_opening_it_elsewhere_is_a_usage_problem(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="needs macOS 27"):
        open_backend(resolve("coreai"), Settings(context_tokens=256, log_path=tmp_path / "log"))


def fetched(tmp_path: Path, repositories: dict[str, list[str]]) -> dict[str, Any]:
    for repository, names in repositories.items():
        for name in names:
            file = tmp_path / "hub" / repository / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(name, "utf-8")
    with hub(tmp_path / "hub") as endpoint:
        cleared = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
        own = {"HF_ENDPOINT": endpoint, "HF_HOME": str(tmp_path / "home"), "BAKEOFF_CACHE": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", CODE, COMMIT], env={**cleared, **own}, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


BUNDLES = [f"{VISION}/main.mlirb", f"{DECODER}/main.mlirb", "gpu-pipelined/other/other.aimodel/main.mlirb"]
TEXT = ["config.json", "tokenizer.json", "chat_template.jinja", "model.safetensors", "model.safetensors.index.json"]


def test_the_hub_gives_both_bundles_and_the_texts_and_nothing_else(tmp_path: Path) -> None:
    found = fetched(tmp_path, {"mlboydaisuke/LFM2.5-VL-3B-CoreAI": BUNDLES, TEXTS: TEXT})
    assert found["vision"].endswith(VISION)
    assert found["decoder"].endswith(DECODER)
    assert found["texts"] == ["chat_template.jinja", "config.json", "tokenizer.json"]
    assert found["texts_revision"] == COMMIT
    assert not list(tmp_path.glob("home/**/other.aimodel"))
    assert resolve("coreai").revision == "aa121aa373554c65f2c4b7ae8062bfeb803211cf"
    assert len(TEXTS_REVISION) == 40


def test_an_export_of_ones_own_that_takes_chunks_replaces_the_decoder(tmp_path: Path) -> None:
    stem = f"{Path(DECODER).stem}_chunked"
    own = tmp_path / "cache" / "coreai" / "exports" / stem / f"{stem}.aimodel"
    own.mkdir(parents=True)
    found = fetched(tmp_path, {"mlboydaisuke/LFM2.5-VL-3B-CoreAI": BUNDLES, TEXTS: TEXT})
    assert found["decoder"] == str(own)


def test_a_revision_without_the_bundles_is_told(tmp_path: Path) -> None:
    found = fetched(tmp_path, {"mlboydaisuke/LFM2.5-VL-3B-CoreAI": BUNDLES[2:], TEXTS: TEXT})
    assert "has no gpu-pipelined/lfm2_5_vl_3b_vision_fp16" in found["problem"]


def test_a_folder_needs_one_bundle_of_each_function(tmp_path: Path) -> None:
    (tmp_path / "my_vision.aimodel").mkdir()
    with pytest.raises(UsageProblem, match=r"'decode' in its name; it has: my_vision\.aimodel"):
        find_files(resolve(f"coreai:{tmp_path}"))


def test_the_texts_are_hashed_by_file() -> None:
    assert set(texts_sha256(CHECKPOINT)) == {
        path.name for path in CHECKPOINT.iterdir() if path.suffix != ".safetensors"
    }


def test_sizes_are_those_of_the_checkpoint() -> None:
    shape = read_shape(CHECKPOINT)
    assert (shape.attention_layers, shape.conv_layers, shape.kv_heads, shape.head_dim) == (3, 3, 2, 32)
    assert (shape.patches, shape.image_tokens, shape.conv_width, shape.vocab) == ((1024, 768), 256, 2, 640)


def test_a_config_of_another_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}', "utf-8")
    with pytest.raises(UsageProblem, match="does not describe an LFM2-VL model"):
        read_shape(tmp_path)


def test_a_red_picture_is_one_minus_one_minus_one() -> None:
    shape, norms = read_shape(CHECKPOINT), read_norms(CHECKPOINT)
    patches = patches_of(Picture.new("RGB", (100, 30), (255, 0, 0)), shape, norms)
    assert patches.shape == (1024, 768)
    assert patches[0, :6].tolist() == [1, -1, -1, 1, -1, -1]


def test_patches_go_by_row_and_values_by_row_column_channel() -> None:
    shape, norms = read_shape(CHECKPOINT), read_norms(CHECKPOINT)
    pixels = np.zeros((512, 512, 3), np.uint8)
    pixels[16 + 2, 32 + 5, 1] = 255  # second row of patches, third column
    patches = patches_of(Picture.fromarray(pixels), shape, norms)
    assert np.argwhere(patches > 0).tolist() == [[32 + 2, (2 * 16 + 5) * 3 + 1]]
