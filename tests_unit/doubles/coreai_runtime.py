"""Core AI's published runtime interface over the embedded checkpoint, for machines that have no Core AI.

`install` puts it in the place of `coreai.runtime`. A bundle is a folder `<name>.aimodel` (or `.aimodelc`) with a
`double.json` that says which function it holds, of which checkpoint. Names, types and sizes are looked at as strictly
as the published interface allows; state arrays are changed in place, and spoiled by a chunk that is refused.
"""

import asyncio
import atexit
import enum
import importlib.machinery
import json
import queue
import sys
import threading
import types
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from mlx_vlm import load

_asked: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
"""What the thread of `_device` is to do; None ends it."""

calls: list[dict[str, Any]] = []
"""Every call of a function: its name, the tokens and the last position of a decoder's call."""

_models: dict[str, Any] = {}


class StorageKind(enum.StrEnum):
    BYTES = "bytes"
    IO_SURFACE = "io_surface"
    METAL = "metal"


class NDArray:
    def __init__(self, data: Any, backing: StorageKind = StorageKind.BYTES) -> None:
        if not isinstance(backing, StorageKind):
            raise TypeError(f"backing must be a StorageKind, got {type(backing).__name__}")
        self._values = np.array(data)

    @property
    def dtype(self) -> str:
        return str(self._values.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._values.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(step // self._values.itemsize for step in self._values.strides)

    def numpy(self) -> Any:
        return self._values

    @classmethod
    def from_descriptor(cls, descriptor: "NDArrayDescriptor") -> "NDArray":
        return cls(np.full([size or 1 for size in descriptor.shape], 7, descriptor.dtype))  # memory as it was found


class NDArrayDescriptor:
    def __init__(self, dtype: str, shape: list[int | None]) -> None:
        self._dtype, self._shape = dtype, shape

    @property
    def shape(self) -> list[int | None]:
        return self._shape

    @property
    def dtype(self) -> str:
        return self._dtype


class InferenceFunctionDescriptor:
    def __init__(self, name: str, **parts: dict[str, NDArrayDescriptor]) -> None:
        self._name, self._parts = name, parts

    @property
    def name(self) -> str:
        return self._name

    @property
    def input_names(self) -> list[str]:
        return list(self._parts["inputs"])

    @property
    def output_names(self) -> list[str]:
        return list(self._parts["outputs"])

    @property
    def state_names(self) -> list[str]:
        return list(self._parts["state"])

    def input_descriptor(self, name: str) -> NDArrayDescriptor:
        return self._parts["inputs"][name]

    def output_descriptor(self, name: str) -> NDArrayDescriptor:
        return self._parts["outputs"][name]

    def state_descriptor(self, name: str) -> NDArrayDescriptor:
        return self._parts["state"][name]


class SpecializationOptions:
    def __init__(self) -> None:
        raise TypeError("use SpecializationOptions.from_preferred_compute_unit_kind(compute_kind)")

    @classmethod
    def default(cls) -> "SpecializationOptions":
        return object.__new__(cls)


class AIModel:
    _told: dict[str, Any]

    def __init__(self) -> None:
        raise TypeError("Use `await AIModel.load(path)` to construct an AIModel instance.")

    @classmethod
    async def load(cls, path: Path | str, specialization_options: SpecializationOptions | None = None) -> "AIModel":
        if specialization_options is not None and not isinstance(specialization_options, SpecializationOptions):
            raise TypeError("specialization_options must be SpecializationOptions")
        told = json.loads((Path(path) / "double.json").read_text("utf-8"))
        if told.get("broken"):
            raise RuntimeError(f"{path} was compiled for another GPU family")
        model = object.__new__(cls)
        model._told = told
        if told["checkpoint"] not in _models:
            _models[told["checkpoint"]] = await _on_device(lambda: _loaded(told["checkpoint"]))
        return model

    @property
    def function_names(self) -> list[str]:
        return ["main"]

    def load_function(
        self, function_name: str, intermediate_logger: Any = None, profiler: Any = None
    ) -> "InferenceFunction":
        del intermediate_logger, profiler
        if function_name != "main":
            raise KeyError(f"No function named {function_name!r}")
        function = object.__new__(InferenceFunction)
        function._told, function._model = self._told, _models[self._told["checkpoint"]]
        return function


class InferenceFunction:
    _told: dict[str, Any]
    _model: Any

    def __init__(self) -> None:
        raise TypeError("Use `AIModel.load_function(name)` to construct an InferenceFunction instance.")

    @property
    def desc(self) -> InferenceFunctionDescriptor:
        text, side = self._model.config.text_config, 512 // self._model.config.vision_config.patch_size
        rows = NDArrayDescriptor("float16", [(side // self._model.config.downsample_factor) ** 2, text.hidden_size])
        if self._told["function"] == "vision":
            values = 3 * self._model.config.vision_config.patch_size**2
            patches = NDArrayDescriptor("float16", [side**2, values])
            return InferenceFunctionDescriptor(
                "main", inputs={"patches": patches}, outputs={"image_embeds": rows}, state={}
            )
        full = len(text.full_attn_idxs)
        size = text.hidden_size // text.num_attention_heads
        cache = [full, 1, text.num_key_value_heads, self._told["positions"], size]
        conv = [len(text.layer_types) - full, 1, text.hidden_size, text.conv_L_cache - 1]
        width = self._told.get("width")
        return InferenceFunctionDescriptor(
            "main",
            inputs={
                "input_ids": NDArrayDescriptor("int32", [1, width]),
                "position_ids": NDArrayDescriptor("int32", [1, None]),
                "image_embeds": rows,
            },
            outputs={"logits": NDArrayDescriptor("float16", [1, None, text.vocab_size])},
            state={
                "keyCache": NDArrayDescriptor("float16", cache),
                "valueCache": NDArrayDescriptor("float16", cache),
                "convState": NDArrayDescriptor("float16", conv),
            },
        )

    async def __call__(
        self, inputs: dict[str, NDArray] | None = None, state: dict[str, NDArray] | None = None
    ) -> dict[str, NDArray]:
        inputs, state, desc = inputs or {}, state or {}, self.desc
        _check("inputs", inputs, {name: desc.input_descriptor(name) for name in desc.input_names})
        _check("state", state, {name: desc.state_descriptor(name) for name in desc.state_names})
        given = {name: array.numpy() for name, array in inputs.items()}
        if self._told["function"] == "vision":
            calls.append({"function": "vision"})
            return {"image_embeds": NDArray(await _on_device(lambda: _embeddings(self._model, given["patches"])))}
        held = {name: array.numpy() for name, array in state.items()}
        count, end = given["input_ids"].shape[1], given["position_ids"].shape[1]
        calls.append({"function": "decode", "tokens": given["input_ids"][0].tolist(), "end": end - 1})
        if not np.array_equal(given["position_ids"][0], np.arange(end)) or end > self._told["positions"]:
            raise ValueError("position_ids must be 0, 1, ... up to the last position")
        if count > self._told.get("most", 10**6):
            for array in held.values():
                array.fill(1)  # what a refused chunk leaves behind is not empty
            raise RuntimeError(f"the function was compiled for one token, not {count}")
        return {"logits": NDArray(await _on_device(lambda: _decode(self._model, given, held, end - count)))}


def install(patch: pytest.MonkeyPatch) -> None:
    """Put the double in the place of `coreai.runtime`, on what looks like a macOS that has Core AI."""
    calls.clear()
    package, runtime = types.ModuleType("coreai"), sys.modules[__name__]
    package.__spec__ = importlib.machinery.ModuleSpec("coreai", None, is_package=True)
    package.__path__ = []
    package.runtime = runtime  # type: ignore[attr-defined] # as an import of a submodule does
    patch.setitem(sys.modules, "coreai", package)
    patch.setitem(sys.modules, "coreai.runtime", runtime)
    patch.setattr("platform.mac_ver", lambda: ("27.1", ("", "", ""), "arm64"))


def make_bundle(folder: Path, name: str, checkpoint: Path, **told: Any) -> Path:
    """Write a bundle of the double."""
    bundle = folder / f"{name}.aimodel"
    bundle.mkdir(parents=True)
    (bundle / "double.json").write_text(json.dumps({"checkpoint": str(checkpoint), **told}), "utf-8")
    return bundle


def _check(kind: str, given: dict[str, NDArray], stated: dict[str, NDArrayDescriptor]) -> None:
    if set(given) != set(stated):
        raise ValueError(f"{kind} are {sorted(stated)}, got {sorted(given)}")
    for name, array in given.items():
        if not isinstance(array, NDArray):
            raise TypeError(f'Value for "{name}" in {kind} is not an NDArray.')
        wanted = stated[name]
        fits = len(array.shape) == len(wanted.shape) and all(
            size in {None, found} for size, found in zip(wanted.shape, array.shape, strict=True)
        )
        if array.dtype != wanted.dtype or not fits:
            raise ValueError(f"{name} is {wanted.dtype}{wanted.shape}, got {array.dtype}{list(array.shape)}")


async def _on_device(work: Callable[[], Any]) -> Any:
    future: Future[Any] = Future()
    _asked.put((work, future))
    return await asyncio.wrap_future(future)


def _device() -> None:
    """Do all of MLX's work, beside the caller's thread as the real runtime does."""
    for work, future in iter(_asked.get, None):
        if not future.set_running_or_notify_cancel():
            continue
        try:
            future.set_result(work())
        except Exception as error:  # noqa: BLE001 - it is raised where the work was asked
            future.set_exception(error)
    mx.clear_streams()  # else the process often aborts at its exit: a stream's thread is left unjoined


def _start() -> None:
    thread = threading.Thread(target=_device, name="core ai double", daemon=True)
    thread.start()

    def stop() -> None:
        _asked.put(None)
        thread.join()

    atexit.register(stop)


_start()


def _loaded(checkpoint: str) -> Any:
    model, _ = load(checkpoint)
    mx.eval(model.parameters())
    return model


def _embeddings(model: Any, patches: Any) -> Any:
    side = int(len(patches) ** 0.5)
    (rows,) = model.encode_images(
        mx.array(patches.astype(np.float32))[None],
        spatial_shapes=mx.array([[side, side]]),
        pixel_attention_mask=mx.ones((1, len(patches)), dtype=mx.int32),
    )
    return _half(rows)


def _decode(model: Any, given: dict[str, Any], held: dict[str, Any], start: int) -> Any:
    """Read tokens from position `start` on, with the state that `held` holds, and write the new state into it."""
    ids, vocab = given["input_ids"][0], model.config.text_config.vocab_size
    words = model.language_model.model.embed_tokens(mx.array(np.where(ids < vocab, ids, 0)))
    rows = mx.array(given["image_embeds"])[mx.array(np.where(ids < vocab, 0, ids - vocab))].astype(words.dtype)
    embedded = mx.where(mx.array(ids >= vocab)[:, None], rows, words)[None]
    caches, full = model.language_model.make_cache(), set(model.config.text_config.full_attn_idxs)
    attention = [cache for index, cache in enumerate(caches) if index in full]
    convolution = [cache for index, cache in enumerate(caches) if index not in full]
    for layer, cache in enumerate(attention):
        if start:
            cache.update_and_fetch(
                *(mx.array(held[name][layer, :, :, :start]).astype(words.dtype) for name in ("keyCache", "valueCache"))
            )
    for layer, cache in enumerate(convolution):
        cache[0] = mx.array(held["convState"][layer]).transpose(0, 2, 1).astype(words.dtype)
    tokens = mx.array(np.where(ids < vocab, ids, 0))[None]
    logits = model.language_model(tokens, inputs_embeds=embedded, cache=caches).logits
    mx.eval(logits)
    end = start + len(ids)
    for layer, cache in enumerate(attention):
        held["keyCache"][layer, :, :, start:end] = _half(cache.keys[:, :, start:end])
        held["valueCache"][layer, :, :, start:end] = _half(cache.values[:, :, start:end])
    for layer, cache in enumerate(convolution):
        held["convState"][layer] = _half(cache[0].transpose(0, 2, 1))
    return _half(logits)


def _half(array: Any) -> Any:
    return np.array(array.astype(mx.float32)).astype(np.float16)
