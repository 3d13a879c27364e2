"""Whether Core AI runs on this machine. Loads nothing elsewhere than on a macOS that has it."""

import importlib.util
import platform

FIRST_MACOS = 27
"""The first macOS whose system has the Core AI framework."""


def why_not_here() -> str | None:
    """Return why Core AI cannot run on this machine, None when it can."""
    version = platform.mac_ver()[0]
    if not version:
        return f"Core AI needs macOS {FIRST_MACOS} or later; this is {platform.system()}"
    if int(version.partition(".")[0]) < FIRST_MACOS:
        return f"Core AI needs macOS {FIRST_MACOS} or later; this is macOS {version}"
    if importlib.util.find_spec("coreai") is None or importlib.util.find_spec("coreai.runtime") is None:
        return "package coreai-core is not installed (uv sync installs it on Apple silicon)"
    return None
