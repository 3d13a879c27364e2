"""What a command line itself says of the samples and tracks that it means."""

import re
from pathlib import Path

import pytest


def selects_samples(config: pytest.Config) -> bool:
    """Return whether this command line itself says which samples it means."""
    return bool(config.option.keyword or config.option.markexpr or any("::" in argument for argument in config.args))


def chooses_among_items(config: pytest.Config) -> bool:
    """Return whether this command line leaves out items once they are collected, for reasons of its own."""
    return selects_samples(config) or any(config.getoption(name, None) for name in ("lf", "failedfirst", "deselect"))


def selects_tracks(config: pytest.Config) -> bool:
    """Return whether this command line chooses among tracks: by selecting samples, or by naming a test module."""
    return selects_samples(config) or any(argument.endswith(".py") for argument in config.args)


def names_track(config: pytest.Config, track: str, module: str) -> bool:
    """Return whether this command line names a track: by its module's file, or by a word of `-k` or `-m`.

    `-k "not blink"` selects every other track and names none of them.

    Args:
        config: the session's.
        track: the track's name.
        module: the file name of the module that holds its test.
    """
    files = {Path(argument.partition("::")[0]).name for argument in config.args}
    words = {word.lower() for word in re.findall(r"[^\s()]+", config.option.keyword or "")} - {"and", "or", "not"}
    marks = re.findall(r"\w+", config.option.markexpr or "")
    return module in files or track in marks or any(word in module.lower() or word in track for word in words)
