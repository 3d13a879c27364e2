"""The training distribution: which scenes and questions a step draws, from one seeded generator."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import Final

from tools.tiny import tasks
from tools.tiny.drawing import CODE_CHARS
from tools.tiny.scenes import (
    TOKEN_PIXELS,
    TRAINED_PAIRS,
    Item,
    Scene,
    cells,
    distractors,
    is_held_out_sum,
    other_colors,
    place_line,
    place_shapes,
    random_code,
)
from tools.tiny.tasks import Question
from tools.tiny.vocabulary import COLORS, PLURALS, SHAPES

OTHER_SIZES: Final = (
    (320, 224), (224, 320), (384, 192), (192, 384), (288, 256), (256, 288), (352, 192), (320, 256),
)  # fmt: skip
TILED_SIZES: Final = ((1100, 560), (1060, 540), (1140, 580), (560, 1100), (1120, 530), (550, 1080))
Pair = tuple[str, str]


@dataclass(slots=True)
class Example:
    """Scenes to paint and one question on them."""

    scenes: list[Scene]
    question: Question


def small_size(rng: random.Random, *, square: bool) -> tuple[int, int]:
    """256×256, or one of the other untiled sizes."""
    return (256, 256) if square else rng.choice(OTHER_SIZES)


def new_scene(rng: random.Random, size: tuple[int, int]) -> Scene:
    """An empty scene on white or on a pale ground."""
    pale = (255, 255, 255) if rng.random() < 0.6 else tuple(rng.randint(232, 255) for _ in range(3))
    return Scene(*size, ground=(pale[0], pale[1], pale[2]))


def shapes_scene(
    rng: random.Random,
    size: tuple[int, int],
    wanted: list[Pair],
    *,
    spans: tuple[int, ...] = (2, 3, 4),
    jitter: float = 0.0,
) -> Scene:
    """A scene that holds all the wanted shapes."""
    while True:
        scene = new_scene(rng, size)
        if place_shapes(rng, scene, wanted, spans=spans, jitter=jitter):
            return scene


def some_jitter(rng: random.Random) -> float:
    """Off the grid in two scenes of five."""
    return 0.32 if rng.random() < 0.4 else 0.0


def grounding(rng: random.Random, size: tuple[int, int], questions: int, deny: float) -> list[Example]:
    """Named items among others that share their colour or shape; now and then one that is not there."""
    pairs = rng.sample(TRAINED_PAIRS, rng.randint(3, 6))
    scene = shapes_scene(rng, size, pairs, jitter=some_jitter(rng))
    found = []
    for item in rng.sample(scene.items, min(questions, len(scene.items))):
        bare = rng.random() < 0.3
        system = tasks.SYSTEM_LOCATE if bare else None
        wording = "{name}" if bare else rng.choice(tasks.GROUNDING)
        if rng.random() < deny:
            color, shape = distractors(rng, 1, set(pairs), TRAINED_PAIRS)[0]
            found.append(tasks.deny("grounding", f"{color} {shape}", wording, system))
        else:
            found.append(tasks.ground(item, wording, system))
    return [Example([scene], question) for question in found]


def coded_scene(
    rng: random.Random,
    scene: Scene,
    grid: tuple[int, int],
    lines: int,
    *,
    dots: tuple[int, ...] = (3, 4),
    held_out: bool = False,
    jitter: int = 2,
) -> list[int]:
    """Add code lines, each after its own colour's square; the item index at which each starts."""
    columns, rows = grid
    tile = 16 if max(grid) > 16 else columns
    slots = [(left, row) for row in range(rows) for left in range(0, columns, tile)]
    starts = []
    used = set()
    for color in rng.sample(COLORS, lines):
        left, row = rng.choice([slot for slot in slots if slot not in used])
        used |= {(left, row)}
        # A second line in the same row of the same tile is left out: it would have to fit beside.
        column = left + rng.randint(0, min(tile, columns) - 4)
        starts.append(len(scene.items))
        code = random_code(rng, 3, held_out=held_out)
        place_line(rng, scene, code, (column, row), grid, marker=color, dot=rng.choice(dots), jitter=jitter)
    return starts


