import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from bakeoff.backends import Settings
from bakeoff.records import Image, ImagePart, Message, Prompt, Sample, Sampling, Text
from bakeoff.tracks import TRACKS, images_then_text, load_samples

GREEDY = Sampling(temperature=0.0)


def calibration() -> tuple[Sample, ...]:
    return load_samples(TRACKS["calibration"].folder())


def prompt_for(sample: Sample, *, sampling: Sampling = GREEDY, seed: int = 1, max_tokens: int = 64) -> Prompt:
    return Prompt(
        sample_id=sample.id, messages=images_then_text(sample), max_tokens=max_tokens, seed=seed, sampling=sampling
    )


def text_prompt(text: str, *images: Image, max_tokens: int = 8) -> Prompt:
    parts: tuple[ImagePart | Text, ...] = (*(ImagePart(image=image) for image in images), Text(text=text))
    return Prompt(sample_id="made-up", messages=(Message(role="user", parts=parts),), max_tokens=max_tokens, seed=1)


def spoiled(image: Image, folder: Path) -> Image:
    """The same image with other bytes than were prepared."""
    copy = folder / "spoiled.png"
    shutil.copy(image.path, copy)
    with copy.open("ab") as file:
        file.write(b"x")
    return msgspec.structs.replace(image, path=str(copy))


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., Settings]:
    def make(**more: object) -> Settings:
        values = {"context_tokens": 4096, "log_path": tmp_path / "runtime.log", **more}
        return Settings(**values)  # type: ignore[arg-type]  # named by the test

    return make
