"""What a probe asks of an MLX model: log-probabilities with candidates, image blocks, answers read in one pass."""

import re
from itertools import takewhile
from typing import Any

import mlx.core as mx
import msgspec
import numpy as np
from mlx_vlm.models.cache import make_prompt_cache

from bakeoff.backends.mlx.prompts import Prepared
from bakeoff.backends.mlx.reuse import Memory, is_reusable, start
from bakeoff.traces import IMAGE_PLACE, Token, Trace

_TILE = re.compile(r"<\|img_row_(\d+)_col_(\d+)\|>")
_START, _END = "<|image_start|>", "<|image_end|>"


def token_of(logprobs: Any, chosen: int, count: int) -> Token:
    """Return a token out of log-probabilities of shape [vocabulary], with the `count` likeliest ones."""
    row = logprobs.reshape(-1).astype(mx.float32)
    row = row - mx.logsumexp(row)  # a model in bfloat16 has them rounded to 1/64 by now
    best = [int(token) for token in np.asarray(mx.argsort(-row)[:count])]
    values = [float(value) for value in np.asarray(row[mx.array([chosen, *best])])]
    return Token(id=chosen, logprob=values[0], top=tuple(zip(best, values[1:], strict=True)))


def trace_of(model: Any, processor: Any, prepared: Prepared, tokens: tuple[Token, ...]) -> Trace:
    """Return the Trace of a prepared prompt."""
    text = prepared.text
    marker = str(getattr(processor, "image_token", "<image>"))
    blocks = image_blocks(model, processor, prepared.ids)
    tokenizer = processor.tokenizer
    ids: list[int] = []
    for index, piece in enumerate(text.split(marker)):
        ids += [IMAGE_PLACE] * (index > 0) + list(
            tokenizer(piece, add_special_tokens=False)["input_ids"] if piece else ()
        )
    bos = tokenizer.bos_token_id
    lead = sum(1 for _ in takewhile(lambda token: token == bos, prepared.ids))
    written = sum(1 for _ in takewhile(lambda token: token == bos, ids))
    ids = [bos] * lead + ids[written:]
    begins = str(tokenizer.bos_token or "")
    return Trace(
        rendered=text.removeprefix(begins).replace(marker, "<image>"),
        text_ids=tuple(ids),
        bos=None if bos is None else prepared.ids.count(bos),
        image_tokens=tuple(map(len, blocks)),
        tiles=tuple(_grid(tokenizer, block) for block in blocks),
        tokens=tokens,
    )


def image_blocks(model: Any, processor: Any, ids: list[int]) -> list[list[int]]:
    """Return the tokens of each image, from its opening to its closing marker; runs of image tokens without markers."""
    start, end = (processor.tokenizer.convert_tokens_to_ids(name) for name in (_START, _END))
    image = getattr(model.config, "image_token_index", None)
    blocks: list[list[int]] = []
    is_open = False
    for place, token in enumerate(ids):
        if token == start or (not is_open and token == image and (place == 0 or ids[place - 1] not in {image, end})):
            blocks.append([])
            is_open = token == start
        if is_open or token == image:
            blocks[-1].append(token)
        if token == end:
            is_open = False
    return blocks


def forced(
    model: Any, prepared: Prepared, tokens: tuple[int, ...], count: int, memory: Memory | None
) -> tuple[Token, ...]:
    """Read the prompt and `tokens` in one forward pass and return how likely each of them was."""
    if not tokens:
        return ()
    whole = msgspec.structs.replace(prepared, ids=[*prepared.ids, *tokens])
    logits = _after_start(model, whole, memory) if is_reusable(model) else _from_beginning(model, whole)
    rows = logits[0, -len(tokens) - 1 : -1]
    return tuple(token_of(row, token, count) for row, token in zip(rows, tokens, strict=True))


def _after_start(model: Any, whole: Prepared, memory: Memory | None) -> Any:
    begin = start(model, whole, memory)
    return model.language_model(begin.ids, inputs_embeds=begin.embeddings, cache=begin.state).logits


def _from_beginning(model: Any, whole: Prepared) -> Any:
    """Do it for any model of mlx-vlm: whatever its embeddings come with goes to the language model."""
    ids = mx.array([whole.ids])
    embedded = model.get_input_embeddings(ids, **(whole.pixels or {})).to_dict()
    others = {name: value for name, value in embedded.items() if name != "inputs_embeds" and value is not None}
    state = make_prompt_cache(model.language_model)
    return model.language_model(ids, inputs_embeds=embedded["inputs_embeds"], cache=state, **others).logits


def _grid(tokenizer: Any, block: list[int]) -> tuple[int, int]:
    """Return columns and rows of the tiles of an image; (1, 1) for one that is not tiled."""
    found = [_TILE.fullmatch(str(name)) for name in tokenizer.convert_ids_to_tokens(sorted(set(block)))]
    places = [(int(match[2]), int(match[1])) for match in found if match]
    return (max(column for column, _ in places), max(row for _, row in places)) if places else (1, 1)
