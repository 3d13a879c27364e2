"""The reference arm: transformers and torch, in this process."""

from bakeoff.backends.backend import Backend, Settings
from bakeoff.backends.facts import Facts
from bakeoff.errors import UsageProblem
from bakeoff.spec import ModelSpec, folder_on_disk, safe_name, split_revision


def _read_name(name: str) -> ModelSpec | None:
    kind, _, rest = name.partition(":")
    body, _, dtype = rest.partition("#")
    body, revision = split_revision(body)
    if kind != "hf" or not body:
        return None
    if dtype not in {"", "float32", "bf16"}:
        raise UsageProblem(f"{name!r}: behind the # write float32, which is the default, or bf16")
    return ModelSpec(
        name=name,
        arm=safe_name("-".join(filter(None, ("hf", body.rstrip("/").rpartition("/")[2], dtype)))),
        backend="hf",
        location=body,
        revision=revision,
        quant=dtype or None,
        local_paths=folder_on_disk(body),
    )


def _open(spec: ModelSpec, settings: Settings) -> Backend:
    from bakeoff.backends.hf.backend import open_backend  # noqa: PLC0415 - loads torch, which takes seconds

    return open_backend(spec, settings)


FACTS = Facts(
    name="hf",
    title="Transformers",
    about="reference",
    opens=_open,
    reads=_read_name,
    spelled=("hf:<folder or owner/name>[@revision][#bf16]",),
    model_in="process",
    packages=("torch", "transformers"),
    extra="reference",
)
