"""Openings of the Core AI backend through the double, and pictures of the very size of its view."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Picture

from bakeoff.backends import Settings, open_backend
from bakeoff.backends.coreai.backend import CoreAiBackend
from bakeoff.models import resolve
from bakeoff.paths import tiny_dir
from bakeoff.records import Image
from tests_unit.backends.mlx_cases import stored
from tests_unit.doubles import coreai_runtime

CHECKPOINT = tiny_dir() / "model-bf16"

COMPILER = """#!{python}
import pathlib, shutil, sys
raw, out = pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
log = pathlib.Path(__file__).with_name("asked")
log.write_text(log.read_text() + " ".join(sys.argv[1:]) + "\\n" if log.exists() else " ".join(sys.argv[1:]) + "\\n")
for family in {families!r}:
    shutil.copytree(raw, out / f"{{raw.stem}}.{{family}}.aimodelc")
    {after}
sys.exit({code})
"""


def compiler(
    folder: Path, patch: pytest.MonkeyPatch, *, families: tuple[str, ...], code: int = 0, after: str = ""
) -> Path:
    """Put an `xcrun` on the path that "compiles" by copying; return the file that its command lines go to."""
    folder.mkdir(exist_ok=True)
    tool = folder / "xcrun"
    tool.write_text(
        COMPILER.format(python=sys.executable, families=families, code=code, after=after or "pass"), "utf-8"
    )
    tool.chmod(0o755)
    patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder / "asked"


def model_in(folder: Path, checkpoint: Path = CHECKPOINT, *, positions: int = 512, **decoder: Any) -> Path:
    """A folder with both bundles of the double and the checkpoint's texts."""
    coreai_runtime.make_bundle(folder, "tiny_vision", checkpoint, function="vision")
    coreai_runtime.make_bundle(folder, "tiny_decode", checkpoint, function="decode", positions=positions, **decoder)
    for path in checkpoint.iterdir():
        if path.suffix in {".json", ".jinja"}:
            (folder / path.name).symlink_to(path)
    return folder


@contextlib.contextmanager
def opened(settings: Settings, folder: Path) -> Iterator[CoreAiBackend]:
    backend = open_backend(resolve(f"coreai:{folder}"), settings)
    assert isinstance(backend, CoreAiBackend)
    try:
        yield backend
    finally:
        backend.close()


def as_view(image: Image, folder: Path) -> Image:
    """The same picture stretched to 512 x 512, which every arm shows its model as one view, pixel for pixel."""
    path = folder / f"{image.sha256[:12]}.png"
    with Picture.open(image.path) as picture:
        picture.convert("RGB").resize((512, 512), Picture.Resampling.BICUBIC).save(path)
    return stored(path)
