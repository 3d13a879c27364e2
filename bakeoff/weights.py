"""What lies in a weight file, read from its header alone: parameters, tensor types, bits per weight.

"4 bit" on a label is a name; what a runtime reads is this. Two formats: safetensors (one file or a folder of shards,
MLX's packed quantisation included) and GGUF. Nothing is loaded: a header is a few kilobytes to a few megabytes.

Sources: the safetensors format (huggingface.co/docs/safetensors), the GGUF specification (ggml/docs/gguf.md) and the
block sizes of `ggml-common.h`; MLX packs `32 // bits` values of a row into one U32 and keeps a scale per group.
"""

import json
import math
import struct
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from bakeoff.errors import UsageProblem


class WeightsSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a model's weights are.

    `parameters` counts values as the model uses them, not as they are packed; scales and offsets of a quantisation are
    no parameters, and their bytes are part of `bits_per_weight`. `types` counts tensors by type. `quantisation` is the
    recipe as the file states it, None where it states none.
    """

    parameters: int
    bits_per_weight: float
    types: dict[str, int]
    quantisation: str | None

    def identity(self) -> dict[str, Any]:
        """Return the fields as they go into an arm's identity."""
        return {
            "parameters": self.parameters,
            "bits_per_weight": round(self.bits_per_weight, 3),
            "tensor_types": dict(self.types),
            "quantisation": self.quantisation,
        }


class _Tensor(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    parameters: int
    size: float


def describe_weights(*paths: Path) -> WeightsSummary:
    """Return what the weights at `paths` are, as one model: GGUF weights and their projector, or a folder.

    Each path is a `.gguf` or `.safetensors` file, or a folder of safetensors with its `config.json`.

    Raises:
        UsageProblem: when there is no such file, or its header cannot be read; the message names it.
    """
    parts = [_describe(path) for path in paths]
    parameters = sum(part.parameters for part in parts)
    return WeightsSummary(
        parameters=parameters,
        bits_per_weight=sum(part.bits_per_weight * part.parameters for part in parts) / parameters,
        types=dict(sorted(sum((Counter(part.types) for part in parts), Counter[str]()).items())),
        quantisation=" + ".join(dict.fromkeys(part.quantisation for part in parts if part.quantisation)) or None,
    )


def _describe(path: Path) -> WeightsSummary:
    try:
        if path.suffix == ".gguf":
            return _describe_gguf(path)
        files = sorted(path.glob("*.safetensors")) if path.is_dir() else [path]
        if not files:
            raise UsageProblem(f"{path} holds no weights: there is no *.safetensors in it")
        return _describe_safetensors(files, _config((path if path.is_dir() else path.parent) / "config.json"))
    except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
        raise UsageProblem(f"the header of {path} cannot be read: {error!r}. Download the file again") from error


def _summary(tensors: list[_Tensor], quantisation: str | None) -> WeightsSummary:
    parameters = sum(tensor.parameters for tensor in tensors)
    if not parameters:
        raise ValueError("no tensors")
    return WeightsSummary(
        parameters=parameters,
        bits_per_weight=8.0 * sum(tensor.size for tensor in tensors) / parameters,
        types=dict(sorted(Counter(tensor.kind for tensor in tensors).items())),
        quantisation=quantisation,
    )


# --- safetensors -----------------------------------------------------------------------------------------------------

_LONGEST_HEADER = 100_000_000  # the format's own limit


def _describe_safetensors(files: list[Path], config: Mapping[str, Any]) -> WeightsSummary:
    entries: dict[str, Mapping[str, Any]] = {}
    for file in files:
        with file.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            if length > _LONGEST_HEADER:
                raise ValueError(f"a header of {length} bytes")
            header = json.loads(stream.read(length))
        entries.update({name: entry for name, entry in header.items() if name != "__metadata__"})
    recipe = config.get("quantization") or {}
    tensors = [_packed(name, entries, recipe) for name in entries if not _is_side_tensor(name, entries)]
    return _summary(tensors, _recipe_text(recipe))


def _is_side_tensor(name: str, entries: Mapping[str, Any]) -> bool:
    """Whether a tensor holds scales or offsets of a packed one."""
    stem, _, last = name.rpartition(".")
    return last in {"scales", "biases"} and f"{stem}.weight" in entries and f"{stem}.scales" in entries


def _packed(name: str, entries: Mapping[str, Mapping[str, Any]], recipe: Mapping[str, Any]) -> _Tensor:
    entry, stem = entries[name], name.removesuffix(".weight")
    scales = entries.get(f"{stem}.scales")
    if scales is None or entry["dtype"] != "U32" or stem == name:
        return _Tensor(kind=str(entry["dtype"]), parameters=math.prod(entry["shape"]), size=_bytes(entry))
    own = recipe.get(stem)
    own = own if isinstance(own, dict) else recipe  # a module may have a recipe of its own
    group, bits = int(own["group_size"]), int(own["bits"])
    size = sum(_bytes(entries[key]) for key in (name, f"{stem}.scales", f"{stem}.biases") if key in entries)
    return _Tensor(
        kind=f"{own.get('mode', 'affine')} {bits}-bit, group {group}",
        parameters=math.prod(scales["shape"]) * group,
        size=size,
    )


def _bytes(entry: Mapping[str, Any]) -> int:
    begin, end = entry["data_offsets"]
    return int(end) - int(begin)


def _config(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    found = json.loads(path.read_text("utf-8"))
    return found if isinstance(found, dict) else {}


def _recipe_text(recipe: Mapping[str, Any]) -> str | None:
    if "bits" not in recipe:
        return None
    own = sum(isinstance(value, dict) for value in recipe.values())
    more = f", {own} modules with their own" if own else ""
    return f"{recipe.get('mode', 'affine')} {recipe['bits']}-bit, group {recipe.get('group_size')}{more}"


# --- GGUF ------------------------------------------------------------------------------------------------------------

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_VERSIONS = (2, 3)

_TYPES: dict[int, tuple[str, int, int]] = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1),
    25: ("I16", 1, 2),
    26: ("I32", 1, 4),
    27: ("I64", 1, 8),
    28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17),
}
"""Name, values a block and bytes a block by `ggml_type`."""
_RECIPE_NAMES = """
0 F32, 1 F16, 2 Q4_0, 3 Q4_1, 7 Q8_0, 8 Q5_0, 9 Q5_1, 10 Q2_K, 11 Q3_K_S, 12 Q3_K_M, 13 Q3_K_L, 14 Q4_K_S, 15 Q4_K_M,
16 Q5_K_S, 17 Q5_K_M, 18 Q6_K, 19 IQ2_XXS, 20 IQ2_XS, 21 Q2_K_S, 22 IQ3_XS, 23 IQ3_XXS, 24 IQ1_S, 25 IQ4_NL, 26 IQ3_S,
27 IQ3_M, 28 IQ2_S, 29 IQ2_M, 30 IQ4_XS, 31 IQ1_M, 32 BF16, 36 TQ1_0, 37 TQ2_0, 38 MXFP4_MOE
"""
_RECIPES = {int(pair.split()[0]): pair.split()[1] for pair in _RECIPE_NAMES.split(",")}
"""Recipes by `general.file_type` of the metadata, which is llama.cpp's `llama_ftype`."""


