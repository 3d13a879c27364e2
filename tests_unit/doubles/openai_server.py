"""An OpenAI-compatible server that answers from a rule and misbehaves on command, on a port of its own."""

import http.server
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

Script = Callable[[Mapping[str, Any]], "Act | None"]
"""Given a request's body, what to do instead of answering; None answers."""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """What to do to a request. `cut` closes the connection without an answer; `hold` waits until the server ends."""

    status: int = 200
    body: str = "{}"
    headers: Mapping[str, str] = {}
    cut: bool = False
    hold: bool = False


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    body: Mapping[str, Any]
    authorization: str | None


class OpenAIDouble:
    """What the server is like, and what it was asked; fields may be changed while it runs."""

    def __init__(self) -> None:
        self.url = ""
        self.model = "m"
        self.seen: list[Seen] = []
        self.script: Script = lambda _: None
        self.refuses: tuple[str, ...] = ()
        self.sees_images = True
        self.max_images: int | None = None
        self.tells_usage = True
        self.uncounted = 0
        self.logprobs: str = "ids"
        self.finish: str | None = None
        self.told: Mapping[str, Any] = {}
        self.honours: tuple[str, ...] = ("seed", "top_k", "top_p", "min_p")
        self.message: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
        self.holding = threading.Event()
        self.ending = threading.Event()

    @property
    def bodies(self) -> list[Mapping[str, Any]]:
        return [seen.body for seen in self.seen]

    def answer(self, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        bad = next((name for name in self.refuses if name in body), None)
        if bad:
            return 400, {"error": {"message": f"Unsupported parameter: '{bad}'", "param": bad}}
        parts = [p for m in body["messages"] if isinstance(m["content"], list) for p in m["content"]]
        images = sum(part["type"] == "image_url" for part in parts)
        if self.max_images is not None and images > self.max_images:
            return 400, {"error": {"message": f"At most {self.max_images} image(s) may be provided"}}
        budget = body.get("max_tokens", body.get("max_completion_tokens", 99))
        words = self._words(body)[:budget]
        is_cut = len(words) == budget
        message = self.message(body) if self.message else {"role": "assistant", "content": " ".join(words)}
        finish = self.finish or ("length" if is_cut else "stop")
        choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": finish}
        if body.get("logprobs") and self.logprobs != "none":
            choice["logprobs"] = {"content": [self._token(number, body) for number in range(len(words))]}
        reply: dict[str, Any] = {"model": self.model, "choices": [choice]}
        if self.tells_usage:
            prompt = 10 + (7 * images if self.sees_images else 0)
            reply["usage"] = {"prompt_tokens": prompt, "completion_tokens": len(words) - self.uncounted}
        return 200, reply

    def _words(self, body: Mapping[str, Any]) -> list[str]:
        """Ten words that depend on the seed where the sampling leaves a choice, and five to everything else."""
        narrow = {"top_k": body.get("top_k") == 1, "top_p": body.get("top_p", 1) < 0.1, "min_p": body.get("min_p") == 1}
        is_greedy = not body.get("temperature", 0) > 1 or any(narrow[n] for n in narrow if n in self.honours)
        if is_greedy:
            return ["yes", "it", "is", "red", "indeed"]
        return [f"w{body['seed'] if 'seed' in self.honours else len(self.seen)}"] * 10

    def _token(self, number: int, body: Mapping[str, Any]) -> dict[str, Any]:
        if self.logprobs == "ids":
            return {"id": number, "token": "x", "logprob": -0.5, "top_logprobs": [{"id": number, "logprob": -0.5}]}
        as_ids = self.logprobs == "vllm" and body.get("return_tokens_as_token_ids")
        name = f"token_id:{number}" if as_ids else "x"
        return {"token": name, "logprob": -0.5, "top_logprobs": [{"token": name, "logprob": -0.5}]}


class _Handler(http.server.BaseHTTPRequestHandler):
    double: OpenAIDouble
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        known = {
            "/v1/models": {"data": [{"id": self.double.model, "max_model_len": 4096, **self.double.told}]},
            "/version": {"version": "0.99"},
        }
        found = known.get(self.path)
        self._reply(200 if found else 404, json.dumps(found or {}), {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.double.seen.append(Seen(body=body, authorization=self.headers.get("Authorization")))
        act = self.double.script(body)
        if act is None:
            status, reply = self.double.answer(body)
            self._reply(status, json.dumps(reply), {})
        elif act.hold:
            self.double.holding.set()
            self.double.ending.wait()
        elif act.cut:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
        else:
            self._reply(act.status, act.body, act.headers)

    def log_message(self, *_: object) -> None:
        pass

    def _reply(self, status: int, text: str, headers: Mapping[str, str]) -> None:
        content = text.encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is what some tests are about."""


@contextmanager
def serve() -> Iterator[OpenAIDouble]:
    double = OpenAIDouble()
    handler = type("Handler", (_Handler,), {"double": double})
    with _Server(("127.0.0.1", 0), handler) as server:
        double.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield double
        finally:
            double.ending.set()
            server.shutdown()
            thread.join()


def failing(*acts: Act) -> Script:
    """Return a script that does these to the next requests, one each, and then answers."""
    left = list(acts)
    return lambda _: left.pop(0) if left else None
