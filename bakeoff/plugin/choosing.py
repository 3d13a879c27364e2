"""What a command line itself says of the samples and tracks that it means."""

import functools
import re
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression  # pytest has no public way to read what -k and -m say

_compiled = functools.cache(Expression.compile)


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


def chooses_sample(config: pytest.Config, track: str, case_id: str) -> bool:
    """Return whether `-k` and `-m` of this command line choose a sample before it is an item.

    Words of `-k` are looked for, as pytest does, in all that its item will be called; an expression that pytest cannot
    read chooses everything, because pytest refuses it later in its own words.

    Args:
        config: the session's.
        track: the sample's track, whose module is called after it.
        case_id: `<arm>-<sample id>`.
    """
    names = (f"test_{track}.py", f"test_sample[{case_id}]".lower(), track)
    keyword, mark = config.option.keyword, config.option.markexpr
    try:
        is_named = not keyword or _compiled(keyword).evaluate(
            lambda word, /, **_: any(word.lower() in name for name in names)
        )
        return is_named and (not mark or _compiled(mark).evaluate(lambda word, /, **_: word == track))
    except SyntaxError:
        return True
