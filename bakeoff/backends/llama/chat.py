"""The chat endpoint, for servers whose own rendering of a prompt is not what `/apply-template` shows.

Bodies and replies only; a reply is brought into the form of `/completion`, so that one reader serves both.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from bakeoff.backends.images import mime_type
from bakeoff.backends.llama.api import Post, chat_messages, sampling_fields, thinking_fields
from bakeoff.errors import BackendError
from bakeoff.records import Prompt

CHAT = "/v1/chat/completions"


def chat_request(prompt: Prompt, images: Sequence[str], *, slot: int, continues: bool) -> dict[str, Any]:
    """Return the body for the chat endpoint, with every sampling field explicit; `images` are base64."""
    return {
        "messages": chat_messages(prompt.messages, [_data_url(image) for image in images]),
        **thinking_fields(prompt),
        **({"logprobs": True, "top_logprobs": prompt.top_logprobs} if prompt.top_logprobs else {}),
        "max_tokens": prompt.max_tokens,
        **sampling_fields(prompt),
        "reasoning_format": "none",
        "cache_prompt": continues,
        "id_slot": slot,
        "stream": False,
    }


def completion_form(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chat reply in the form of a `/completion` reply.

    Raises:
        BackendError: when the reply holds no choice.
    """
    try:
        choice = reply["choices"][0]
        usage = reply["usage"]
        return {
            "content": choice["message"].get("content") or "",
            "stop_type": {"stop": "eos", "length": "limit"}.get(str(choice.get("finish_reason"))),
            "tokens_evaluated": int(usage["prompt_tokens"]),
            "tokens_predicted": int(usage["completion_tokens"]),
            "timings": reply.get("timings", {}),
            "completion_probabilities": (choice.get("logprobs") or {}).get("content") or (),
        }
    except (KeyError, IndexError, TypeError) as error:
        raise BackendError(f"{CHAT} answered without a choice: {str(reply)[:200]}") from error


def chat_tokens(post: Post, prompt: Prompt, images: Sequence[str], *, slot: int) -> int:
    """Return how many tokens the chat endpoint makes of a prompt; a server that cannot count answers one token."""
    body = {**chat_request(prompt, images, slot=slot, continues=False), "max_tokens": 1}
    try:
        return int(post(f"{CHAT}/input_tokens", body)["input_tokens"])
    except (BackendError, KeyError):
        return int(completion_form(post(CHAT, body))["tokens_evaluated"])


def _data_url(image: str) -> str:
    start = base64.b64decode(image[:64])
    return f"data:{mime_type(start)};base64,{image}"
