"""Which folder's `reports` takes a run: that of the tests, also where an option's value led pytest elsewhere.

pytest looks for its rootdir and settings before it knows our options, and then takes the `DIR` of `--model DIR` or
`--baseline DIR` for a place of tests. A model's folder must not get a `reports` for that.
"""

from itertools import pairwise
from pathlib import Path

import pytest

_SETTINGS = {
    **dict.fromkeys(("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"), ""),
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}
"""Files that pytest takes settings from, in its order, and what must stand in them."""


def project_folder(config: pytest.Config) -> Path:
    """Return pytest's rootdir where it was told or holds settings and the tests, else the current folder."""
    root = config.rootpath
    if config.getoption("rootdir") or config.getoption("inifilename"):
        return root
    has_settings = config.inipath is not None and all(path.is_relative_to(root) for path in _tests(config))
    return root if has_settings else config.invocation_params.dir


def misled(config: pytest.Config) -> str | None:
    """Return what to type when pytest read no settings, or those of another place, because of an option's value."""
    words, here = config.invocation_params.args, config.invocation_params.dir
    for word, value in pairwise(map(str, words)):
        if not word.startswith("--") or "=" in word or value.startswith("-") or value in config.args:
            continue
        if not Path(here, value).exists():
            continue
        own = next((path for test in _tests(config) if (path := _settings(test))), None)
        if own is not None and own != config.inipath:
            read = f"read {config.inipath}" if config.inipath else "read no settings"
            return f"pytest took {value} for a place of tests and {read} instead of {own}: write {word}={value}"
    return None


def _tests(config: pytest.Config) -> list[Path]:
    here = config.invocation_params.dir
    return [Path(here, argument.partition("::")[0]).resolve() for argument in config.args]


def _settings(test: Path) -> Path | None:
    """Return the nearest file with settings of pytest."""
    for folder in (test, *test.parents):
        for name, must_have in _SETTINGS.items():
            path = folder / name
            if path.is_file() and must_have in path.read_text("utf-8", errors="replace"):
                return path
    return None
