"""What stands behind `openai:`: one or several base addresses, and the name of the model they serve."""

from typing import NamedTuple
from urllib.parse import urlsplit

from bakeoff.errors import UsageProblem

FORM = "openai:<base url>[|<base url>…]#<model name>"


class Place(NamedTuple):
    """Base addresses without a slash at their end, and the model's name as the servers know it."""

    urls: tuple[str, ...]
    model: str


def place_of(location: str) -> Place:
    """Read `<base url>[|<base url>…]#<model name>`.

    Raises:
        UsageProblem: when a part is missing, or an address carries a user, a password or a query, which would end up
            in records.
    """
    addresses, _, model = location.partition("#")
    urls = tuple(dict.fromkeys(url.strip().rstrip("/") for url in addresses.split("|") if url.strip()))
    if not urls or not model.strip():
        raise UsageProblem(f"openai:{_shown(location)}: write {FORM}, such as openai:http://127.0.0.1:8000/v1#my-model")
    for url in urls:
        address = urlsplit(url)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise UsageProblem(f"openai: {_shown(url)} is no http or https address; write {FORM}")
        if "@" in address.netloc or address.query:
            raise UsageProblem(
                f"openai: the address of {address.hostname} carries a user, a password or a query, which would be "
                "written into records. Put the key into the environment: BAKEOFF_API_KEY=… uv run pytest …"
            )
    return Place(urls, model.strip())


def _shown(text: str) -> str:
    """Return a text that may hold a password without what stands before its last @."""
    return "…" + text[text.rindex("@") :] if "@" in text.partition("#")[0] else text
