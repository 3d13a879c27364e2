"""What a runtime tells of one prompt beyond its answer: the rendered prompt, tokens, log-probabilities."""

import msgspec


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A token with its log-probability before any sampler; `top` holds the likeliest ones, `(id, logprob)`."""

    id: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """What only a probe asks of a runtime; a field it cannot tell is None or empty.

    `rendered` is the prompt as the template wrote it, with `<image>` where an image goes; `text_ids` are the tokens of
    the text around the images as the model got them, `IMAGE_PLACE` standing for an image; `bos` counts the
    beginning-of-sequence tokens among them; `image_tokens` counts by image, markers included; `tiles` is each image's
    grid, columns by rows.
    """

    rendered: str | None = None
    text_ids: tuple[int, ...] = ()
    bos: int | None = None
    image_tokens: tuple[int, ...] = ()
    tiles: tuple[tuple[int, int], ...] = ()
    tokens: tuple[Token, ...] = ()


IMAGE_PLACE = -1
"""Stands for an image in `Trace.text_ids`."""
