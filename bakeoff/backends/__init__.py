"""The runtimes. To add one: write a module or package here with its `FACTS`, and list it in `_MODULES`."""

import importlib
from typing import cast

from bakeoff.backends.backend import (
    Backend,
    Capabilities,
    ForcedBackend,
    ForesightedBackend,
    ServedBackend,
    Settings,
)
from bakeoff.backends.facts import Facts
from bakeoff.errors import UsageProblem
from bakeoff.spec import ModelSpec

_MODULES = ("mlx", "llama", "openai", "hf", "coreai", "litert", "fake")
"""In the order in which they are shown; the first takes model names that no other claims."""


def _facts(module: str) -> Facts:
    return cast("Facts", importlib.import_module(f"bakeoff.backends.{module}").FACTS)


BACKENDS: dict[str, Facts] = {facts.name: facts for facts in map(_facts, _MODULES)}
"""What is known of each backend, by name. No runtime is loaded for it: that takes seconds."""


def open_backend(spec: ModelSpec, settings: Settings) -> Backend:
    """Load the model of `spec`.

    Raises:
        UsageProblem: when the runtime is not installed, or the model or a file of it is missing.
        BackendError: when the runtime does not come up.
    """
    try:
        return BACKENDS[spec.backend].opens(spec, settings)
    except ImportError as error:
        raise UsageProblem(
            f"backend {spec.backend!r} of model {spec.name!r} cannot be loaded here: {error}.\n"
            "See which models can run on this machine with: bakeoff models"
        ) from error


def availability(backend: str) -> str | None:
    """Return why a backend cannot run on this machine, None when its packages are there; loads nothing."""
    return BACKENDS[backend].why_not_here()


__all__ = [
    "BACKENDS",
    "Backend",
    "Capabilities",
    "Facts",
    "ForcedBackend",
    "ForesightedBackend",
    "ServedBackend",
    "Settings",
    "availability",
    "open_backend",
]
