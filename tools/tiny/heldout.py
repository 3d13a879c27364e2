"""The held-out samples: ``data/tiny/samples.jsonl`` and its images.

``python -m tools.tiny.heldout --out data/tiny``. Every stratum asks for something that training
never showed: codes, digit pairs and colour-shape pairs of the held-out split, positions between
grid lines, other sizes, other wordings, larger counts. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PIL import Image

from tools.tiny import tasks
from tools.tiny.mixture import coded_scene, new_scene, shapes_scene, sums
from tools.tiny.scenes import HELD_OUT_PAIRS, TOKEN_PIXELS, TRAINED_PAIRS, Scene, other_colors
from tools.tiny.tasks import Question
from tools.tiny.vocabulary import COLORS, PLURALS, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterator

SQUARE: Final = (256, 256)
OTHER: Final = ((300, 250), (410, 190), (330, 230), (210, 310), (280, 280), (360, 200))
"""No size of these is one that training used."""
TWICE: Final = ((1100, 550), (1140, 570), (1060, 530), (560, 1120), (545, 1090), (575, 1150))
"""As wide as high twice over, or the other way round: two tiles of the same proportions."""
STRETCHED: Final = ((1100, 560), (1120, 545), (1060, 540), (550, 1120))
"""The processor stretches these a little to fill its tiles; a runtime that pads instead shifts the print."""


@dataclass(slots=True)
class Group:
    """Questions that share their images."""

    family: str
    stratum: str
    scenes: list[Scene]
    questions: list[Question]

    @property
    def size(self) -> str:
        """A word for the images' size."""
        width, height = self.scenes[0].width, self.scenes[0].height
        if width * height > 2 * 512 * 512:
            return "tiled"
        if width == height:
            return "square"
        return "wide" if width > height else "tall"


def pick_pairs(rng: random.Random, number: int, *, held_out: int = 0) -> list[tuple[str, str]]:
    """Distinct (colour, shape) pairs, the held-out ones first."""
    return rng.sample(HELD_OUT_PAIRS, held_out) + rng.sample(TRAINED_PAIRS, number - held_out)


def grounding(rng: random.Random) -> Iterator[Group]:
    """Boxes: on the grid, off it, held-out pairs, other sizes, crowds."""
    strata = (
        # stratum, images, objects, held-out pairs, jitter, questions, other sizes
        ("on-grid", 5, 5, 0, 0.0, 3, False),
        ("off-grid", 6, 5, 0, 0.3, 3, False),
        ("new-pair", 4, 5, 3, 0.0, 3, False),
        ("new-size", 4, 4, 0, 0.0, 2, True),
        ("crowded", 3, 9, 1, 0.3, 3, False),
        ("new-pair-off-grid", 3, 5, 3, 0.3, 3, False),
    )
    for stratum, images, objects, held_out, jitter, questions, other in strata:
        for index in range(images):
            size = OTHER[index] if other else SQUARE
            wanted = pick_pairs(rng, objects, held_out=held_out)
            scene = shapes_scene(rng, size, wanted, spans=(2,) if objects > 6 else (2, 3, 4), jitter=jitter)
            asked = []
            for number, item in enumerate(scene.items[:questions]):
                if number == 1:
                    asked.append(tasks.ground(item, "{name}", tasks.SYSTEM_LOCATE))
                else:
                    wordings = tasks.GROUNDING_HELD_OUT if number == 2 else tasks.GROUNDING
                    asked.append(tasks.ground(item, rng.choice(wordings)))
            yield Group("grounding", stratum, [scene], asked)


def reading(rng: random.Random) -> Iterator[Group]:
    """Codes never trained: large print, other sizes, and fine print that only tiles resolve."""
    for stratum, sizes, lines in (("large-print", (SQUARE,) * 5, 3), ("new-size", OTHER[:3], 2)):
        for size in sizes:
            scene = new_scene(rng, size)
            grid = (round(size[0] / TOKEN_PIXELS), round(size[1] / TOKEN_PIXELS))
            starts = coded_scene(rng, scene, grid, lines, dots=(3, 4), held_out=True)
            yield Group("reading", stratum, [scene], ask_codes(rng, scene, starts))
    strata = [("fine-print", size) for size in TWICE] + [("fine-print-stretched", size) for size in STRETCHED]
    for stratum, size in strata:
        scene = new_scene(rng, size)
        grid = (32, 16) if size[0] > size[1] else (16, 32)
        starts = coded_scene(rng, scene, grid, 4, dots=(2,), held_out=True, jitter=3)
        yield Group("reading", stratum, [scene], ask_codes(rng, scene, starts))


def ask_codes(rng: random.Random, scene: Scene, starts: list[int]) -> list[Question]:
    """One question per code line; every third in a wording that training did not use."""
    return [
        tasks.read(
            scene.items[start : start + 4],
            rng.choice(tasks.READING_HELD_OUT if number % 3 == 2 else tasks.READING),
        )
        for number, start in enumerate(starts)
    ]


def choice(rng: random.Random) -> Iterator[Group]:
    """Colours and shapes by letter: off the grid, held-out pairs, other sizes."""
    strata = (("off-grid", 5, 0, False), ("new-pair", 4, 2, False), ("new-size", 4, 1, True))
    for stratum, images, held_out, other in strata:
        for index in range(images):
            size = OTHER[index] if other else SQUARE
            while True:
                wanted = pick_pairs(rng, 4, held_out=held_out)
                colors, shapes = Counter(pair[0] for pair in wanted), Counter(pair[1] for pair in wanted)
                by_shape = [pair for pair in wanted if shapes[pair[1]] == 1]
                by_color = [pair for pair in wanted if colors[pair[0]] == 1]
                if len(by_shape) >= 1 and len(by_color) >= 3:
                    break
            scene = shapes_scene(rng, size, wanted, jitter=0.3)
            asked = [ask_color(rng, scene, pair, number) for number, pair in enumerate(by_shape[:2])]
            asked += [ask_shape(rng, scene, pair, number) for number, pair in enumerate(by_color[: 4 - len(asked)])]
            yield Group("choice", stratum, [scene], asked)


