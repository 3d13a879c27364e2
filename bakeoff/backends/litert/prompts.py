"""Prompts and sampling as LiteRT-LM takes them: plain JSON messages, and only what its sampler can do."""

import base64
from typing import Any

from bakeoff.backends.images import image_bytes
from bakeoff.errors import BackendError
from bakeoff.records import Message, Prompt, Sampling, Text


def messages_of(prompt: Prompt) -> list[dict[str, Any]]:
    """Return the messages with the original bytes of their images.

    Raises:
        BackendError: when an image is not the prepared one.
    """
    return [{"role": message.role, "content": _content(message)} for message in prompt.messages]


def sampler_fields(sampling: Sampling, seed: int) -> dict[str, Any]:
    """Return every field of the engine's sampler, explicitly; greedy is the likeliest one token.

    Raises:
        BackendError: when the sampling is one that the engine does not have, which is better than another one.
    """
    if sampling.min_p:
        raise BackendError("LiteRT-LM has no min_p: run its arm with --min-p 0")
    if sampling.temperature == 0:
        return {"top_k": 1, "top_p": 1.0, "temperature": 1.0, "seed": seed}
    if sampling.top_k == 0:
        raise BackendError("LiteRT-LM always takes the top k: run its arm with --top-k 1 or more")
    return {"top_k": sampling.top_k, "top_p": sampling.top_p, "temperature": sampling.temperature, "seed": seed}


def text_of(message: Any) -> tuple[str, bool]:
    """Return what an answer says and whether it came with thoughts, which the engine keeps in channels of their own."""
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text", "") for part in content if part.get("type") == "text")
    return content, any(message.get("channels", {}).values())


def _content(message: Message) -> list[dict[str, str]]:
    return [
        {"type": "text", "text": part.text}
        if isinstance(part, Text)
        else {"type": "image", "blob": base64.b64encode(image_bytes(part.image)).decode("ascii")}
        for part in message.parts
    ]
