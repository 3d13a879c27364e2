"""Bodies and replies of `/chat/completions`, as pure functions."""

import base64
import re
from collections.abc import Collection, Mapping
from typing import Any, Literal

from bakeoff.backends.backend import REPEAT_WINDOW
from bakeoff.backends.images import image_bytes, mime_type
from bakeoff.backends.openai.key import Hide
from bakeoff.errors import BackendError, ContextOverflow
from bakeoff.records import ImagePart, Message, Prompt, Sampling
from bakeoff.traces import Token

THOUGHT = ("<think>\n", "\n</think>\n\n")
"""Put around what a server cut out as `reasoning_content`, so that the output is whole again."""

_OVERFLOW = re.compile(
    r"context[_ ](length|size|budget|window)|exceed_context|maximum (context|model|sequence) length"
    r"|exceeds? the (available |model'?s? )?(context|maximum)|prompt is too long|longer than the maximum",
    re.IGNORECASE,
)
_TOKEN_ID = re.compile(r"token_id:(\d+)")
_FINISH: Mapping[str, Literal["stop", "length"]] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "length": "length",
    "max_tokens": "length",
}


def messages_of(messages: tuple[Message, ...], *, images: bool = True) -> list[dict[str, Any]]:
    """Return messages with the original image bytes as data URLs; a message of one text is that text."""

    def content(message: Message) -> str | list[dict[str, Any]]:
        parts = [part for part in message.parts if images or not isinstance(part, ImagePart)]
        if len(parts) == 1 and not isinstance(parts[0], ImagePart):
            return parts[0].text
        return [_image(part) if isinstance(part, ImagePart) else {"type": "text", "text": part.text} for part in parts]

    return [{"role": message.role, "content": content(message)} for message in messages]


def sampling_fields(sampling: Sampling, seed: int) -> dict[str, Any]:
    """Return every sampling field, explicit, under the names that servers have for it."""
    penalty = sampling.repetition_penalty or 1.0
    return {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "seed": seed,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "repetition_penalty": penalty,  # vLLM, SGLang, mlx-vlm
        "repetition_context_size": REPEAT_WINDOW,
        "repeat_penalty": penalty,  # llama.cpp, LM Studio
        "repeat_last_n": REPEAT_WINDOW,
    }


def chat_request(model: str, prompt: Prompt, refused: Collection[str], budget_field: str) -> dict[str, Any]:
    """Return the body for a prompt, without the fields that the server refuses."""
    thinks = prompt.thinking == "on"
    fields: dict[str, Any] = {
        **sampling_fields(prompt.sampling, prompt.seed),
        **(
            {}
            if prompt.thinking == "default"
            else {"chat_template_kwargs": {"enable_thinking": thinks}, "enable_thinking": thinks}
        ),
        **({"logprobs": True, "top_logprobs": prompt.top_logprobs} if prompt.top_logprobs else {}),
    }
    return {
        "model": model,
        "messages": messages_of(prompt.messages),
        budget_field: prompt.max_tokens,
        **{name: value for name, value in fields.items() if name not in refused},
    }


def first_choice(reply: Mapping[str, Any], hide: Hide) -> Mapping[str, Any]:
    """Return the answer of a reply; what an error repeats of it passes through `hide`.

    Raises:
        BackendError: when there is none, or it is a call of a tool, or a filter withheld it.
    """
    if reply.get("error"):
        raise failure(reply, 200, hide)
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise BackendError(f"a reply without an answer: {hide(str(dict(reply)))[:200]}")
    if choice["message"].get("tool_calls") or choice.get("finish_reason") == "content_filter":
        raise BackendError(
            f"no answer but {hide(str(choice.get('finish_reason')))}: the server made a tool call or withheld it"
        )
    return choice


def text_of(choice: Mapping[str, Any]) -> str:
    """Return the whole output; a thought that the server cut out is put back with marks around it."""
    message = choice["message"]
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    thought = message.get("reasoning_content") or message.get("reasoning")
    if not isinstance(thought, str) or not thought:
        return str(content)
    is_cut = not content and choice.get("finish_reason") == "length"
    return THOUGHT[0] + thought + ("" if is_cut else THOUGHT[1] + str(content))


def finish_of(choice: Mapping[str, Any]) -> Literal["stop", "length"] | None:
    """Return why the answer ended; None where the server does not say it in words known here."""
    return _FINISH.get(str(choice.get("finish_reason")).lower())


def tokens_of(choice: Mapping[str, Any]) -> tuple[Token, ...]:
    """Return tokens with log-probabilities; empty where the server names no token ids, as texts are not unique."""
    entries = (choice.get("logprobs") or {}).get("content") or ()
    found = []
    for entry in entries:
        ids = [_token_id(other) for other in (entry, *(entry.get("top_logprobs") or ()))]
        if None in ids:
            return ()
        top = tuple((_token_id(o) or 0, float(o["logprob"])) for o in entry.get("top_logprobs") or ())
        found.append(Token(id=ids[0] or 0, logprob=float(entry["logprob"]), top=top))
    return tuple(found)


def count(reply: Mapping[str, Any], name: str) -> int | None:
    """Return a count of `usage`; None where the server gives none."""
    value = (reply.get("usage") or {}).get(name)
    return int(value) if isinstance(value, int | float) else None


def failure(reply: Any, status: int, hide: Hide) -> BackendError:
    """Return the error that a reply tells of, its words passed through `hide`."""
    error = reply.get("error", reply.get("detail", reply)) if isinstance(reply, dict) else reply
    message = error.get("message", error) if isinstance(error, dict) else error
    kind = ContextOverflow if _OVERFLOW.search(str(error)) else BackendError
    return kind(f"the server answered {status}: {hide(str(message))[:500]}")


def _token_id(entry: Mapping[str, Any]) -> int | None:
    if isinstance(entry.get("id"), int):
        return int(entry["id"])
    match = _TOKEN_ID.fullmatch(str(entry.get("token")))
    return int(match[1]) if match else None


def _image(part: ImagePart) -> dict[str, Any]:
    content = image_bytes(part.image)
    url = f"data:{mime_type(content)};base64,{base64.b64encode(content).decode('ascii')}"
    return {"type": "image_url", "image_url": {"url": url}}
