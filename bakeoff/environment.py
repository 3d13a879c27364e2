"""The machine and the software a run was made on; nothing that names a person or a host."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import psutil

from bakeoff import __version__

_PACKAGES = ("mlx", "mlx-vlm", "xllamacpp", "transformers", "huggingface-hub", "pillow", "pytest", "numpy")


def environment() -> dict[str, Any]:
    """Return what a reader needs to place the numbers: system, processor, memory, versions."""
    return {
        "bakeoff": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": psutil.cpu_count(logical=True),
        "memory_bytes": psutil.virtual_memory().total,
        "packages": {name: found for name in _PACKAGES if (found := _version(name)) is not None},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    import cpuinfo  # noqa: PLC0415 - takes a while to load, and only a new run asks

    return str(cpuinfo.get_cpu_info().get("brand_raw") or platform.processor() or "unknown")
