"""Servers on this machine are reached whatever proxy the environment names; nothing listens on its port here."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import pytest

from bakeoff.backends import Settings, open_backend
from bakeoff.backends.llama.client import LlamaClient
from bakeoff.backends.llama.server import is_healthy
from bakeoff.backends.loopback import is_loopback, session_for
from bakeoff.models import resolve
from tests_unit.backends.conftest import text_prompt
from tests_unit.doubles.openai_server import serve

PROXY = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, PROXY)
        monkeypatch.setenv(name.upper(), PROXY)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


class Llama(BaseHTTPRequestHandler):
    """Answers everything with the same few properties."""

    def do_GET(self) -> None:
        content = json.dumps({"total_slots": 2, "content": "yes"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the method's own parameter
        """Keep quiet."""


@pytest.fixture
def llama() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Llama) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_a_llama_cpp_server_is_reached_past_the_proxy(llama: str) -> None:
    assert is_healthy(llama)
    client = LlamaClient(llama, timeout_s=30)
    assert client.total_slots == 2
    assert client.post("/completion", {})["content"] == "yes"


def test_an_openai_server_is_reached_past_the_proxy(settings: Callable[..., Settings]) -> None:
    with serve() as server:
        backend = open_backend(resolve(f"openai:{server.url}#m"), settings(needs_images=False))
        assert backend.submit(text_prompt("hi")).result().text == "yes it is red indeed"
        assert backend.identity["served"]["max_model_len"] == 4096
        backend.restart()
        backend.close()


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "[::1]"])
def test_this_machine_is_known_by_all_its_names(host: str) -> None:
    assert is_loopback(f"http://{host}:8000/v1")
    sent = session_for(f"http://{host}:8000/v1").merge_environment_settings(f"http://{host}:8000", {}, None, None, None)
    assert not sent["proxies"]


@pytest.mark.parametrize("host", ["gpu-box", "10.0.0.1", "localhost.example.org", "127.example.org"])
def test_another_machine_is_asked_through_the_proxy(host: str) -> None:
    assert not is_loopback(f"http://{host}:8000/v1")
    sent = session_for(f"http://{host}:8000/v1").merge_environment_settings(f"http://{host}:8000", {}, None, None, None)
    assert sent["proxies"]["http"] == PROXY


def test_certificates_that_the_environment_names_are_still_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/made/up.pem")
    assert session_for("https://localhost:8000/v1").verify == "/made/up.pem"


def test_a_connection_is_asked_in_the_middle_of_a_wait_whether_it_is_still_there() -> None:
    with serve() as double, session_for(double.url).get(f"{double.url}/models", stream=True, timeout=60) as answer:
        own: socket.socket = cast("Any", answer.raw)._connection.sock
        assert own.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT) == 4
        assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) == 10
        assert own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY), "what urllib3 asks for by itself is kept"
