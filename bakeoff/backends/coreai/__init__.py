"""Core AI of macOS 27, in this process."""

from pathlib import Path

from bakeoff.backends.backend import Backend, Settings
from bakeoff.backends.coreai.where import why_not_here
from bakeoff.backends.facts import Facts
from bakeoff.spec import ModelSpec, safe_name

_HUB, _REVISION = "mlboydaisuke/LFM2.5-VL-3B-CoreAI", "aa121aa373554c65f2c4b7ae8062bfeb803211cf"


def _read_name(name: str) -> ModelSpec | None:
    kind, is_folder, folder = name.partition(":")
    if kind != "coreai" or (is_folder and not folder):
        return None
    if is_folder:
        arm = safe_name(Path(folder).name)
        return ModelSpec(name=name, arm=arm, backend="coreai", location=folder, local_paths=(folder,))
    return ModelSpec(name=name, arm=name, backend="coreai", location=_HUB, revision=_REVISION)


def _open(spec: ModelSpec, settings: Settings) -> Backend:
    from bakeoff.backends.coreai.backend import open_backend  # noqa: PLC0415 - takes a while to load

    return open_backend(spec, settings)


FACTS = Facts(
    name="coreai",
    title="Core AI",
    opens=_open,
    reads=_read_name,
    spelled=("coreai:<folder>",),
    aliases=("coreai",),
    model_in="process",
    packages=("coreai",),
    why_not=why_not_here,
    mark="coreai",
)
