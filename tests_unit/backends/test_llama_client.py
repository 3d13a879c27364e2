"""How the answers of a server become errors, from a server that answers what it is told."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from bakeoff.backends.llama.client import LlamaClient
from bakeoff.errors import BackendDied, BackendError, ContextOverflow


class Handler(BaseHTTPRequestHandler):
    """Answers every POST with `reply`; at `/props` it is a server with two slots."""

    reply: ClassVar[tuple[int, Any]] = (200, {})

    def do_GET(self) -> None:
        self._send(200, {"total_slots": 2, "media_marker": "<m>", "default_generation_settings": {"n_ctx": 512}})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send(*self.reply)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the method's own parameter
        """Keep quiet."""

    def _send(self, status: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def client() -> Iterator[LlamaClient]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield LlamaClient(f"http://127.0.0.1:{server.server_address[1]}", timeout_s=30)
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (503, {"error": {"message": "Loading model", "code": 503}}, BackendDied),
        (400, {"error": {"message": "request exceeds the available context size"}}, ContextOverflow),
        (500, {"error": {"message": "odd output"}}, BackendError),
        (500, {"error": "words alone"}, BackendError),
    ],
)
def test_each_refusal_has_its_error(
    client: LlamaClient, monkeypatch: pytest.MonkeyPatch, status: int, body: dict[str, Any], kind: type[BackendError]
) -> None:
    """A server that loads its model again after a crash is one that died: the prompt is asked again, not recorded."""
    monkeypatch.setattr(Handler, "reply", (status, body))
    with pytest.raises(BackendError) as caught:
        client.post("/completion", {})
    assert type(caught.value) is kind


def test_the_server_says_how_many_slots_it_has_and_what_they_hold(client: LlamaClient) -> None:
    assert (client.total_slots, client.slot_tokens, client.marker) == (2, 512, "<m>")


def test_waiting_for_a_server_ends_when_there_is_no_hope(client: LlamaClient) -> None:
    with pytest.raises(BackendDied, match="did not come back"):
        client.wait_until_back(lambda: True)
