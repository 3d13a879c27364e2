"""Which endpoint is asked, and whether a primer is needed, found out from a server that is scripted."""

from collections.abc import Mapping
from typing import Any

import pytest

from bakeoff.backends.llama.chat import CHAT, completion_form
from bakeoff.backends.llama.start import Manner, find_manner
from bakeoff.errors import BackendError

MARKER = "<m>"


class Server:
    """Answers as llama.cpp does: an image takes 64 tokens, every other token is a character."""

    def __init__(self, *, chat_adds: int = 0, goes_back: bool = True, counts: bool = True) -> None:
        self.paths: list[str] = []
        self._chat_adds = chat_adds
        self._goes_back = goes_back
        self._counts = counts

    def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        self.paths.append(path)
        if path == "/apply-template":
            return {"prompt": self._rendered(body)}
        if path == "/tokenize":
            return {"tokens": list(range(len(body["content"])))}
        if path == "/completion":
            prompt = body["prompt"]
            text = prompt if isinstance(prompt, str) else prompt["prompt_string"]
            seen = text.index(MARKER) + 64 if MARKER in text else 0
            cached = seen if body["cache_prompt"] and self._goes_back else 0
            return {"tokens_evaluated": self._tokens(text), "timings": {"cache_n": cached}}
        tokens = self._tokens(self._rendered(body)) + (self._chat_adds if MARKER in self._rendered(body) else 0)
        if path == CHAT:
            message = {"message": {"content": "x"}, "finish_reason": "length"}
            return {"choices": [message], "usage": {"prompt_tokens": tokens, "completion_tokens": 1}}
        if not self._counts:
            raise BackendError("404")
        return {"input_tokens": tokens}

    def _rendered(self, body: Mapping[str, Any]) -> str:
        parts = [part for message in body["messages"] for part in message["content"]]
        return "user: " + "".join(part.get("text", MARKER) for part in parts)

    def _tokens(self, text: str) -> int:
        return len(text.replace(MARKER, "")) + 64 * text.count(MARKER)


def manner(server: Server, *, has_images: bool = True, reuse: bool = True) -> Manner:
    return find_manner(server.post, MARKER, has_images=has_images, reuse=reuse, slot=0)


def test_equal_counts_let_the_rendered_text_be_sent() -> None:
    assert manner(Server()) == Manner(endpoint="completion", needs_primer=False)


def test_a_chat_endpoint_that_makes_other_tokens_of_an_image_is_asked_itself() -> None:
    assert manner(Server(chat_adds=1)) == Manner(endpoint="chat")


def test_without_images_only_text_is_compared() -> None:
    server = Server(chat_adds=1)
    assert manner(server, has_images=False) == Manner(endpoint="completion")
    assert server.paths.count("/completion") == 1


def test_a_model_that_cannot_go_back_to_an_image_needs_a_primer() -> None:
    assert manner(Server(goes_back=False)).needs_primer


def test_without_reuse_nobody_asks_whether_it_could_go_back() -> None:
    server = Server(goes_back=False)
    assert manner(server, reuse=False) == Manner(endpoint="completion")
    assert server.paths.count("/completion") == 2


@pytest.mark.parametrize("adds", [0, 1])
def test_a_server_that_cannot_count_a_prompt_answers_it(adds: int) -> None:
    expected = "chat" if adds else "completion"
    assert manner(Server(chat_adds=adds, counts=False), reuse=False).endpoint == expected


def test_a_chat_reply_without_a_choice_is_an_error() -> None:
    with pytest.raises(BackendError, match="without a choice"):
        completion_form({"choices": []})
