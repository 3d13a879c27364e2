"""The pages: shells with their words, filled by scripts from the JSON of the same address."""

from pathlib import Path
from typing import Any

import jinja2

from bakeoff import __version__
from bakeoff.web.guard import Access

_TEMPLATES = Path(__file__).parent / "templates"
PLACES = (
    ("new", "/", "New run"),
    ("live", "/live", "Live"),
    ("runs", "/runs", "Runs"),
    ("compare", "/compare", "Compare"),
    ("cases", "/cases", "Custom cases"),
)


class Pages:
    """Renders pages for one start of the app."""

    def __init__(self, access: Access) -> None:
        self._files = f"/files/{access.file_key}"
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_TEMPLATES),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, name: str, **more: Any) -> str:
        """Return the page `name`."""
        template = self._environment.get_template(f"{name}.html.j2")
        return template.render(page=name, places=PLACES, files=self._files, version=__version__, **more)
