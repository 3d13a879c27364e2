"""From the name typed after `--model` to a ModelSpec: which backend, which weights, which revision.

Nothing is loaded or downloaded here, and nothing is guessed: a name that fits no form is refused with its neighbours.
"""

import contextlib
import difflib
import json
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.families import Family, family_of
from bakeoff.openai_names import place_of
from bakeoff.paths import tiny_dir


class ModelSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One model on one backend.

    `name` is what was typed; `arm` is a file name made of it; `location` is a folder, a file, or `owner/name` on the
    hub; `revision` is a branch, tag or commit of the hub, None for its main branch; `weights` and `projector` are files
    inside a GGUF repository, or files on disk; `quant` picks files in a repository by name.
    """

    name: str
    arm: str
    backend: str
    location: str
    revision: str | None = None
    weights: str | None = None
    projector: str | None = None
    quant: str | None = None

    @property
    def family(self) -> Family:
        """Family of models by the `config.json` of a local folder, else by name."""
        config = Path(self.location) / "config.json"
        if config.is_file():
            with contextlib.suppress(ValueError, OSError):
                return family_of(json.loads(config.read_text(encoding="utf-8")))
        return family_of(self.location)

    @property
    def local_paths(self) -> tuple[str, ...]:
        """Files and folders of this disk that the name means; nothing for what lies on a hub or a server."""
        if self.backend == "gguf" and self.quant is None:
            return tuple(path for path in (self.weights, self.projector) if path is not None)
        is_path = self.backend in {"mlx", "hf"} and self.location.startswith(("/", "./", "../", "~"))
        return (self.location,) if is_path else ()

    @property
    def is_tiny(self) -> bool:
        """Whether this is the embedded checkpoint, which only the calibration track means anything for."""
        return self.name in TINY_ALIASES


DEFAULT_MODELS = ("tiny-bf16", "tiny-gguf-bf16")
"""The embedded pair: what runs when no model is named."""

TINY_ALIASES = ("tiny-bf16", "tiny-8bit", "tiny-4bit", "tiny-gguf-bf16", "tiny-gguf-q8", "tiny-gguf-q4")
_TINY_GGUF = {
    "tiny-gguf-bf16": ("tiny-bf16.gguf", "mmproj-tiny-bf16.gguf"),
    "tiny-gguf-q8": ("tiny-q8_0.gguf", "mmproj-tiny-q8_0.gguf"),
    "tiny-gguf-q4": ("tiny-q4_0.gguf", "mmproj-tiny-q8_0.gguf"),
}
_LIQUID = "LiquidAI/LFM2.5-VL-3B"
_MLX_ALIASES = ("4bit", "5bit", "6bit", "8bit", "bf16")
_GGUF_ALIASES = {
    # alias: (quantisation in the file name, quantisation of the projector); the repository has no Q4–Q6 projectors
    "gguf-q4": ("Q4_0", "Q8_0"),
    "gguf-q4km": ("Q4_K_M", "Q8_0"),
    "gguf-q5": ("Q5_K_M", "Q8_0"),
    "gguf-q6": ("Q6_K", "Q8_0"),
    "gguf-q8": ("Q8_0", "Q8_0"),
    "gguf-bf16": ("BF16", "BF16"),
    "gguf-f16": ("F16", "F16"),
}
_CORE_AI = ("mlboydaisuke/LFM2.5-VL-3B-CoreAI", "aa121aa373554c65f2c4b7ae8062bfeb803211cf")
ALIASES = (*TINY_ALIASES, *_MLX_ALIASES, *_GGUF_ALIASES, "coreai")
FORMS = {
    "mlx:<folder or owner/name>[@revision]": "mlx",
    "gguf:<owner/name>:<quant>[@revision]": "gguf",
    "<file>.gguf[,mmproj=<file>]": "gguf",
    "coreai:<folder>": "coreai",
    "litert:<file.litertlm or owner/name[:part of the file's name]>[@revision]": "litert",
    "openai:<base url>[|<base url>…]#<model name>": "openai",
    "hf:<folder or owner/name>[@revision][#bf16]": "hf",
}
"""Forms of names that are no aliases, and the backend of each."""
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


def resolve(name: str) -> ModelSpec:
    """Return the ModelSpec for one name.

    Raises:
        UsageProblem: when the name has none of the known forms; the message lists near matches.
    """
    for attempt in (_tiny, _liquid, _coreai, _litert, _fake, _openai, _hf, _gguf, _mlx):
        spec = attempt(name)
        if spec is not None:
            return spec
    near = difflib.get_close_matches(name.lower(), ALIASES, n=3, cutoff=0.4) or ALIASES
    raise UsageProblem(
        f"unknown model {name!r}. Did you mean one of: {', '.join(near)}?\n"
        f"Other forms: {'; '.join(FORMS)}; a bare owner/name is MLX."
    )


def resolve_all(names: Iterable[str]) -> tuple[ModelSpec, ...]:
    """Return specs in the order given, each with an arm name of its own.

    Raises:
        UsageProblem: as `resolve`, and when a name is given twice.
    """
    specs: dict[str, ModelSpec] = {}
    for name in names:
        spec = resolve(name)
        if any(other.name == name for other in specs.values()):
            raise UsageProblem(f"model {name!r} is named twice")
        number, arm = 2, spec.arm
        while arm.lower() in specs:  # some file systems fold case
            arm, number = f"{spec.arm}-{number}", number + 1
        specs[arm.lower()] = msgspec.structs.replace(spec, arm=arm)
    return tuple(specs.values())


def split_names(text: str) -> list[str]:
    """Split a list of names at commas; `,mmproj=<file>` belongs to the name before it."""
    names: list[str] = []
    for part in text.split(","):
        if part.startswith("mmproj=") and names:
            names[-1] += f",{part}"
        elif part.strip():
            names.append(part.strip())
    return names


def safe_name(name: str) -> str:
    """Return `name` as a file name: letters, digits and `. _ -` stay, runs of anything else become one `-`."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.") or "model"


