"""Data files that a page loads as scripts: deterministic bytes, safe in any script, cut into pages."""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bakeoff.files import write_atomically
from bakeoff.tracks.track import SAFE_ID

MOST_ITEMS = 200
MOST_BYTES = 1_000_000
"""A page ends with the item that fills it; only an item that is larger by itself makes a larger page."""


class DataFiles:
    """The `.js` files below one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: set[Path] = set()

    def write(self, name: str, content: Mapping[str, Any]) -> None:
        """Write one file."""
        self.write_text(name, script_json(content))

    def write_text(self, name: str, content: str) -> None:
        """Write one file from JSON that `script_json` made."""
        path = self._folder / name
        write_atomically(path, f"bakeoffSamples({content});\n", lasting=False)
        self._written.add(path)

    def remove_others(self) -> None:
        """Remove data files of an earlier report, and folders of tracks that hold nothing else."""
        for pattern in ("*/index.js", "*/page-*.js"):
            for path in sorted(self._folder.glob(pattern)):
                if path not in self._written:
                    path.unlink()
                    if not any(path.parent.iterdir()):
                        shutil.rmtree(path.parent)


def script_json(value: Any) -> str:
    """Return `value` as ASCII JSON that no HTML or script reads as anything else, whatever texts it holds."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def in_pages(files: DataFiles, folder: str, items: Iterable[Mapping[str, Any]]) -> list[int]:
    """Write `items` in order as pages of `folder`; return the position at which each page starts."""
    starts: list[int] = []
    page: list[str] = []
    size = position = 0

    def end_page() -> None:
        nonlocal size
        number = len(starts)
        joined = ",".join(page)
        head = f'{{"kind":"page","folder":{script_json(folder)},"page":{number}'
        files.write_text(f"{folder}/page-{number:03}.js", f'{head},"items":[{joined}]}}')
        starts.append(position - len(page))
        page.clear()
        size = 0

    for item in items:
        text = script_json(item)
        if page and (len(page) >= MOST_ITEMS or size + len(text) > MOST_BYTES):
            end_page()
        page.append(text)
        size += len(text)
        position += 1
    if page:
        end_page()
    return starts


def folder_names(tracks: Iterable[str]) -> dict[str, str]:
    """Return a folder name for each track: its own where that is safe on every file system, else its number."""
    names: dict[str, str] = {}
    taken = {"thumbnails", "index.js"}
    for number, track in enumerate(tracks):
        name = track if SAFE_ID.fullmatch(track) and track.lower() not in taken else f"track-{number}"
        taken.add(name.lower())
        names[track] = name
    return names