def reading(rng: random.Random, size: tuple[int, int], questions: int, deny: float) -> list[Example]:
    """One to four codes; those after named colours."""
    scene = new_scene(rng, size)
    grid = (size[0] // TOKEN_PIXELS, size[1] // TOKEN_PIXELS)
    starts = coded_scene(rng, scene, grid, rng.randint(1, 4), dots=(2, 3, 4))
    absent = [color for color in COLORS if color not in {scene.items[start].color for start in starts}]
    found = []
    for start in rng.sample(starts, min(questions, len(starts))):
        wording = rng.choice(tasks.READING)
        if rng.random() < deny:
            found.append(tasks.deny("reading", f"{rng.choice(absent)} square", wording))
        else:
            found.append(tasks.read(scene.items[start : start + 4], wording))
    return [Example([scene], question) for question in found]


def choice(rng: random.Random, size: tuple[int, int], questions: int) -> list[Example]:
    """The colour of a shape, or the shape of a colour, among lettered options."""
    while True:
        pairs = rng.sample(TRAINED_PAIRS, rng.randint(1, 5))
        colors, shapes = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        asked = [(index, True) for index in range(len(pairs)) if shapes.count(shapes[index]) == 1]
        asked += [(index, False) for index in range(len(pairs)) if colors.count(colors[index]) == 1]
        if asked:
            break
    scene = shapes_scene(rng, size, pairs, jitter=some_jitter(rng))
    return [
        Example([scene], choice_question(rng, scene.items[index], by_shape=by_shape))
        for index, by_shape in rng.sample(asked, min(questions, len(asked)))
    ]


def choice_question(rng: random.Random, item: Item, *, by_shape: bool) -> Question:
    """Ask for the item's colour by its shape, or the other way round."""
    seen, options, shape = ((0, item.rect),), rng.randint(1, 3), item.shape or ""
    if by_shape:
        ask = rng.choice(tasks.COLOR_OF).format(shape=shape)
        return tasks.choose(rng, ask, item.color, other_colors(rng, options, item.color), words=(shape,), things=seen)
    ask = rng.choice(tasks.SHAPE_OF).format(color=item.color)
    wrong = rng.sample([other for other in SHAPES if other != shape], options)
    return tasks.choose(rng, ask, shape, wrong, words=(item.color,), things=seen)


def two_images(rng: random.Random, size: tuple[int, int], questions: int) -> list[Example]:
    """Which of two images holds a pair; the other holds its colour and its shape apart."""
    color, shape = rng.choice(TRAINED_PAIRS)
    near = [pair for pair in TRAINED_PAIRS if (pair[0] == color) != (pair[1] == shape)]
    pool = [(color, shape), *rng.sample(near, 4), *rng.sample(TRAINED_PAIRS, 3)]
    pool = list(dict.fromkeys(pool))
    scenes, sides = [], []
    for _ in range(2):
        sides.append(rng.sample(pool, rng.randint(2, 4)))
        scenes.append(shapes_scene(rng, size, sides[-1], jitter=some_jitter(rng)))
    # Present in one image as often as in both or in neither.
    kinds = [[pair for pair in pool if (pair in sides[0], pair in sides[1]) == kind] for kind in KINDS]
    found = []
    for _ in range(questions):
        pair = rng.choice(rng.choice([kind for kind in kinds if kind]))
        alone = (pair in sides[0]) != (pair in sides[1])
        four = not alone or rng.random() < 0.4
        wording = rng.choice(tasks.WHICH_IMAGE)
        found.append(Example(scenes, tasks.choose_image(rng, scenes, " ".join(pair), wording, four=four)))
    return found


KINDS: Final = ((True, False), (False, True), (True, True), (False, False))


def numbers(rng: random.Random, size: tuple[int, int], questions: int) -> list[Example]:
    """Counts of shapes, or a sum of two digits."""
    if rng.random() < 0.35:
        return [sums(rng, size)]
    color, shape = rng.choice(TRAINED_PAIRS)
    near = [pair for pair in TRAINED_PAIRS if pair[0] == color or pair[1] == shape]
    wanted = [rng.choice(near if rng.random() < 0.7 else TRAINED_PAIRS) for _ in range(rng.randint(1, 8))]
    scene = shapes_scene(rng, size, wanted, spans=(2, 3) if len(wanted) < 6 else (2,), jitter=some_jitter(rng))
    asked = ["shapes", PLURALS[shape], f"{color} shapes", f"{color} {shape}"]
    found = []
    for what in rng.sample(asked, min(questions, len(asked))):
        if what == asked[-1]:
            found.append(tasks.count(scene, what, "{what}", tasks.SYSTEM_COUNT))
        else:
            found.append(tasks.count(scene, what, rng.choice(tasks.COUNT)))
    return [Example([scene], question) for question in found]


def sums(rng: random.Random, size: tuple[int, int], *, held_out: bool = False) -> Example:
    """Two digits with a plus between, somewhere in the image."""
    while True:
        first, second = rng.randint(1, 9), rng.randint(1, 9)
        if is_held_out_sum(first, second) == held_out:
            break
    scene = new_scene(rng, size)
    grid = (size[0] // TOKEN_PIXELS, size[1] // TOKEN_PIXELS)
    cell = (rng.randint(0, grid[0] - 3), rng.randint(0, grid[1] - 1))
    place_line(rng, scene, f"{first}+{second}", cell, grid, dot=rng.choice((3, 4)), jitter=2)
    return Example([scene], tasks.add(scene.items, rng.choice(tasks.SUM)))


def crowd(rng: random.Random, size: tuple[int, int]) -> Example:
    """A scene full of shapes, markers and glyphs, from which the vision side learns to look."""
    scene = shapes_scene(rng, size, rng.sample(TRAINED_PAIRS, rng.randint(3, 7)), jitter=rng.choice((0.0, 0.32)))
    columns, rows = size[0] // TOKEN_PIXELS, size[1] // TOKEN_PIXELS
    taken = set().union(*(cells(item.rect, columns, rows) for item in scene.items))
    for cell in itertools.product(range(columns), range(rows)):
        chance = rng.random()
        if cell in taken or chance > 0.5:
            continue
        dot = rng.choice((2, 3, 4))
        if chance > 0.1:
            place_line(rng, scene, rng.choice(GLYPH_CHOICES), cell, (columns, rows), dot=dot, jitter=2)
        else:
            place_line(rng, scene, "", cell, (columns, rows), marker=rng.choice(COLORS), dot=dot, jitter=2)
    return Example([scene], Question("look", "", "", {}))


GLYPH_CHOICES: Final = CODE_CHARS + "0158+"


def tiled(rng: random.Random, questions: int) -> list[Example]:
    """Questions on fine print in one image that the processor cuts into two tiles."""
    size = rng.choice(TILED_SIZES)
    scene = new_scene(rng, size)
    grid = (32, 16) if size[0] > size[1] else (16, 32)
    starts = coded_scene(rng, scene, grid, rng.randint(3, 6), dots=(2,), jitter=3)
    picked = rng.sample(starts, min(questions, len(starts)))
    return [Example([scene], tasks.read(scene.items[start : start + 4], rng.choice(tasks.READING))) for start in picked]


def one_image(
    rng: random.Random, size: tuple[int, int], weights: dict[str, float], questions: int, deny: float = 0.0
) -> list[Example]:
    """Up to ``questions`` examples on one image, of a family drawn by ``weights``."""
    family = rng.choices(list(weights), list(weights.values()))[0]
    if family == "grounding":
        return grounding(rng, size, questions, deny)
    if family == "reading":
        return reading(rng, size, questions, deny)
    return choice(rng, size, questions) if family == "choice" else numbers(rng, size, questions)
