"""The machine and the software a run was made on; nothing that names a person or a host."""

import contextlib
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

from bakeoff import __version__
from bakeoff.paths import PACKAGE

_PACKAGES = ("mlx", "mlx-vlm", "xllamacpp", "transformers", "huggingface-hub", "pillow", "pytest", "numpy")


def environment() -> dict[str, Any]:
    """Return what a reader needs to place the numbers: system, processor, memory, power, checkout, versions."""
    return {
        "bakeoff": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": psutil.cpu_count(logical=True),
        "memory_bytes": psutil.virtual_memory().total,
        **{name: found for name, found in (("power", _power()), ("git", git_state(PACKAGE.parent))) if found},
        "packages": {name: found for name in _PACKAGES if (found := _version(name)) is not None},
    }


def git_state(folder: Path) -> dict[str, Any] | None:
    """Return commit and dirtiness of the checkout that is `folder`; None where it is none or git cannot tell.

    Dirty is whatever git would show as changed, new files included: they can be imported too.
    """
    if not (folder / ".git").exists():  # a folder, or a file in a worktree
        return None
    try:
        commit, changes = (_git(folder, *arguments) for arguments in (("rev-parse", "HEAD"), ("status", "--porcelain")))
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "dirty": bool(changes)}


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()


def _power() -> str | None:
    """Return `mains` or `battery`, which can halve a laptop's speed; None where there is no battery or no telling."""
    try:
        battery = psutil.sensors_battery()
    except (AttributeError, OSError, RuntimeError):  # not on every system
        return None
    if battery is None or battery.power_plugged is None:
        return None
    return "mains" if battery.power_plugged else "battery"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor(table: Path = Path("/proc/cpuinfo")) -> str:
    """Return the processor's brand; Linux on x86 has it in a file, which is read 100 times faster than `cpuinfo` is."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        found = re.search(r"^model name\s*: *(\S.*)$", table.read_text("utf-8"), re.MULTILINE)
        if found:
            return found[1].rstrip()
    import cpuinfo  # noqa: PLC0415 - takes a while to load, and only a new run asks

    return str(cpuinfo.get_cpu_info().get("brand_raw") or platform.processor() or "unknown")