def _describe_gguf(path: Path) -> WeightsSummary:
    with path.open("rb") as stream:
        magic = stream.read(4)
        if magic != b"GGUF":
            raise ValueError(f"not a GGUF file: it begins with {magic!r}")
        version, tensors, pairs = _read(stream, "<IQQ")
        if version not in _VERSIONS:
            raise ValueError(f"GGUF version {version}")
        known = dict(_pair(stream) for _ in range(pairs))
        found = [_tensor(stream) for _ in range(tensors)]
    file_type = known.get("general.file_type")
    return _summary(found, None if file_type is None else _RECIPES.get(file_type, f"file type {file_type}"))


def _read(stream: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack(form, stream.read(struct.calcsize(form)))


def _text(stream: BinaryIO) -> str:
    (length,) = _read(stream, "<Q")
    if length > _LONGEST_HEADER:
        raise ValueError(f"a name of {length} bytes")
    return stream.read(length).decode("utf-8", "replace")


def _pair(stream: BinaryIO) -> tuple[str, Any]:
    name = _text(stream)
    (kind,) = _read(stream, "<I")
    return name, _value(stream, kind)


def _value(stream: BinaryIO, kind: int) -> Any:
    """Read a value; an array is passed over, because no summary needs one and a vocabulary is long."""
    if kind == _STRING:
        return _text(stream)
    if kind != _ARRAY:
        return _read(stream, _SCALARS[kind])[0]
    item, count = _read(stream, "<IQ")
    if item in _SCALARS:
        stream.seek(count * struct.calcsize(_SCALARS[item]), 1)
    else:
        for _ in range(count):
            _value(stream, item)
    return None


def _tensor(stream: BinaryIO) -> _Tensor:
    name = _text(stream)
    (dimensions,) = _read(stream, "<I")
    *shape, kind, _offset = _read(stream, f"<{dimensions}QIQ")
    if kind not in _TYPES:
        raise ValueError(f"tensor {name} has type {kind}, which this version does not know")
    label, block, size = _TYPES[kind]
    parameters = math.prod(shape)
    return _Tensor(kind=label, parameters=parameters, size=parameters / block * size)
