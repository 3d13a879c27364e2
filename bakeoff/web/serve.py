"""`bakeoff ui`: open the port, say where, open the browser, serve."""

import contextlib
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import uvicorn

from bakeoff.errors import UsageProblem
from bakeoff.web.app import make_app
from bakeoff.web.guard import Access, App, make_access
from bakeoff.web.jobs import Jobs
from bakeoff.web.place import Place


class Listening(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked of the server; `names` are further host names that it answers to."""

    host: str = "127.0.0.1"
    port: int = 8765
    token: bool = False
    names: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None
    patience_s: float = 60.0


def serve(place: Place, asked: Listening, *, opens_browser: bool, say: Callable[[str], None]) -> None:
    """Serve until interrupted; runs that were started go on.

    Raises:
        UsageProblem: when the port is taken or the certificate cannot be read.
    """
    if bool(asked.certificate) != bool(asked.key):
        raise UsageProblem("--certificate and --key go together: name both files, or neither")
    scheme = "https" if asked.certificate else "http"
    with _open_socket(asked) as listener:
        port = listener.getsockname()[1]
        access = make_access(asked.host, port, token=asked.token, names=asked.names, scheme=scheme)
        link = address(access)
        config = make_config(make_app(place, access, Jobs(place, asked.patience_s)), asked)
        say(f"bakeoff ui: {link}")
        if access.link_token is not None:
            say("The link lets a browser in; keep it to yourself. Without it every page is refused.")
            if scheme == "http" and not access.is_loopback:
                say("The connection is not encrypted: see docs/web-app.md for --certificate, or use an SSH tunnel.")
        say("Stop with Ctrl-C; a run that is going on goes on.")
        if opens_browser:
            threading.Timer(0.5, webbrowser.open, [link]).start()
        try:
            uvicorn.Server(config).run(sockets=[listener])
        except OSError as error:
            raise UsageProblem(f"cannot serve: {error}") from error


def make_config(app: App, asked: Listening) -> uvicorn.Config:
    """Return how uvicorn serves the app."""
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=2,
        limit_concurrency=512,
        h11_max_incomplete_event_size=64_000,
        ssl_certfile=None if asked.certificate is None else str(asked.certificate),
        ssl_keyfile=None if asked.key is None else str(asked.key),
    )


def address(access: Access) -> str:
    """Return the link to open."""
    host = f"[{access.host}]" if ":" in access.host else access.host
    if access.host in {"0.0.0.0", "::"}:  # noqa: S104 -- compared, not bound
        host = socket.gethostname()
    base = f"{access.scheme}://{host}:{access.port}/"
    return base if access.link_token is None else f"{base}enter?token={access.link_token}"


@contextlib.contextmanager
def _open_socket(asked: Listening) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in asked.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((asked.host, asked.port))
        listener.listen(512)
        listener.set_inheritable(False)
        yield listener
    except OSError as error:
        raise UsageProblem(
            f"cannot listen on {asked.host}:{asked.port}: {error.strerror or error}.\n"
            f"Is another `bakeoff ui` running? Take another port with: bakeoff ui --port {asked.port + 1}"
        ) from error
    finally:
        listener.close()
