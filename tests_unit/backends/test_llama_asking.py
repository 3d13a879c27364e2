"""From a server's reply to an Output: what is counted, without a server."""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from bakeoff.backends.llama.asking import Asker
from bakeoff.backends.llama.client import LlamaClient
from bakeoff.backends.llama.prompts import Ready
from bakeoff.backends.llama.slots import Job, Slot
from bakeoff.backends.llama.start import Manner
from bakeoff.records import Message, Prompt, Text

PROMPT = Prompt(
    sample_id="s", messages=(Message(role="user", parts=(Text(text="?"),)),), max_tokens=32, seed=0, thinking="on"
)


class Server:
    """Says `text`; a token of it is a word."""

    marker = "<image>"
    slot_tokens = 256

    def __init__(self, text: str) -> None:
        self._text = text
        self.paths: list[str] = []

    def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        self.paths.append(path)
        if path == "/tokenize":
            return {"tokens": list(range(len(body["content"].split())))}
        said = len(self._text.split())
        return {"content": self._text, "tokens_evaluated": 4, "tokens_predicted": said, "stop_type": "eos"}


@pytest.mark.parametrize(
    ("text", "thinking", "paths"),
    [
        ("seven", 0, ["/completion"]),
        ("<think> three and four </think> seven", 5, ["/completion", "/tokenize"]),
        ("<think> three and", 3, ["/completion", "/tokenize"]),
    ],
)
def test_tokens_of_thoughts_are_counted_by_the_servers_own_tokenizer(
    text: str, thinking: int, paths: list[str]
) -> None:
    server = Server(text)
    asker = Asker(
        cast("LlamaClient", server),
        Manner(endpoint="completion"),
        is_followed=lambda _: False,
        peak_memory=lambda: None,
    )
    ready = Ready(pieces=("?",), images=(), ids=(1, 2))
    output = asker.answer(PROMPT, 0.0, Slot(0), Job(lambda _slot, _job: None, ready=lambda: ready))
    assert (output.thinking_tokens, output.completion_tokens) == (thinking, len(text.split()))
    assert server.paths == paths
