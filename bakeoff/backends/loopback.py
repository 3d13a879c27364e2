"""Addresses of this machine, and sessions for them: a proxy of the environment stands in no way there."""

import ipaddress
import os
from urllib.parse import urlsplit

import requests


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
    if is_loopback(url):
        session.trust_env = False
        session.verify = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True
    return session
