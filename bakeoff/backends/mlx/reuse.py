"""Image work done once: the state after the images, and their features, kept for the questions that follow.

All of it is exact, to the last bit on the CPU device, and held so by tests:

* LFM2-VL pads every view to 1,024 patches and attends to them all; cutting the padding rows before the encoder saves
  most of the time of small images.
* A hybrid cache (short convolutions and attention) cannot be rolled back, so the state right after the last image is
  kept and copied for every question on the same images. Copies must be deep: a shared convolution state keeps the text
  of most answers and spoils the numbers.
* Where the state cannot be used because the text before the images is another, the encoder's features can.
"""

import copy
import time
from collections import OrderedDict
from typing import Any

import mlx.core as mx
import msgspec
import numpy as np

from bakeoff.backends.mlx.prompts import Prepared

REUSABLE_TYPES = frozenset({"lfm2-vl", "lfm2_vl"})
"""Model types for which trimming, reuse and batches were shown to be exact."""

PREFILL_TOKENS = 2048
"""Tokens read in one pass, which bounds the memory of a long prompt; mlx-vlm's own figure."""


def is_reusable(model: Any) -> bool:
    """Return whether work on images may be shared between prompts of this model, and prompts decoded together."""
    return str(model.config.model_type) in REUSABLE_TYPES


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """A cache `state` and what is still to be read after it.

    `ids` have shape [1, n], `embeddings` [1, n, width] or None where the tokens alone tell; `reused_tokens` of the
    prompt are in the state without having been read for it, and `encode_s` went into encoding its images.
    """

    ids: Any
    embeddings: Any
    state: list[Any]
    reused_tokens: int = 0
    encode_s: float = 0.0


class Memory:
    """What is kept of images, the oldest dropped first, in at most `limit` bytes of arrays."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self._kept: OrderedDict[tuple[Any, ...], tuple[Any, int]] = OrderedDict()

    def __contains__(self, key: tuple[Any, ...]) -> bool:
        """Return whether something is kept by this key."""
        return key in self._kept

    def get(self, key: tuple[Any, ...]) -> Any:
        """Return what is kept by this key and make it the newest; None when it is not there."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def put(self, key: tuple[Any, ...], value: Any, size: int) -> None:
        """Keep `value` of `size` bytes, unless it alone is above the limit."""
        if key in self._kept:
            self.held -= self._kept.pop(key)[1]
        if size > self.limit:
            return
        self._kept[key] = (value, size)
        self.held += size
        while self.held > self.limit:
            _, (_, dropped) = self._kept.popitem(last=False)
            self.held -= dropped


def state_key(prepared: Prepared) -> tuple[Any, ...]:
    """Return what a state depends on: the tokens read so far and the bytes of the images."""
    return ("state", tuple(prepared.ids[: prepared.image_end]), prepared.image_keys)


def features_key(prepared: Prepared) -> tuple[Any, ...]:
    """Return what features depend on: the bytes of the image files, which fix pixels and shapes."""
    return ("features", prepared.image_keys)


def needs_pixels(prepared: Prepared, memory: Memory | None) -> bool:
    """Return whether this prompt was prepared without the pixels that it turns out to need."""
    if prepared.pixels is not None:
        return False
    return memory is None or not (state_key(prepared) in memory or features_key(prepared) in memory)


def start(model: Any, prepared: Prepared, memory: Memory | None) -> Start:
    """Return where to read on: after the images if there are any and `memory` may be used, else at the beginning."""
    ids = mx.array([prepared.ids])
    end = prepared.image_end
    if memory is None or not 0 < end < len(prepared.ids):
        embeddings, encode_s = _embeddings(model, ids, prepared, memory)
        return Start(ids=ids, embeddings=embeddings, state=list(model.make_cache()), encode_s=encode_s)
    key = state_key(prepared)
    state = memory.get(key)
    is_new, encode_s = state is None, 0.0
    if is_new:
        state = list(model.make_cache())
        head = ids[:, :end]
        embeddings, encode_s = _embeddings(model, head, prepared, memory)
        read(model, Start(ids=head, embeddings=embeddings, state=state), keep=0)
        memory.put(key, state, sum(int(entry.nbytes) for entry in state))
    reused = 0 if is_new else end
    return Start(ids=ids[:, end:], embeddings=None, state=copied(state), reused_tokens=reused, encode_s=encode_s)


def read(model: Any, begin: Start, *, keep: int) -> tuple[Any, Any]:
    """Read all but the last `keep` tokens into the state, in bounded steps; return ids and embeddings of the rest."""
    ids, embeddings = begin.ids, begin.embeddings
    while (left := ids.shape[1] - keep) > 0:
        step = min(PREFILL_TOKENS, left)
        part = None if embeddings is None else embeddings[:, :step]
        model.language_model(ids[:, :step], inputs_embeds=part, cache=begin.state)
        mx.eval([entry.state for entry in begin.state])
        ids, embeddings = ids[:, step:], None if embeddings is None else embeddings[:, step:]
    return ids, embeddings


def last_logits(model: Any, begin: Start) -> Any:
    """Read everything and return the logits after the last token, of shape [1, vocabulary]."""
    ids, embeddings = read(model, begin, keep=1)
    return model.language_model(ids, inputs_embeds=embeddings, cache=begin.state).logits[:, -1, :]


def copied(state: list[Any]) -> list[Any]:
    """Return a copy of a cache that shares nothing with it."""
    return copy.deepcopy(state)


def trimmed(pixels: dict[str, Any]) -> dict[str, Any]:
    """Cut the padding rows that no view uses: `pixel_values` [views, patches, channels] and its mask."""
    mask = pixels.get("pixel_attention_mask")
    if mask is None:
        return pixels
    longest = int(np.asarray(mask).sum(axis=1).max())
    cut = {name: pixels[name][:, :longest] for name in ("pixel_values", "pixel_attention_mask")}
    return {**pixels, **cut}


def _embeddings(model: Any, ids: Any, prepared: Prepared, memory: Memory | None) -> tuple[Any, float]:
    """Return token embeddings with the image features in their places, and the seconds that encoding images took.

    A prompt of text alone has no embeddings.
    """
    if not prepared.image_keys:
        return None, 0.0
    encode_s = 0.0
    known = None if memory is None else memory.get(features_key(prepared))
    pixels: dict[str, Any] = {"pixel_values": True} if known is not None else trimmed(prepared.pixels or {})
    if known is None:
        began = time.perf_counter()
        known = model.encode_images(**pixels)
        mx.eval(known)
        encode_s = time.perf_counter() - began
        if memory is not None:
            memory.put(features_key(prepared), known, sum(int(view.nbytes) for view in known))
    return model.get_input_embeddings(ids, **pixels, cached_image_features=known).inputs_embeds, encode_s
