"""Which benchmark modules a command line names, found without importing or collecting anything.

pytest's controller never collects and a usage error must come before collection, so the question "will this session
run benchmarks, and of which tracks?" is answered from the files' text.
"""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SPEED = "speed"
"""What a module assigns to `TRACK` when it times arms instead of asking them a benchmark's questions."""

_SKIPPED = frozenset({"node_modules", "build", "dist", "venv"})


def asks_for_speed(config: pytest.Config) -> bool:
    """Return whether the command line names the speed test: its file, or the word in `-m` or `-k`, and not `not`."""
    if any(
        re.search(rf"(?<!not )\b{SPEED}\b", str(config.getoption(name, "") or "")) for name in ("keyword", "markexpr")
    ):
        return True
    paths = (Path(config.invocation_params.dir, argument.partition("::")[0]) for argument in config.args)
    return any(path.is_file() and declared_track(path) == SPEED for path in paths)


def bench_tracks(config: pytest.Config) -> tuple[str, ...]:
    """Return the `TRACK` of every benchmark module that the arguments reach, in order of discovery."""
    found: dict[str, None] = {}
    for argument in config.args:
        path = Path(config.invocation_params.dir, argument.partition("::")[0])
        for module in _modules(path):
            track = declared_track(module)
            if track is not None and (track != SPEED or asks_for_speed(config)):
                found[track] = None
    return tuple(found)


def declared_track(module: Path) -> str | None:
    """Return the string that a module assigns to `TRACK` at its top level, None when it does not."""
    text = module.read_text("utf-8", errors="replace")
    if "TRACK" not in text:
        return None
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return None  # pytest's own collection reports it with the place
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id="TRACK")], value=ast.Constant(value=str(track))):
                return track
    return None


def _modules(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(f for f in folders if f not in _SKIPPED and not f.startswith("."))
        for name in sorted(files):
            if name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py")):
                yield Path(folder, name)
