"""Servers that speak the OpenAI interface, wherever they are."""

from bakeoff.backends.backend import Backend, Settings
from bakeoff.backends.facts import Facts
from bakeoff.backends.openai.place import FORM, place_of
from bakeoff.spec import ModelSpec, safe_name


def _read_name(name: str) -> ModelSpec | None:
    """Return a model on servers; what stands behind the colon is checked before anything is written down."""
    kind, _, rest = name.partition(":")
    if kind != "openai":
        return None
    arm = safe_name(f"openai-{place_of(rest).model.rstrip('/').rpartition('/')[2]}")
    return ModelSpec(name=name, arm=arm, backend="openai", location=rest)


def _open(spec: ModelSpec, settings: Settings) -> Backend:
    from bakeoff.backends.openai.backend import open_backend  # noqa: PLC0415 - takes a while to load

    return open_backend(spec, settings)


FACTS = Facts(
    name="openai",
    title="OpenAI-compatible server",
    opens=_open,
    reads=_read_name,
    spelled=(FORM,),
    model_in="servers",
)
