"""MLX, in this process: mlx-vlm reads the pictures, questions are answered in a batch, common images are read once."""

from bakeoff.backends.backend import Backend, Settings
from bakeoff.backends.facts import Facts
from bakeoff.backends.memory import DeviceMemory
from bakeoff.paths import tiny_dir
from bakeoff.spec import REPOSITORY, ModelSpec, folder_on_disk, safe_name, split_revision

_TINY = ("tiny-bf16", "tiny-8bit", "tiny-4bit")
_LIQUID = ("4bit", "5bit", "6bit", "8bit", "bf16")


def _read_name(name: str) -> ModelSpec | None:
    if name in _TINY:
        folder = str(tiny_dir() / f"model-{name.removeprefix('tiny-')}")
        return ModelSpec(
            name=name, arm=name, backend="mlx", location=folder, local_paths=folder_on_disk(folder), is_tiny=True
        )
    if name in _LIQUID:
        return ModelSpec(name=name, arm=name, backend="mlx", location=f"LiquidAI/LFM2.5-VL-3B-MLX-{name}")
    is_marked = name.startswith("mlx:")
    body, revision = split_revision(name.removeprefix("mlx:"))
    if not body or not (is_marked or REPOSITORY.fullmatch(body) or folder_on_disk(body)):
        return None
    arm = safe_name(body.rstrip("/").rpartition("/")[2])
    return ModelSpec(
        name=name, arm=arm, backend="mlx", location=body, revision=revision, local_paths=folder_on_disk(body)
    )


def _open(spec: ModelSpec, settings: Settings) -> Backend:
    from bakeoff.backends.mlx.backend import open_backend  # noqa: PLC0415 - loads MLX, which takes seconds

    return open_backend(spec, settings)


def _device() -> DeviceMemory:
    from bakeoff.backends.mlx import memory  # noqa: PLC0415 - as above

    return memory


FACTS = Facts(
    name="mlx",
    title="MLX",
    opens=_open,
    reads=_read_name,
    spelled=("<./folder or owner/name>[@revision]", "mlx:<folder or owner/name>[@revision]"),
    aliases=_LIQUID,
    embedded=_TINY,
    model_in="process",
    packages=("mlx", "mlx_vlm"),
    mark="mlx",
    device=_device,
)