def _tiny(name: str) -> ModelSpec | None:
    if name not in TINY_ALIASES:
        return None
    if name in _TINY_GGUF:
        weights, projector = (str(tiny_dir() / "gguf" / file) for file in _TINY_GGUF[name])
        return ModelSpec(name=name, arm=name, backend="gguf", location=weights, weights=weights, projector=projector)
    folder = tiny_dir() / f"model-{name.removeprefix('tiny-')}"
    return ModelSpec(name=name, arm=name, backend="mlx", location=str(folder))


def _liquid(name: str) -> ModelSpec | None:
    if name in _MLX_ALIASES:
        return ModelSpec(name=name, arm=name, backend="mlx", location=f"{_LIQUID}-MLX-{name}")
    if name in _GGUF_ALIASES:
        quant, projector = _GGUF_ALIASES[name]
        base = _LIQUID.partition("/")[2]
        return ModelSpec(
            name=name,
            arm=name,
            backend="gguf",
            location=f"{_LIQUID}-GGUF",
            weights=f"{base}-{quant}.gguf",
            projector=f"mmproj-{base}-{projector}.gguf",
            quant=quant,
        )
    return None


def _coreai(name: str) -> ModelSpec | None:
    kind, is_folder, folder = name.partition(":")
    if kind != "coreai" or (is_folder and not folder):
        return None
    if is_folder:
        return ModelSpec(name=name, arm=safe_name(Path(folder).name), backend="coreai", location=folder)
    return ModelSpec(name=name, arm=name, backend="coreai", location=_CORE_AI[0], revision=_CORE_AI[1])


def _litert(name: str) -> ModelSpec | None:
    if not name.startswith("litert:"):
        return None
    body, revision = _revision(name.removeprefix("litert:"))
    if body.endswith(".litertlm"):
        arm = safe_name(Path(body).name.removesuffix(".litertlm"))
        return ModelSpec(name=name, arm=arm, backend="litert", location=body, weights=body)
    repository, _, part = body.partition(":")
    if not _REPOSITORY.fullmatch(repository):
        raise UsageProblem(f"{name!r}: write litert:<file>.litertlm or litert:<owner/name>")
    arm = safe_name("-".join(filter(None, (repository.partition("/")[2], part))))
    return ModelSpec(name=name, arm=arm, backend="litert", location=repository, revision=revision, quant=part or None)


def _fake(name: str) -> ModelSpec | None:
    kind, _, rest = name.partition(":")
    if kind != "fake" or not rest:
        return None
    return ModelSpec(name=name, arm=safe_name(name), backend="fake", location=rest)


def _openai(name: str) -> ModelSpec | None:
    """Return a model on servers; what stands behind the colon is checked before anything is written down."""
    kind, _, rest = name.partition(":")
    if kind != "openai":
        return None
    place = place_of(rest)
    arm = safe_name(f"openai-{place.model.rstrip('/').rpartition('/')[2]}")
    return ModelSpec(name=name, arm=arm, backend="openai", location=rest)


def _hf(name: str) -> ModelSpec | None:
    kind, _, rest = name.partition(":")
    body, _, dtype = rest.partition("#")
    body, revision = _revision(body)
    if kind != "hf" or not body:
        return None
    if dtype not in {"", "float32", "bf16"}:
        raise UsageProblem(f"{name!r}: behind the # write float32, which is the default, or bf16")
    arm = safe_name("-".join(filter(None, ("hf", body.rstrip("/").rpartition("/")[2], dtype))))
    return ModelSpec(name=name, arm=arm, backend="hf", location=body, revision=revision, quant=dtype or None)


def _gguf(name: str) -> ModelSpec | None:
    body, is_marked = name.removeprefix("gguf:"), name.startswith("gguf:")
    file, _, extra = body.partition(",")
    if file.endswith(".gguf"):
        key, _, projector = extra.partition("=")
        if extra and (key != "mmproj" or not projector):
            raise UsageProblem(f"{name!r}: after the comma write mmproj=<file>")
        arm = safe_name(file.rpartition("/")[2].removesuffix(".gguf"))
        return ModelSpec(name=name, arm=arm, backend="gguf", location=file, weights=file, projector=projector or None)
    if not is_marked:
        return None
    body, revision = _revision(body)
    repository, _, quant = body.partition(":")
    if not _REPOSITORY.fullmatch(repository) or not quant:
        raise UsageProblem(f"{name!r}: write gguf:<owner/name>:<quant>, such as gguf:{_LIQUID}-GGUF:Q8_0")
    arm = safe_name(f"{repository.partition('/')[2]}-{quant}")
    return ModelSpec(name=name, arm=arm, backend="gguf", location=repository, revision=revision, quant=quant)


def _mlx(name: str) -> ModelSpec | None:
    is_marked = name.startswith("mlx:")
    body, revision = _revision(name.removeprefix("mlx:"))
    if not body or not (is_marked or _REPOSITORY.fullmatch(body)):
        return None
    arm = safe_name(body.rstrip("/").rpartition("/")[2])
    return ModelSpec(name=name, arm=arm, backend="mlx", location=body, revision=revision)


def _revision(body: str) -> tuple[str, str | None]:
    before, at, revision = body.rpartition("@")
    return (before, revision) if at and revision and "/" not in revision else (body, None)
