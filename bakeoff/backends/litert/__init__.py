"""LiteRT-LM, in this process."""

from collections.abc import Set as AbstractSet
from pathlib import Path

from bakeoff.backends.backend import Backend, Settings
from bakeoff.backends.facts import Facts
from bakeoff.errors import UsageProblem
from bakeoff.spec import REPOSITORY, ModelSpec, safe_name, split_revision


def _read_name(name: str) -> ModelSpec | None:
    if not name.startswith("litert:"):
        return None
    body, revision = split_revision(name.removeprefix("litert:"))
    if body.endswith(".litertlm"):
        arm = safe_name(Path(body).name.removesuffix(".litertlm"))
        return ModelSpec(name=name, arm=arm, backend="litert", location=body, weights=body, local_paths=(body,))
    repository, _, part = body.partition(":")
    if not REPOSITORY.fullmatch(repository):
        raise UsageProblem(f"{name!r}: write litert:<file>.litertlm or litert:<owner/name>")
    arm = safe_name("-".join(filter(None, (repository.partition("/")[2], part))))
    return ModelSpec(name=name, arm=arm, backend="litert", location=repository, revision=revision, quant=part or None)


def _cached(spec: ModelSpec, names: AbstractSet[str]) -> AbstractSet[str]:
    part = (spec.quant or "").lower()
    return frozenset(name for name in names if name.endswith(".litertlm") and part in name.lower())


def _open(spec: ModelSpec, settings: Settings) -> Backend:
    from bakeoff.backends.litert.backend import open_backend  # noqa: PLC0415 - loads LiteRT-LM

    return open_backend(spec, settings)


FACTS = Facts(
    name="litert",
    title="LiteRT-LM",
    opens=_open,
    reads=_read_name,
    spelled=("litert:<file.litertlm or owner/name[:part of the file's name]>[@revision]",),
    model_in="process",
    packages=("litert_lm",),
    extra="litert",
    cached=_cached,
)
