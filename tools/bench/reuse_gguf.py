"""Four questions on each tiled image through llama.cpp: questions per second with image reuse against without.

Both ways go through the engine with the slots and the window that a run has, on images drawn for it, in turns (off,
on, on, off), so that what else the machine does falls on both. The ratio cannot pass four: with reuse one reading in
four is left. What stays of a later question is decoding and cutting its image file, which the server does again.
"""

import tempfile
import time
from pathlib import Path
from typing import cast

import msgspec
import psutil
from PIL import Image as Pillow, ImageDraw

from bakeoff.backends import Backend, Settings, open_backend
from bakeoff.backends.llama.backend import GgufBackend
from bakeoff.engine import Engine
from bakeoff.evaluate import context_bound
from bakeoff.hub import file_sha256
from bakeoff.models import resolve
from bakeoff.records import Image, ImagePart, Message, Prompt, Sampling, Text

MODEL = "tiny-gguf-bf16"
SIZE = (1300, 520)
"""Cut into ten tiles and a thumbnail, the most there are, as any image of these proportions."""

IMAGES = 3
QUESTIONS = ("What color is the circle?", "How many shapes are there?", "Find the red cross.", "Read the text.")
TARGET = 3.0


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One pass: how long it and the server's processors took, in seconds, and what the records of it would say."""

    took_s: float
    cpu_s: float
    questions: int
    primers: int
    covered: int


def measure() -> float:
    """Print both speeds with their counts and return the ratio."""
    with tempfile.TemporaryDirectory(prefix="bakeoff-bench-") as folder:
        passes = {reuse: list[Measured]() for reuse in (False, True)}
        for turn, reuse in enumerate((False, True, True, False)):
            passes[reuse].append(_one_pass(Path(folder) / str(turn), reuse=reuse, turn=turn))
    speeds = {
        reuse: sum(one.questions for one in found) / sum(one.took_s for one in found) for reuse, found in passes.items()
    }
    for reuse, found in passes.items():
        print(
            f"reuse {'on ' if reuse else 'off'} {speeds[reuse]:7.2f} questions/s, "
            f"{sum(one.questions for one in found)} questions on {2 * IMAGES} images of {SIZE[0]} x {SIZE[1]}, "
            f"{sum(one.primers for one in found)} primers, {sum(one.covered for one in found)} answered without "
            "reading the image again"
        )
    cpu = {reuse: sum(one.cpu_s for one in found) for reuse, found in passes.items()}
    print(f"processor time of the server: {cpu[False]:.1f} s against {cpu[True]:.1f} s, {cpu[False] / cpu[True]:.1f}x")
    return speeds[True] / speeds[False]


def run() -> bool:
    """Print the ratio and return whether it reaches the target."""
    ratio = measure()
    print(f"reuse gguf: {ratio:.1f}x")
    return ratio >= TARGET


def _one_pass(folder: Path, *, reuse: bool, turn: int) -> Measured:
    folder.mkdir()
    prompts = {prompt.sample_id: prompt for number in range(IMAGES) for prompt in _asked(folder, turn, number)}
    settings = Settings(
        context_tokens=context_bound(prompts.values()),
        log_path=folder / "server.log",
        image_reuse=reuse,
        progress=lambda _: None,
    )
    backend = cast("GgufBackend", open_backend(resolve(MODEL), settings))
    engine = Engine(backend, prompts, prompts.__getitem__, window=_window(backend))
    try:
        cpu_before, began = _cpu_s(backend.pid), time.perf_counter()
        outputs = [engine.answer(name).output for name in prompts]
        took_s = time.perf_counter() - began
        cpu_s = _cpu_s(backend.pid) - cpu_before
    finally:
        engine.close()
    return Measured(
        took_s=took_s,
        cpu_s=cpu_s,
        questions=len(outputs),
        primers=backend.asker.primers,
        covered=sum((found.cached_tokens or 0) >= (found.image_tokens or 0) for found in outputs),
    )


def _cpu_s(pid: int) -> float:
    leader = psutil.Process(pid)
    times = [process.cpu_times() for process in (leader, *leader.children(recursive=True))]
    return float(sum(spent.user + spent.system for spent in times))


def _window(backend: Backend) -> int:
    return backend.capabilities.slots + (backend.capabilities.ahead or 0)


def _asked(folder: Path, turn: int, number: int) -> list[Prompt]:
    image = _draw(folder / f"{number}.png", seed=IMAGES * turn + number)
    return [
        Prompt(
            sample_id=f"{number}/{place}",
            messages=(Message(role="user", parts=(ImagePart(image=image), Text(text=question))),),
            max_tokens=8,
            seed=0,
            sampling=Sampling(temperature=0.0),
        )
        for place, question in enumerate(QUESTIONS)
    ]


def _draw(path: Path, seed: int) -> Image:
    """Draw a page with some boxes and words on it; each seed gives another one."""
    picture = Pillow.new("RGB", SIZE, "white")
    pen = ImageDraw.Draw(picture)
    for place in range(60):
        x, y = (place * 331 + seed * 97) % SIZE[0], (place * 197 + seed * 53) % SIZE[1]
        color = ((place * 40) % 256, (seed * 30) % 256, (place * seed) % 256)
        pen.rectangle((x, y, x + 90, y + 40), fill=color)
        pen.text((x, y + 45), f"item {place}.{seed}", fill="black")
    picture.save(path)
    return Image(path=str(path), sha256=file_sha256(path), width=SIZE[0], height=SIZE[1])


if __name__ == "__main__":
    run()
