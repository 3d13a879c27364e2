"""Prompts and openings that the tests of the MLX backend share."""

import contextlib
import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from PIL import Image as Picture, ImageDraw

from bakeoff.backends import Settings, open_backend
from bakeoff.backends.mlx.backend import MlxBackend
from bakeoff.models import resolve
from bakeoff.records import Image, ImagePart, Message, Prompt, Sample, Sampling, Text
from tests_unit.backends.conftest import GREEDY, calibration

Make = Callable[..., Settings]

QUESTIONS = ("Where is the circle?", "What number is shown?", "Read the text.", "A or B?", "Click the black square.")


@contextlib.contextmanager
def opened(settings: Settings, model: str = "tiny-bf16") -> Iterator[MlxBackend]:
    backend = open_backend(resolve(model), settings)
    assert isinstance(backend, MlxBackend)
    try:
        yield backend
    finally:
        backend.close()


def small_images(backend: MlxBackend) -> None:
    """Let small pictures be few patches, which makes hundreds of samples affordable."""
    backend._processor.image_processor.min_image_tokens = 16


def traced(prompt: Prompt, candidates: int = 3) -> Prompt:
    """The same prompt, with log-probabilities asked for."""
    return msgspec.structs.replace(prompt, top_logprobs=candidates)


def by_id(prompts: Sequence[Prompt]) -> dict[str, Prompt]:
    return {prompt.sample_id: prompt for prompt in prompts}


def questions_on_one_image(count: int) -> list[Sample]:
    everything = calibration()
    for sample in everything:
        shared = [s for s in everything if (s.cluster, s.system) == (sample.cluster, sample.system)]
        if len(shared) >= count:
            return shared[:count]
    raise AssertionError(f"no image has {count} questions")


def one_of_each_size() -> list[Sample]:
    return list({(s.groups["size"], len(s.images)): s for s in calibration()}.values())


def asked(name: str, question: str, *images: Image, system: str = "", max_tokens: int = 6, **more: Any) -> Prompt:
    parts: tuple[ImagePart | Text, ...] = (*(ImagePart(image=image) for image in images), Text(text=question))
    user = Message(role="user", parts=parts)
    first = (Message(role="system", parts=(Text(text=system),)),) if system else ()
    values = {"seed": 1, "sampling": GREEDY, **more}
    return Prompt(sample_id=name, messages=(*first, user), max_tokens=max_tokens, **values)


def drawn_image(folder: Path, number: int, *, size: tuple[int, int] = (64, 64)) -> Image:
    """A picture of a shape that depends on `number`, stored in a file of its own."""
    picture = Picture.new("RGB", size, "white")
    pen = ImageDraw.Draw(picture)
    left, top = (number * 7) % (size[0] // 2), (number * 13) % (size[1] // 2)
    color = (number * 40 % 200, number * 90 % 200, number * 25 % 200)
    shape = pen.ellipse if number % 2 else pen.rectangle
    shape((left, top, left + size[0] // 3, top + size[1] // 3), fill=color)
    path = folder / f"{number}.png"
    picture.save(path)
    return stored(path)


def stored(path: Path) -> Image:
    with Picture.open(path) as picture:
        width, height = picture.size
    return Image(path=str(path), sha256=hashlib.sha256(path.read_bytes()).hexdigest(), width=width, height=height)


def many_questions(folder: Path, images: int) -> list[Prompt]:
    """Five questions on each picture: some on two pictures or none, some with a system prompt, of mixed budgets."""
    pictures = [drawn_image(folder, n, size=((64, 64), (96, 64), (64, 128))[n % 3]) for n in range(images)]
    prompts = []
    for n, question in itertools.product(range(images), range(len(QUESTIONS))):
        shown = [pictures[n]] if n % 6 else [pictures[n], pictures[n - 1]]
        if n % 20 == 7:
            shown = []
        prompts.append(
            asked(
                f"{n}-{question}",
                f"{QUESTIONS[question]} {n}" if not shown else QUESTIONS[question],
                *shown,
                system="Answer with one word." if n % 4 == 1 else "",
                max_tokens=1 + (3 * n + 2 * question) % 6,
            )
        )
    return prompts


MIXED = (
    GREEDY,
    Sampling(temperature=2.0, top_k=20),
    Sampling(temperature=2.0, top_k=0, top_p=0.9),
    Sampling(temperature=2.0, top_k=20, min_p=0.05),
    Sampling(temperature=0.0, repetition_penalty=1.3),
    Sampling(temperature=2.0, top_k=50, repetition_penalty=1.2),
)
"""Ways of drawing that stand side by side in one batch."""