def ask_color(rng: random.Random, scene: Scene, pair: tuple[str, str], number: int) -> Question:
    """The colour of the only such shape."""
    color, shape = pair
    ask = rng.choice(tasks.COLOR_OF_HELD_OUT if number else tasks.COLOR_OF).format(shape=shape)
    seen = tuple((0, item.rect) for item in scene.items if item.shape == shape)
    return tasks.choose(rng, ask, color, other_colors(rng, 3, color), words=(shape,), things=seen)


def ask_shape(rng: random.Random, scene: Scene, pair: tuple[str, str], number: int) -> Question:
    """The shape of the only such colour."""
    color, shape = pair
    ask = rng.choice(tasks.SHAPE_OF_HELD_OUT if number else tasks.SHAPE_OF).format(color=color)
    seen = tuple((0, item.rect) for item in scene.items if item.color == color)
    wrong = rng.sample([other for other in SHAPES if other != shape], rng.randint(2, 3))
    return tasks.choose(rng, ask, shape, wrong, words=(color,), things=seen)


def two_images(rng: random.Random) -> Iterator[Group]:
    """Which of two images: two or four options, hard negatives, held-out pairs, other sizes."""
    for stratum, number, held_out, other in (
        ("trained-pair", 5, 0, False),
        ("new-pair", 3, 1, False),
        ("new-size", 2, 0, True),
    ):
        for index in range(number):
            size = OTHER[index] if other else SQUARE
            pool = pick_pairs(rng, 8, held_out=held_out)
            only, shared, rest = pool[:4], pool[4:5], pool[5:]
            scenes = [
                shapes_scene(rng, size, rng.sample(only[side * 2 : side * 2 + 2] + shared, 3), jitter=0.3)
                for side in (0, 1)
            ]
            absent = rest[0]
            asked = []
            for ask, pair in enumerate((only[0], only[2], shared[0], absent)):
                wordings = tasks.WHICH_IMAGE_HELD_OUT if ask == 1 else tasks.WHICH_IMAGE
                four = ask > 0
                asked.append(tasks.choose_image(rng, scenes, " ".join(pair), rng.choice(wordings), four=four))
            yield Group("two_images", stratum, scenes, asked)


def numbers(rng: random.Random) -> Iterator[Group]:
    """Counts that training showed, larger ones, and sums of trained and of held-out digit pairs."""
    for stratum, images, least, most in (("count", 6, 4, 6), ("larger-count", 4, 7, 9)):
        for _ in range(images):
            color, shape = rng.choice(COLORS), rng.choice(SHAPES)
            objects = rng.randint(least, most)
            near = [pair for pair in TRAINED_PAIRS if color in pair or shape in pair]
            wanted = [rng.choice(near if rng.random() < 0.7 else TRAINED_PAIRS) for _ in range(objects)]
            scene = shapes_scene(rng, SQUARE, wanted, spans=(2,))
            held = rng.choice(tasks.COUNT_HELD_OUT)
            yield Group(
                "numbers",
                stratum,
                [scene],
                [
                    tasks.count(scene, PLURALS[shape], rng.choice(tasks.COUNT)),
                    tasks.count(scene, f"{color} shapes", rng.choice(tasks.COUNT)),
                    tasks.count(scene, f"{color} {shape}", "{what}", tasks.SYSTEM_COUNT),
                    tasks.count(scene, "shapes", held),
                ],
            )
    for stratum, images, held_out in (("sum", 4, False), ("new-sum", 4, True)):
        for index in range(images):
            scene = sums(rng, SQUARE, held_out=held_out).scenes[0]
            wordings = tasks.SUM_HELD_OUT if index % 2 else tasks.SUM
            yield Group("numbers", stratum, [scene], [tasks.add(scene.items, rng.choice(wordings))])


FAMILIES: Final = (grounding, reading, choice, two_images, numbers)


def groups(seed: int) -> list[Group]:
    """All held-out groups, in the order of the file; a family's draw does not depend on the others."""
    return [group for make in FAMILIES for group in make(random.Random(f"{seed}-{make.__name__}"))]


def write_samples(out: Path, seed: int) -> None:
    """Write images and ``samples.jsonl``."""
    folder = out / "images"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    lines = []
    image_numbers: Counter[str] = Counter()
    sample_numbers: Counter[str] = Counter()
    for group in groups(seed):
        slug = group.family.replace("_", "-")
        image_numbers[slug] += 1
        images = []
        for side, scene in zip("ab", group.scenes, strict=False):
            name = f"{slug}-{image_numbers[slug]:02d}{side if len(group.scenes) > 1 else ''}.png"
            Image.fromarray(scene.paint()).save(folder / name, optimize=True)
            digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
            images.append({"path": f"images/{name}", "sha256": digest, "width": scene.width, "height": scene.height})
        for question in group.questions:
            sample_numbers[slug] += 1
            sample = {
                "id": f"{slug}-{sample_numbers[slug]:03d}",
                "track": "calibration",
                "groups": {"family": group.family, "stratum": group.stratum, "size": group.size},
                "images": images,
                "question": question.text,
                "system": question.system,
                "options": list(question.options),
                "target": question.target,
            }
            lines.append(json.dumps(sample, ensure_ascii=True))
    (out / "samples.jsonl").write_text("\n".join(lines) + "\n", encoding="ascii")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("data/tiny"))
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    write_samples(options.out, options.seed)


if __name__ == "__main__":
    main()
