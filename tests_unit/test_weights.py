"""Headers of the embedded checkpoint, and of files made here byte by byte."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest

from bakeoff.errors import UsageProblem
from bakeoff.paths import tiny_dir
from bakeoff.weights import WeightsSummary, describe_weights


def safetensors(path: Path, tensors: dict[str, tuple[str, list[int], int]]) -> Path:
    """Write a file with a header and no data: name -> dtype, shape, bytes."""
    at, header = 0, {}
    for name, (dtype, shape, size) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps({"__metadata__": {"format": "mlx"}, **header}).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text)
    return path


def gguf(path: Path, tensors: dict[str, tuple[list[int], int]], pairs: bytes = b"", count: int = 0) -> Path:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    body = b"".join(
        text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, 0)
        for name, (shape, kind) in tensors.items()
    )
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), count) + pairs + body)
    return path


def tiny(name: str) -> WeightsSummary:
    return describe_weights(tiny_dir() / name)


def test_the_embedded_checkpoint_has_the_same_parameters_in_every_precision_and_format() -> None:
    assert tiny("model-bf16").parameters == tiny("model-8bit").parameters == tiny("model-4bit").parameters
    for name in ("bf16", "q8_0", "q4_0"):
        weights, projector = (tiny_dir() / "gguf" / file for file in (f"tiny-{name}.gguf", "mmproj-tiny-bf16.gguf"))
        assert describe_weights(weights, projector).parameters == tiny("model-bf16").parameters


def test_weights_and_projector_are_one_model() -> None:
    paths = [tiny_dir() / "gguf" / name for name in ("tiny-q4_0.gguf", "mmproj-tiny-q8_0.gguf")]
    parts, whole = [describe_weights(path) for path in paths], describe_weights(*paths)
    assert sum(whole.types.values()) == sum(sum(part.types.values()) for part in parts)
    assert parts[0].bits_per_weight < whole.bits_per_weight < parts[1].bits_per_weight
    assert whole.quantisation == "Q4_0 + Q8_0"


@pytest.mark.parametrize(
    ("name", "low", "high", "recipe"),
    [
        ("model-bf16", 16.0, 16.0, None),
        ("model-8bit", 8.5, 12.5, "affine 8-bit, group 64"),
        ("model-4bit", 4.5, 10.5, "affine 4-bit, group 64"),
        ("gguf/tiny-bf16.gguf", 16.0, 17.0, "BF16"),
        ("gguf/tiny-q8_0.gguf", 8.5, 9.5, "Q8_0"),
        ("gguf/tiny-q4_0.gguf", 4.5, 6.5, "Q4_0"),
    ],
)
def test_bits_per_weight_of_the_embedded_checkpoint(name: str, low: float, high: float, recipe: str | None) -> None:
    found = tiny(name)
    assert low <= found.bits_per_weight <= high
    assert found.quantisation == recipe


def test_bytes_add_up_to_the_file() -> None:
    for path in [*tiny_dir().glob("gguf/*.gguf"), *tiny_dir().glob("model-*/model.safetensors")]:
        found = describe_weights(path)
        size = found.bits_per_weight * found.parameters / 8
        assert 0.85 * path.stat().st_size < size <= path.stat().st_size, path


def test_packed_values_are_counted_as_the_model_uses_them(tmp_path: Path) -> None:
    safetensors(
        tmp_path / "a.safetensors",
        {
            "q.weight": ("U32", [10, 16], 640),  # 128 values a row in 4 bits
            "q.scales": ("BF16", [10, 2], 40),
            "q.biases": ("BF16", [10, 2], 40),
            "norm.weight": ("BF16", [128], 256),
            "plain.biases": ("BF16", [7], 14),  # no scales beside it: an ordinary tensor
        },
    )
    (tmp_path / "config.json").write_text(json.dumps({"quantization": {"bits": 4, "group_size": 64}}), "utf-8")
    found = describe_weights(tmp_path)
    assert found.parameters == 1280 + 128 + 7
    assert found.bits_per_weight == pytest.approx(8 * (640 + 80 + 256 + 14) / found.parameters)
    assert found.types == {"BF16": 2, "affine 4-bit, group 64": 1}


def test_a_module_may_have_a_recipe_of_its_own(tmp_path: Path) -> None:
    tensors = {"a.weight": ("U32", [4, 16], 256), "a.scales": ("BF16", [4, 1], 8)}
    safetensors(tmp_path / "a.safetensors", tensors)
    recipe = {"bits": 4, "group_size": 32, "a": {"bits": 8, "group_size": 64, "mode": "affine"}}
    (tmp_path / "config.json").write_text(json.dumps({"quantization": recipe}), "utf-8")
    found = describe_weights(tmp_path)
    assert found.parameters == 256
    assert found.types == {"affine 8-bit, group 64": 1}
    assert found.quantisation == "affine 4-bit, group 32, 1 modules with their own"


def test_shards_are_counted_together(tmp_path: Path) -> None:
    for number in range(2):
        safetensors(tmp_path / f"model-{number}.safetensors", {f"t{number}": ("F16", [8], 16)})
    assert describe_weights(tmp_path).parameters == 16


def test_gguf_blocks_and_metadata_of_every_kind(tmp_path: Path) -> None:
    def key(name: str, kind: int) -> bytes:
        return struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", kind)

    strings = b"".join(struct.pack("<Q", len(word)) + word for word in (b"a", b"bc"))
    pairs = [
        key("general.file_type", 4) + struct.pack("<I", 15),
        key("tokens", 9) + struct.pack("<IQ", 8, 2) + strings,
        key("scores", 9) + struct.pack("<IQ", 6, 3) + struct.pack("<3f", 1, 2, 3),
        key("flag", 7) + b"\x01",
    ]
    tensors = {"a": ([256, 2], 12), "b": ([256], 14), "c": ([8], 0)}
    found = describe_weights(gguf(tmp_path / "x.gguf", tensors, b"".join(pairs), len(pairs)))
    assert found.parameters == 512 + 256 + 8
    assert found.bits_per_weight == pytest.approx(8 * (2 * 144 + 210 + 32) / 776)
    assert (found.types, found.quantisation) == ({"F32": 1, "Q4_K": 1, "Q6_K": 1}, "Q4_K_M")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.gguf", b"GGML\0\0\0\0"),
        ("a.gguf", b"GGUF" + struct.pack("<IQQ", 9, 1, 0)),
        ("a.gguf", b"GGUF" + struct.pack("<IQQ", 3, 5, 0)),
        ("a.safetensors", b"\xff" * 8),
        ("a.safetensors", struct.pack("<Q", 50) + b"{}"),
        ("a.safetensors", struct.pack("<Q", 2) + b"{}"),
        ("a.safetensors", struct.pack("<Q", 8) + b'{"a": 1}'),
    ],
)
def test_what_is_no_weight_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageProblem, match=name):
        describe_weights(tmp_path / name)


def test_a_type_nobody_knows_is_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="has type 99"):
        describe_weights(gguf(tmp_path / "x.gguf", {"a": ([8], 99)}))


def test_a_folder_without_weights_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"no \*\.safetensors"):
        describe_weights(tmp_path)


def test_identity_is_plain_json() -> None:
    identity: dict[str, Any] = tiny("model-4bit").identity()
    assert json.loads(json.dumps(identity)) == identity
    assert identity.keys() == {"parameters", "bits_per_weight", "tensor_types", "quantisation"}
