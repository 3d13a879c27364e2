"""Who may talk to the app: checked before any page or handler sees a request.

The dangers are another web page in the same browser (cross-site requests, DNS rebinding, framing), a report that holds
what a model wrote, and, beyond loopback, other people. So: the Host must be ours, a request that another site caused
is refused, a change needs our token in a header and JSON in its body, bodies are bounded in size and time, and every
answer forbids framing and foreign content. Files of runs are served under an address that cannot be guessed and in a
sandbox of their own, so that what they do stays there.
"""

import asyncio
import hmac
import ipaddress
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http.cookies import SimpleCookie
from typing import Any

import msgspec

from bakeoff.web.problems import Refusal

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "bakeoff-ui"
MOST_BODY = 1_000_000
MOST_IMAGE_BODY = 32_000_000
_BODY_TIMEOUT_S = 30.0
_LONGEST_NAME = 250  # bytes; file systems take 255
_SAFE = frozenset({"GET", "HEAD"})
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
FILE_POLICY = "sandbox allow-scripts; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """Where the app listens and what it asks for. `link_token` is None where no one but this machine can reach it.

    `change_token` goes with every change; `file_key` is part of the address of run files; `session` is the cookie's.
    """

    host: str
    port: int
    is_loopback: bool
    names: frozenset[str]
    link_token: str | None
    change_token: str
    file_key: str
    session: str
    scheme: str = "http"

    def is_ours(self, host: str) -> bool:
        """Return whether a Host header can be meant for this app: a name of ours, never one that DNS could rebind."""
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if not port.isdigit():
            name, port = host, {"http": "80", "https": "443"}[self.scheme]
        name = name.strip("[]").lower()
        return port == str(self.port) and (name in self.names or (not self.is_loopback and _is_address(name)))


def make_access(host: str, port: int, *, token: bool, names: tuple[str, ...] = (), scheme: str = "http") -> Access:
    """Return the rules for listening on `host`; beyond loopback a token is always asked for."""
    is_loopback = _is_loopback(host)
    known = {"localhost", "127.0.0.1", "::1"} if is_loopback else {host.lower(), socket.gethostname().lower()}
    return Access(
        host=host,
        port=port,
        is_loopback=is_loopback,
        names=frozenset(known | {name.lower() for name in names}),
        link_token=None if is_loopback and not token else secrets.token_urlsafe(24),
        change_token=secrets.token_urlsafe(24),
        file_key=secrets.token_urlsafe(16),
        session=secrets.token_urlsafe(24),
        scheme=scheme,
    )


def _is_loopback(host: str) -> bool:
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """The checks around an app."""

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on with its body read and its answer's headers completed."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # no other protocol is spoken: a websocket's handshake is closed unanswered
        path = str(scope["path"])
        is_file = path.startswith(f"/files/{self._access.file_key}/")
        send = _with_headers(send, FILE_POLICY if is_file else PAGE_POLICY, is_file=is_file)
        try:
            self._check(scope, is_file=is_file)
            receive = await _read_body(scope, receive)
        except Refusal as refusal:
            await refuse(send, refusal)
            return
        await self._app(scope, receive, send)

    def _check(self, scope: Scope, *, is_file: bool) -> None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        access, path, method = self._access, str(scope["path"]), scope["method"]
        if "\0" in path or max(len(part.encode("utf-8", "replace")) for part in path.split("/")) > _LONGEST_NAME:
            raise Refusal(404, "no address of this app has such a name", "address")
        if not access.is_ours(headers.get("host", "")):
            raise Refusal(421, "this address is not the app's own; open the link that `bakeoff ui` printed", "host")
        if is_file and method in _SAFE:
            return  # the address is the permission; a sandboxed page has no origin to show
        if access.link_token is not None and path != "/enter" and not self._has_session(headers):
            raise Refusal(401, "open the link that `bakeoff ui` printed; it lets this browser in", "session")
        origin = headers.get("origin")
        own = f"{access.scheme}://{headers['host']}"
        if origin is not None and origin.lower() != own.lower():
            raise Refusal(403, "requests of other sites are refused", "origin")
        site = headers.get("sec-fetch-site", "none")
        is_visit = method in _SAFE and headers.get("sec-fetch-mode") == "navigate" and not path.startswith("/api/")
        if site not in {"same-origin", "none"} and not is_visit:
            raise Refusal(403, "requests of other sites are refused", "origin")
        if method not in _SAFE:
            self._check_change(headers)

    def _check_change(self, headers: Mapping[str, str]) -> None:
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refusal(415, "send JSON, with Content-Type: application/json", "type")
        if not hmac.compare_digest(headers.get("x-bakeoff-token", "").encode(), self._access.change_token.encode()):
            raise Refusal(403, "the page is from before the app was restarted; load it again", "token")

    def _has_session(self, headers: Mapping[str, str]) -> bool:
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except Exception:  # noqa: BLE001 -- whatever a client sends is no session
            return False
        found = cookies.get(COOKIE)
        return found is not None and hmac.compare_digest(found.value.encode(), self._access.session.encode())


async def _read_body(scope: Scope, receive: Receive) -> Receive:
    """Read the whole body within bounds of size and time, and return a receiver that gives it at once."""
    if scope["method"] in _SAFE:
        return receive
    most = MOST_IMAGE_BODY if scope["path"] == "/api/cases/image" else MOST_BODY
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_TIMEOUT_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refusal(400, "the request broke off", "body")
                body += message.get("body", b"")
                if len(body) > most:
                    raise Refusal(413, f"the request is larger than {most:,} bytes", "size")
                if not message.get("more_body"):
                    break
    except TimeoutError as error:
        raise Refusal(408, "the request took too long to arrive", "time") from error
    whole = {"type": "http.request", "body": bytes(body), "more_body": False}
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return whole

    return replay


def _with_headers(send: Send, policy: str, *, is_file: bool) -> Send:
    own = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "x-frame-options": "SAMEORIGIN" if is_file else "DENY",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "cross-origin" if is_file else "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
        "cache-control": "no-store",
    }
    if is_file:  # the sandboxed page has no origin of its own, and its scripts are asked for without credentials
        own["access-control-allow-origin"] = "null"

    async def complete(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [(name, value) for name, value in message.get("headers", ()) if name.decode().lower() not in own]
            message = {**message, "headers": [*kept, *((n.encode(), v.encode()) for n, v in own.items())]}
        await send(message)

    return complete


async def refuse(send: Send, refusal: Refusal) -> None:
    """Answer with the refusal as JSON."""
    body = msgspec.json.encode({"error": refusal.message, "code": refusal.code})
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.status in {408, 413}:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
