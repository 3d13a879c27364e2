"""What reuse of image work and batches are worth on MLX, on the embedded checkpoint; both ways in one run.

`python -m tools.bench.reuse_mlx` asks four questions on each tiled image with reuse and without, checks that the
answers are the same to the last bit, and prints `reuse mlx: N.Nx`. `python -m tools.bench.reuse_mlx rows` asks samples
of `data/tiny` with different numbers of prompts decoded together, and prints their speed over that of one at a time.
"""

import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec
from PIL import Image as Picture, ImageDraw

from bakeoff.backends import Settings, open_backend
from bakeoff.errors import BackendError
from bakeoff.models import resolve
from bakeoff.records import Image, ImagePart, Message, Output, Prompt, Sampling, Text
from bakeoff.tracks import TRACKS, images_then_text, load_samples
from bakeoff.validity.sameness import ask, compare

QUESTIONS = ("What is in the image?", "Where is the circle?", "Which color is the square?", "Read the text.")
SIZE = (1600, 1000)
"""Width and height that LFM2-VL cuts into six tiles and a thumbnail."""

ROWS = (1, 2, 4, 8, 16)
TARGET = 3.0

Answers = Mapping[str, Output | BackendError]


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """`questions` asked each way, `on` and `off` a second with and without; `reused` took tokens from earlier ones."""

    questions: int
    reused: int
    on: float
    off: float

    @property
    def ratio(self) -> float:
        """How many times faster it goes with reuse."""
        return self.on / self.off


def measure(images: int = 1) -> float:
    """Return how many times faster four questions on each of `images` images are answered with reuse than without."""
    found = measured(images)
    print(
        f"{found.questions} questions on {images} tiled images: {found.on:.2f}/s with reuse, {found.off:.2f}/s without"
    )
    print(f"{found.reused} of {found.questions} questions reused an image")
    print(f"reuse mlx: {found.ratio:.1f}x")
    return found.ratio


def run() -> bool:
    """Measure, and return whether reuse is worth what it must be."""
    return measure() >= TARGET


def measured(images: int) -> Measured:
    """Ask without, with, with and without reuse, and return the speeds of each.

    Raises:
        SystemExit: when an answer differs.
    """
    with tempfile.TemporaryDirectory() as folder:
        prompts = _questions(Path(folder), images)
        runs = [(is_on, *_timed(prompts, image_reuse=is_on)) for is_on in (False, True, True, False)]
    for _, _, answers in runs[1:]:
        if not compare(runs[0][2], answers).is_exact:
            raise SystemExit(f"answers differ: {compare(runs[0][2], answers)}")
    speeds = {way: statistics.median(len(prompts) / s for is_on, s, _ in runs if is_on is way) for way in (True, False)}
    reused = sum(bool(isinstance(output, Output) and output.cached_tokens) for output in runs[1][2].values())
    return Measured(questions=len(prompts), reused=reused, on=speeds[True], off=speeds[False])


def measure_rows(samples: int = 40) -> dict[int, float]:
    """Return by number of prompts decoded together how many times faster than one at a time they are answered."""
    track = TRACKS["calibration"]
    chosen = [sample for sample in load_samples(track.folder()) if sample.groups.get("size") != "large"][:samples]
    prompts = {s.id: Prompt(sample_id=s.id, messages=images_then_text(s), max_tokens=64, seed=1) for s in chosen}
    seconds = {rows: _timed(prompts, concurrency=rows)[0] for rows in ROWS}
    found = {rows: seconds[1] / seconds[rows] for rows in ROWS}
    print(f"{len(prompts)} samples: " + ", ".join(f"{rows} together {ratio:.2f}x" for rows, ratio in found.items()))
    return found


def _timed(prompts: Mapping[str, Prompt], **how: object) -> tuple[float, Answers]:
    """Return the seconds that the prompts took after loading and one warm-up, and their answers."""
    values = {"context_tokens": 8192, "log_path": Path("unused"), "progress": lambda _: None, **how}
    backend = open_backend(resolve("tiny-bf16"), Settings(**values))  # type: ignore[arg-type]  # named by the caller
    try:
        backend.submit(_prompt("warm-up", "hello")).result()
        began = time.perf_counter()
        answers = ask(backend, prompts, backend.capabilities.slots + 1)
        return time.perf_counter() - began, answers
    finally:
        backend.close()


def _questions(folder: Path, images: int) -> dict[str, Prompt]:
    asked = [(_image(folder, n), place) for n in range(images) for place in range(len(QUESTIONS))]
    prompts = [_prompt(f"{Path(image.path).stem}-{place}", QUESTIONS[place], image) for image, place in asked]
    return {prompt.sample_id: prompt for prompt in prompts}


def _prompt(name: str, question: str, *images: Image) -> Prompt:
    parts: tuple[ImagePart | Text, ...] = (*(ImagePart(image=image) for image in images), Text(text=question))
    user = Message(role="user", parts=parts)
    return Prompt(sample_id=name, messages=(user,), max_tokens=16, seed=1, sampling=Sampling(temperature=0.0))


def _image(folder: Path, number: int) -> Image:
    picture = Picture.new("RGB", SIZE, "white")
    ImageDraw.Draw(picture).ellipse((100 * number, 50, 100 * number + 300, 350), fill=(200, 40 * number, 90))
    path = folder / f"{number}.png"
    picture.save(path)
    return Image(path=str(path), sha256=hashlib.sha256(path.read_bytes()).hexdigest(), width=SIZE[0], height=SIZE[1])


if __name__ == "__main__":
    if sys.argv[1:] == ["rows"]:
        measure_rows()
    else:
        sys.exit(int(not run()))
