"""The runtimes, one a file. To add one: write a module with `open_backend(spec, settings)`, list it in `BACKENDS`."""

import importlib
import importlib.util
import shutil
from typing import cast

from bakeoff.backends.backend import (
    Backend,
    Capabilities,
    ForcedBackend,
    ForesightedBackend,
    ServedBackend,
    Settings,
)
from bakeoff.backends.coreai.here import why_not_here
from bakeoff.errors import UsageProblem
from bakeoff.models import ModelSpec

BACKENDS: dict[str, str] = {
    "mlx": "bakeoff.backends.mlx.backend",
    "gguf": "bakeoff.backends.llama.backend",
    "openai": "bakeoff.backends.openai.backend",
    "hf": "bakeoff.backends.hf.backend",
    "coreai": "bakeoff.backends.coreai.backend",
    "litert": "bakeoff.backends.litert.backend",
    "fake": "bakeoff.backends.fake.backend",
}
"""Backend name -> module. Modules are named, not imported: each loads its runtime, which takes seconds."""

IN_PROCESS = frozenset({"mlx", "coreai", "hf", "litert"})
"""Backends that load the weights into the pytest process, so that several workers would mean several copies."""


_NEEDED = {
    "mlx": ("mlx", "mlx_vlm"),
    "gguf": ("xllamacpp",),
    "hf": ("torch", "transformers"),
    "litert": ("litert_lm",),
}


def open_backend(spec: ModelSpec, settings: Settings) -> Backend:
    """Load the model of `spec`.

    Raises:
        UsageProblem: when the runtime is not installed, or the model or a file of it is missing.
        BackendError: when the runtime does not come up.
    """
    try:
        module = importlib.import_module(BACKENDS[spec.backend])
    except ImportError as error:
        raise UsageProblem(
            f"backend {spec.backend!r} of model {spec.name!r} cannot be loaded here: {error}.\n"
            "See which models can run on this machine with: bakeoff models"
        ) from error
    return cast("Backend", module.open_backend(spec, settings))


def availability(backend: str) -> str | None:
    """Return why a backend cannot run on this machine, None when its packages are there; loads nothing."""
    if backend == "coreai":
        return why_not_here()
    needed = _NEEDED.get(backend, ())
    missing = [package for package in needed if importlib.util.find_spec(package) is None]
    if backend == "gguf" and shutil.which("llama-server"):
        return None
    extra = {"hf": "reference", "litert": "litert"}.get(backend)
    how = f": uv sync --extra {extra}" if extra else ""
    return f"package {', '.join(missing)} is not installed{how}" if missing else None


__all__ = [
    "BACKENDS",
    "IN_PROCESS",
    "Backend",
    "Capabilities",
    "ForcedBackend",
    "ForesightedBackend",
    "ServedBackend",
    "Settings",
    "availability",
    "open_backend",
]
