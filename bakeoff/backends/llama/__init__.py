"""llama.cpp: a server that pytest starts answers for GGUF files, and other processes can join it."""

import importlib.util
import shutil
from collections.abc import Set as AbstractSet

from bakeoff.backends.backend import Backend, Settings
from bakeoff.backends.facts import Facts
from bakeoff.errors import UsageProblem
from bakeoff.paths import tiny_dir
from bakeoff.spec import REPOSITORY, ModelSpec, safe_name, split_revision

_TINY = {
    "tiny-gguf-bf16": ("tiny-bf16.gguf", "mmproj-tiny-bf16.gguf"),
    "tiny-gguf-q8": ("tiny-q8_0.gguf", "mmproj-tiny-q8_0.gguf"),
    "tiny-gguf-q4": ("tiny-q4_0.gguf", "mmproj-tiny-q8_0.gguf"),
}
_LIQUID = {
    # alias: (quantisation in the file name, quantisation of the projector); the repository has no Q4–Q6 projectors
    "gguf-q4": ("Q4_0", "Q8_0"),
    "gguf-q4km": ("Q4_K_M", "Q8_0"),
    "gguf-q5": ("Q5_K_M", "Q8_0"),
    "gguf-q6": ("Q6_K", "Q8_0"),
    "gguf-q8": ("Q8_0", "Q8_0"),
    "gguf-bf16": ("BF16", "BF16"),
    "gguf-f16": ("F16", "F16"),
}
_MODEL = "LFM2.5-VL-3B"
_HUB = f"LiquidAI/{_MODEL}-GGUF"


def _read_name(name: str) -> ModelSpec | None:
    if name in _TINY:
        weights, projector = (str(tiny_dir() / "gguf" / file) for file in _TINY[name])
        return _files(name, name, weights, projector, is_tiny=True)
    if name in _LIQUID:
        quant, projector = _LIQUID[name]
        return ModelSpec(
            name=name,
            arm=name,
            backend="gguf",
            location=_HUB,
            weights=f"{_MODEL}-{quant}.gguf",
            projector=f"mmproj-{_MODEL}-{projector}.gguf",
            quant=quant,
        )
    body, is_marked = name.removeprefix("gguf:"), name.startswith("gguf:")
    file, _, extra = body.partition(",")
    if file.endswith(".gguf"):
        key, _, given = extra.partition("=")
        if extra and (key != "mmproj" or not given):
            raise UsageProblem(f"{name!r}: after the comma write mmproj=<file>")
        return _files(name, safe_name(file.rpartition("/")[2].removesuffix(".gguf")), file, given or None)
    return _in_repository(name, body) if is_marked else None


def _files(name: str, arm: str, weights: str, projector: str | None, *, is_tiny: bool = False) -> ModelSpec:
    return ModelSpec(
        name=name,
        arm=arm,
        backend="gguf",
        location=weights,
        weights=weights,
        projector=projector,
        local_paths=(weights,) if projector is None else (weights, projector),
        is_tiny=is_tiny,
    )


def _in_repository(name: str, body: str) -> ModelSpec:
    body, revision = split_revision(body)
    repository, _, quant = body.partition(":")
    if not REPOSITORY.fullmatch(repository) or not quant:
        raise UsageProblem(f"{name!r}: write gguf:<owner/name>:<quant>, such as gguf:{_HUB}:Q8_0")
    arm = safe_name(f"{repository.partition('/')[2]}-{quant}")
    return ModelSpec(name=name, arm=arm, backend="gguf", location=repository, revision=revision, quant=quant)


def _cached(spec: ModelSpec, names: AbstractSet[str]) -> AbstractSet[str]:
    if spec.weights is not None:
        wanted = frozenset(name for name in (spec.weights, spec.projector) if name is not None)
    else:
        wanted = frozenset(name for name in names if name.lower().endswith(f"{str(spec.quant).lower()}.gguf"))
    return wanted if wanted <= names else frozenset()


def _why_not() -> str | None:
    is_here = shutil.which("llama-server") or importlib.util.find_spec("xllamacpp") is not None
    return None if is_here else "package xllamacpp is not installed"


def _open(spec: ModelSpec, settings: Settings) -> Backend:
    from bakeoff.backends.llama.backend import open_backend  # noqa: PLC0415 - takes a while to load

    return open_backend(spec, settings)


FACTS = Facts(
    name="gguf",
    title="llama.cpp",
    about="GGUF",
    opens=_open,
    reads=_read_name,
    spelled=("gguf:<owner/name>:<quant>[@revision]", "<file>.gguf[,mmproj=<file>]"),
    aliases=tuple(_LIQUID),
    embedded=tuple(_TINY),
    model_in="child",
    packages=("xllamacpp",),
    why_not=_why_not,
    mark="gguf",
    cached=_cached,
)
