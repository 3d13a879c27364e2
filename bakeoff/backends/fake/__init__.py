"""Scripted answers, for tests of everything that is not a model."""

from bakeoff.backends.backend import Backend, Settings
from bakeoff.backends.facts import Facts
from bakeoff.spec import ModelSpec, safe_name


def _read_name(name: str) -> ModelSpec | None:
    kind, _, rest = name.partition(":")
    if kind != "fake" or not rest:
        return None
    return ModelSpec(name=name, arm=safe_name(name), backend="fake", location=rest)


def _open(spec: ModelSpec, settings: Settings) -> Backend:
    from bakeoff.backends.fake.backend import open_backend  # noqa: PLC0415 - only tests need it

    return open_backend(spec, settings)


FACTS = Facts(name="fake", title="scripted", about="no model", opens=_open, reads=_read_name, model_in="nowhere")
