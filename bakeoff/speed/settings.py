"""What is asked when speed is measured: the same few prompts of every arm, from a line of text to two pages."""

import hashlib
import importlib.metadata
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
from PIL import Image as PillowImage

from bakeoff.paths import cache_dir
from bakeoff.records import Image, ImagePart, Message, Prompt, Sampling, Text
from bakeoff.speed.drawing import WORDS, draw_page, draw_screen

LOAD = "load"
"""The setting that asks nothing: the arm is opened and closed."""

MAX_TOKENS = 64
_GREEDY = Sampling(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0)
_READ = "Give the box of each line of text as JSON."
"""Answered at length by models large and tiny, so that there are tokens to time."""

_DRAWN: dict[str, Callable[[int, int, int], PillowImage.Image]] = {"page": draw_page, "screen": draw_screen}


class Drawn(msgspec.Struct, frozen=True, kw_only=True):
    """A picture to be drawn, in pixels."""

    kind: Literal["page", "screen"]
    width: int
    height: int
    seed: int = 0


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt. `name` is for command lines, `title` for people."""

    name: str
    title: str
    text: str
    pictures: tuple[Drawn, ...] = ()


def _passage(words: int) -> str:
    chance = random.Random(words)  # noqa: S311 -- a fixed text, not a secret
    return " ".join(chance.choice(WORDS) for _ in range(words))


SETTINGS: tuple[Setting, ...] = (
    Setting(name=LOAD, title="Load", text=""),
    Setting(name="text", title="Text", text=f"Go on with this list of words: {_passage(128)}"),
    Setting(name="512", title="512 × 512", text=_READ, pictures=(Drawn(kind="screen", width=512, height=512),)),
    Setting(
        name="1080p",
        title="Screenshot 1080p",
        text=_READ,
        pictures=(Drawn(kind="screen", width=1920, height=1080),),
    ),
    Setting(
        name="two-pages",
        title="2 pages A4",
        text=_READ,
        pictures=tuple(Drawn(kind="page", width=1240, height=1754, seed=n) for n in range(2)),
    ),
    Setting(
        name="four-images",
        title="4 × 512 × 512",
        text=_READ,
        pictures=tuple(Drawn(kind="screen", width=512, height=512, seed=1 + n) for n in range(4)),
    ),
)


def prompt_of(setting: Setting, thinking: Literal["default", "on", "off"] = "default") -> Prompt:
    """Return the prompt of a setting; its pictures lie in the cache afterwards."""
    images = tuple(ImagePart(image=picture(drawn)) for drawn in setting.pictures)
    return Prompt(
        sample_id=f"speed-{setting.name}",
        messages=(Message(role="user", parts=(*images, Text(text=setting.text))),),
        max_tokens=MAX_TOKENS,
        seed=0,
        sampling=_GREEDY,
        thinking=thinking,
    )


def picture(drawn: Drawn) -> Image:
    """Return a picture, drawn at its first use and kept in the cache."""
    folder = cache_dir() / "speed"
    pillow = importlib.metadata.version("pillow")  # another version may draw letters by a pixel differently
    path = folder / f"{drawn.kind}-{drawn.width}x{drawn.height}-{drawn.seed}-pillow{pillow}.png"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=folder, suffix=".png")
        os.close(handle)
        _DRAWN[drawn.kind](drawn.width, drawn.height, drawn.seed).save(unfinished, "PNG")
        Path(unfinished).replace(path)  # two sessions may draw at the same time
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return Image(path=str(path), sha256=sha256, width=drawn.width, height=drawn.height)
