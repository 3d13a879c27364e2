"""Bodies and replies of the llama.cpp server's own endpoints, as pure functions around a `post` callable."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bakeoff.backends.backend import REPEAT_WINDOW
from bakeoff.errors import BackendError
from bakeoff.records import ImagePart, Message, Prompt, Text
from bakeoff.traces import IMAGE_PLACE, Token

Post = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""`post(path, body)` returns the reply or raises a BackendError."""

PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def chat_messages(messages: tuple[Message, ...], urls: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return messages as the chat endpoints take them, with `urls` for the images in their order.

    Without them every image is stood in for by one pixel, which the template turns into a marker.
    """
    left = iter(urls)

    def content(part: Text | ImagePart) -> dict[str, Any]:
        if isinstance(part, Text):
            return {"type": "text", "text": part.text}
        return {"type": "image_url", "image_url": {"url": next(left, PIXEL)}}

    return [{"role": message.role, "content": [content(part) for part in message.parts]} for message in messages]


def rendered_prompt(post: Post, prompt: Prompt, marker: str) -> str:
    """Return the prompt as the model's own template writes it, with `marker` where an image goes.

    Raises:
        BackendError: when the text of the prompt holds the marker itself, or the template drops an image.
    """
    body = {"messages": chat_messages(prompt.messages), **thinking_fields(prompt)}
    text = str(post("/apply-template", body)["prompt"])
    found = text.count(marker) if marker else 0
    if found != len(prompt.images):
        raise BackendError(f"the template shows {found} of the {len(prompt.images)} images of {prompt.sample_id}")
    return text


def thinking_fields(prompt: Prompt) -> dict[str, Any]:
    """Return what tells the template whether to think; empty for its own default."""
    if prompt.thinking == "default":
        return {}
    return {"chat_template_kwargs": {"enable_thinking": prompt.thinking == "on"}}


def completion_request(
    prompt: Prompt, text: str, images: Sequence[str], *, slot: int, continues: bool
) -> dict[str, Any]:
    """Return the body for `/completion`; `images` are base64.

    `slot` is the number of the slot that shall answer; one that `continues` begins with what that slot read last.
    """
    return {
        **({"n_probs": prompt.top_logprobs} if prompt.top_logprobs else {}),
        "prompt": {"prompt_string": text, "multimodal_data": list(images)} if images else text,
        "n_predict": prompt.max_tokens,
        **sampling_fields(prompt),
        "cache_prompt": continues,
        "id_slot": slot,
        "stream": False,
    }


def primer_request(beginning: str, images: Sequence[str], *, slot: int) -> dict[str, Any]:
    """Return the body for `/completion` that only reads a beginning, so that the slot can go back to its end."""
    return {
        "prompt": {"prompt_string": beginning, "multimodal_data": list(images)},
        "n_predict": 0,
        "temperature": 0.0,
        "cache_prompt": False,
        "id_slot": slot,
        "stream": False,
    }


def sampling_fields(prompt: Prompt) -> dict[str, Any]:
    """Return every field that says how tokens are drawn, explicitly."""
    sampling = prompt.sampling
    return {
        "seed": prompt.seed,
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "repeat_penalty": sampling.repetition_penalty or 1.0,
        "repeat_last_n": REPEAT_WINDOW,
        "typical_p": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "dry_multiplier": 0.0,
        "mirostat": 0,
        "samplers": ["penalties", "top_k", "top_p", "min_p", "temperature"],
    }


def content_of(reply: Mapping[str, Any]) -> str:
    """Return the text of a `/completion` reply."""
    return str(reply["content"])


def text_ids(post: Post, pieces: Sequence[str]) -> tuple[int, ...]:
    """Return the tokens of the text around the images, as the server makes them, with a place for every image."""
    ids: list[int] = []
    for index, piece in enumerate(pieces):
        if index:
            ids.append(IMAGE_PLACE)
        if piece:
            body = {"content": piece, "add_special": index == 0, "parse_special": True}
            ids.extend(int(token) for token in post("/tokenize", body)["tokens"])
    return tuple(ids)


def forced_request(request: Mapping[str, Any], tokens: tuple[int, ...]) -> dict[str, Any]:
    """Return a body for `/completion` like `request`, after which the server can only say `tokens`, one by one.

    A grammar of token ids leaves no choice to the sampler, and the log-probabilities the server returns are of the
    model itself, from before any sampler and any grammar (tried on xllamacpp 2026.10.11549).
    """
    grammar = "root ::= " + " ".join(f"<[{token}]>" for token in tokens)
    return {**request, "grammar": grammar, "n_predict": len(tokens)}


def tokens_of(reply: Mapping[str, Any]) -> tuple[Token, ...]:
    """Return the tokens of a `/completion` reply with their log-probabilities; empty when none were asked for."""
    return tuple(
        Token(
            id=int(entry["id"]),
            logprob=float(entry["logprob"]),
            top=tuple((int(other["id"]), float(other["logprob"])) for other in entry.get("top_logprobs", ())),
        )
        for entry in reply.get("completion_probabilities", ())
    )
