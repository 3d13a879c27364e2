"""What is found out of a llama.cpp server before its first sample: which endpoint, and how an image is read once."""

from typing import Literal

import msgspec

from bakeoff.backends.llama.api import Post, completion_request, rendered_prompt, text_ids
from bakeoff.backends.llama.chat import chat_tokens
from bakeoff.backends.llama.prompts import Ready
from bakeoff.records import Image, ImagePart, Message, Prompt, Sampling, Text

GREY = (
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAT0lEQVR42u3PQQkAAAgEsItuBCMY1Qi+hcEKLNXzWgQEBAQEBAQEBAQEBAQEBAQE"
    "BAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQELgtc/AGWii/chAAAAABJRU5ErkJggg=="
)
"""A grey PNG of 64 x 64 pixels in base64."""


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How a server is asked.

    `endpoint` is `completion` where the rendered text gives the tokens of the chat endpoint, else `chat`. A model that
    `needs_primer` cannot go back to the end of an image by itself: its state is more than attention over all tokens.
    """

    endpoint: Literal["completion", "chat"]
    needs_primer: bool = False


def find_manner(post: Post, marker: str, *, has_images: bool, reuse: bool, slot: int) -> Manner:
    """Ask a text and, with `has_images`, an image both ways; with `reuse` also ask again on the same image.

    Raises:
        BackendError: when the server cannot answer these.
    """
    questions = [_question("What is this?", has_image=False)]
    if has_images:
        questions.append(_question("What is this?", has_image=True))
    for prompt in questions:
        if _evaluated(post, prompt, marker, slot=slot) != chat_tokens(post, prompt, _images(prompt), slot=slot):
            return Manner(endpoint="chat")
    if not (has_images and reuse):
        return Manner(endpoint="completion")
    return Manner(endpoint="completion", needs_primer=not _goes_back(post, marker, slot=slot))


def _goes_back(post: Post, marker: str, *, slot: int) -> bool:
    """Return whether a second question on an image is answered without reading the image again."""
    _evaluated(post, _question("What is this?", has_image=True), marker, slot=slot)
    other = _question("Name a color.", has_image=True)
    ready = _ready(post, other, marker)
    body = completion_request(other, ready.text(marker), ready.images, slot=slot, continues=True)
    reply = post("/completion", body)
    needed = ready.beginning_text_tokens + int(reply["tokens_evaluated"]) - ready.text_tokens
    return int(reply.get("timings", {}).get("cache_n", 0)) >= needed


def _evaluated(post: Post, prompt: Prompt, marker: str, *, slot: int) -> int:
    text = rendered_prompt(post, prompt, marker)
    body = completion_request(prompt, text, _images(prompt), slot=slot, continues=False)
    return int(post("/completion", body)["tokens_evaluated"])


def _ready(post: Post, prompt: Prompt, marker: str) -> Ready:
    pieces = tuple(rendered_prompt(post, prompt, marker).split(marker))
    return Ready(pieces=pieces, images=_images(prompt), ids=text_ids(post, pieces))


def _images(prompt: Prompt) -> tuple[str, ...]:
    return (GREY,) * len(prompt.images)


def _question(text: str, *, has_image: bool) -> Prompt:
    image = (ImagePart(image=Image(path="", sha256="", width=64, height=64)),) if has_image else ()
    message = Message(role="user", parts=(*image, Text(text=text)))
    return Prompt(
        sample_id="start", messages=(message,), max_tokens=1, seed=0, sampling=Sampling(temperature=0.0, top_k=0)
    )
