"""Preparing prompts for mlx-vlm: padding trimmed, image tokens counted, the state after the images reused.

Both tricks are exact, to the last bit on the CPU device, and held so by tests:

* LFM2-VL pads every view to 1,024 patches and attends to them all; cutting the padding rows before the encoder saves
  most of the time of small images.
* A hybrid cache (short convolutions and attention) cannot be rolled back, so the state right after the last image is
  kept and copied for every question on the same images. Copies must be deep: a shared convolution state keeps the text
  of most answers and spoils the numbers.
"""

import copy
from collections import OrderedDict
from typing import Any

import mlx.core as mx
import msgspec
import numpy as np
from mlx_vlm.generate.dispatch import should_add_special_tokens
from mlx_vlm.utils import prepare_inputs

from bakeoff.errors import BackendError
from bakeoff.records import Image

REUSABLE_TYPES = frozenset({"lfm2-vl", "lfm2_vl"})
"""Model types for which trimming and reuse were shown to be exact."""

MAX_PREFIXES = 2
"""States kept: the engine asks image by image, so the newest are the ones asked for again."""


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A tokenised prompt.

    `inputs` are the arguments of `stream_generate`; `image_end` is the position after the last image, 0 without images;
    `image_keys` are the hashes of the image files in order.
    """

    ids: list[int]
    inputs: dict[str, Any]
    prompt_tokens: int
    image_tokens: int
    image_end: int
    image_keys: tuple[str, ...]


class Continuation(msgspec.Struct, frozen=True, kw_only=True):
    """A copied state after the images, and what is still to be read: `suffix_ids` of shape [1, n]."""

    suffix_ids: Any
    state: list[Any]
    reused_tokens: int


def prepare(model: Any, processor: Any, text: str, images: tuple[Image, ...]) -> Prepared:
    """Tokenise `text` and preprocess `images` with the model's own processor.

    Raises:
        BackendError: when the processor refuses the images.
    """
    try:
        inputs = prepare_inputs(
            processor,
            images=[image.path for image in images] or None,
            prompts=text,
            image_token_index=getattr(model.config, "image_token_index", None),
            add_special_tokens=should_add_special_tokens(model.config.model_type, processor),
        )
    except (ValueError, OSError) as error:
        raise BackendError(f"mlx-vlm cannot prepare the prompt: {error}") from error
    ids = [int(token) for token in inputs["input_ids"].flatten().tolist()]
    others = {name: value for name, value in inputs.items() if name not in {"input_ids", "attention_mask"}}
    if _is_reusable(model):
        others = trimmed(others)
    image_end = _after_images(model, processor, ids)
    return Prepared(
        ids=ids,
        inputs={"input_ids": inputs["input_ids"], "mask": inputs.get("attention_mask"), **others},
        prompt_tokens=len(ids),
        image_tokens=len(ids) - _text_tokens(processor, text) if images else 0,
        image_end=image_end if images else 0,
        image_keys=tuple(image.sha256 for image in images),
    )


def trimmed(inputs: dict[str, Any]) -> dict[str, Any]:
    """Cut the padding rows that no view uses: `pixel_values` [views, patches, channels] and its mask."""
    mask = inputs.get("pixel_attention_mask")
    if mask is None:
        return inputs
    longest = int(np.asarray(mask).sum(axis=1).max())
    cut = {name: inputs[name][:, :longest] for name in ("pixel_values", "pixel_attention_mask")}
    return {**inputs, **cut}


class PrefixStore:
    """States after [system + images], by the tokens read so far and the bytes of the images."""

    def __init__(self) -> None:
        self._states: OrderedDict[tuple[Any, ...], list[Any]] = OrderedDict()

    def continue_from(self, model: Any, prepared: Prepared) -> Continuation | None:
        """Return the state after the images, made now or kept from before; None where it cannot be used."""
        end = prepared.image_end
        if not end or end >= len(prepared.ids) or not _is_reusable(model):
            return None
        key = _key(prepared)
        is_known = key in self._states
        if is_known:
            self._states.move_to_end(key)
        else:
            self._states[key] = _prefill(model, prepared)
            while len(self._states) > MAX_PREFIXES:
                self._states.popitem(last=False)
        return Continuation(
            suffix_ids=prepared.inputs["input_ids"][:, end:],
            state=copy.deepcopy(self._states[key]),
            reused_tokens=end if is_known else 0,
        )


def _prefill(model: Any, prepared: Prepared) -> list[Any]:
    ids = prepared.inputs["input_ids"][:, : prepared.image_end]
    pixels = {k: v for k, v in prepared.inputs.items() if k not in {"input_ids", "mask"}}
    state = list(model.make_cache())
    embeddings = model.get_input_embeddings(ids, **pixels).inputs_embeds
    model.language_model(ids, inputs_embeds=embeddings, cache=state)
    mx.eval([entry.state for entry in state])
    return state


def _key(prepared: Prepared) -> tuple[Any, ...]:
    """Return what the state depends on: the tokens read so far and the bytes of the images."""
    return (tuple(prepared.ids[: prepared.image_end]), prepared.image_keys)


def _is_reusable(model: Any) -> bool:
    return str(model.config.model_type) in REUSABLE_TYPES


def _after_images(model: Any, processor: Any, ids: list[int]) -> int:
    """Return the position after the last image, its closing marker included; 0 when there is none."""
    closing = processor.tokenizer.convert_tokens_to_ids("<|image_end|>")
    image = getattr(model.config, "image_token_index", None)
    ends = [place for place, token in enumerate(ids) if token in {closing, image}]
    return ends[-1] + 1 if ends else 0


def _text_tokens(processor: Any, text: str) -> int:
    """Return how many tokens the text around the images takes."""
    marker = str(getattr(processor, "image_token", "<image>"))
    pieces = [piece for piece in text.split(marker) if piece]
    return sum(len(processor.tokenizer(piece, add_special_tokens=False)["input_ids"]) for piece in pieces)
