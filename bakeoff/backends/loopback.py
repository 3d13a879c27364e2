"""Addresses of this machine, and sessions for them: a proxy of the environment stands in no way there."""

import ipaddress
import os
import socket
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection

_IDLE_S, _EVERY_S, _PROBES = 20, 10, 4
_IDLE = getattr(socket, "TCP_KEEPIDLE", None) or getattr(socket, "TCP_KEEPALIVE", None)  # the second is macOS's name
_ASKING = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(((socket.IPPROTO_TCP, _IDLE, _IDLE_S),) if _IDLE is not None else ()),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _EVERY_S),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES),
)


class WatchedConnections(HTTPAdapter):
    """Connections that end in an error a minute after the way to the server is cut, however long an answer may take.

    Asked by the system in the middle of a wait; a server that computes has a system that answers.
    """

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **more: Any) -> None:  # noqa: FBT001, FBT002 -- as the base class has it
        """Open connections with these options."""
        options = [*HTTPConnection.default_socket_options, *_ASKING]
        super().init_poolmanager(connections, maxsize, block, socket_options=options, **more)


def is_loopback(url: str) -> bool:
    """Return whether an address is one of this machine's own: `localhost`, 127.0.0.0/8 or `::1`."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def session_for(url: str) -> requests.Session:
    """Return a session for requests to the host of `url`; not thread-safe, as no session of requests is.

    HTTP_PROXY, HTTPS_PROXY and ALL_PROXY hold for other machines only: no proxy can reach a server on this one.
    """
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, WatchedConnections())
    if is_loopback(url):
        session.trust_env = False
        session.verify = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True
    return session
