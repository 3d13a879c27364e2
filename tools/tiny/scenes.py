"""Random scenes: shapes on a grid, lines of glyphs, and how to paint them at any image size."""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tools.tiny import drawing
from tools.tiny.vocabulary import BINS, COLORS, pairs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tools.tiny.drawing import Rect

HELD_OUT_PAIRS: Final = (("purple", "triangle"), ("yellow", "circle"), ("black", "cross"))
"""(colour, shape) pairs that no training image shows."""
TRAINED_PAIRS: Final = tuple(pair for pair in pairs() if pair not in HELD_OUT_PAIRS)
TOKEN_PIXELS: Final = 32
"""Side of the square that one image token covers."""


@dataclass(frozen=True, slots=True)
class Item:
    """One painted thing; ``rect`` is x1, y1, x2, y2 in fractions of the image."""

    rect: Rect
    color: str
    shape: str | None = None
    char: str | None = None

    @property
    def name(self) -> str:
        """Colour and shape, as prompts and labels say it."""
        return f"{self.color} {self.shape}"


@dataclass(slots=True)
class Scene:
    """An image to be painted: pixels wide, pixels high, and what is on it."""

    width: int
    height: int
    items: list[Item] = field(default_factory=list)
    ground: tuple[int, int, int] = (255, 255, 255)

    def paint(self) -> NDArray[np.uint8]:
        """The image, uint8 [height, width, 3]."""
        image = drawing.blank(self.width, self.height, self.ground)
        for item in self.items:
            x1, y1, x2, y2 = item.rect
            rect = (x1 * self.width, y1 * self.height, x2 * self.width, y2 * self.height)
            if item.char is not None:
                drawing.paint_glyph(image, item.char, rect)
            elif item.shape is not None:
                drawing.paint_shape(image, item.shape, item.color, rect)
        return image


def is_held_out_code(code: str) -> bool:
    """One string in eight is never trained."""
    return zlib.crc32(code.encode()) % 8 == 0


def is_held_out_sum(first: int, second: int) -> bool:
    """Nine of the 81 ordered pairs of digits 1..9 are never trained."""
    return (first + 2 * second) % 9 == 4


def random_code(rng: random.Random, length: int, *, held_out: bool = False) -> str:
    """A code of ``length`` characters on the wanted side of the held-out split."""
    while True:
        code = "".join(rng.choice(drawing.CODE_CHARS) for _ in range(length))
        if is_held_out_code(code) == held_out:
            return code


def place_shapes(
    rng: random.Random,
    scene: Scene,
    wanted: list[tuple[str, str]],
    *,
    spans: tuple[int, ...] = (2, 3, 4),
    jitter: float = 0.0,
) -> bool:
    """Add one item per (colour, shape), no two sharing an image token; False if they do not fit.

    ``spans`` are sides in grid steps; ``jitter`` shifts each item off the grid by up to that part
    of a step per axis, and by at least half of it.
    """
    columns, rows = scene.width // TOKEN_PIXELS, scene.height // TOKEN_PIXELS
    taken: set[tuple[int, int]] = set()
    for item in scene.items:
        taken |= cells(item.rect, columns, rows)
    for color, shape in wanted:
        for _ in range(40):
            span_x = span_y = rng.choice(spans)
            left, top = rng.randint(0, BINS - span_x), rng.randint(0, BINS - span_y)
            shift_x, shift_y = _shift(rng, jitter), _shift(rng, jitter)
            x1 = min(max(left + shift_x, 0), BINS - span_x) / BINS
            y1 = min(max(top + shift_y, 0), BINS - span_y) / BINS
            rect = (x1, y1, x1 + span_x / BINS, y1 + span_y / BINS)
            covered = cells(rect, columns, rows)
            if not covered & taken:
                taken |= covered
                scene.items.append(Item(rect, color, shape))
                break
        else:
            return False
    return True


def _shift(rng: random.Random, jitter: float) -> float:
    return rng.choice((-1, 1)) * rng.uniform(jitter / 2, jitter)


def cells(rect: Rect, columns: int, rows: int) -> set[tuple[int, int]]:
    """The image tokens (column, row) that a rectangle touches."""
    x1, y1, x2, y2 = rect
    slack = 1e-6
    return {
        (column, row)
        for column in range(int(x1 * columns + slack), int(x2 * columns - slack) + 1)
        for row in range(int(y1 * rows + slack), int(y2 * rows - slack) + 1)
    }


def place_line(
    rng: random.Random,
    scene: Scene,
    text: str,
    cell: tuple[int, int],
    grid: tuple[int, int],
    *,
    marker: str | None = None,
    dot: int = 4,
    jitter: int = 0,
) -> None:
    """Add a line of glyphs, one per image token, after a square of colour ``marker`` if given.

    ``cell`` is the first image token (column, row) of ``grid`` (columns, rows); ``dot`` is a
    bitmap dot's side in pixels of the resized image, ``jitter`` the largest shift of the line.
    """
    columns, rows = grid
    dx, dy = rng.randint(-jitter, jitter), rng.randint(-jitter, jitter)
    column, row = cell

    def rect(width: int, height: int) -> Rect:
        left = column * TOKEN_PIXELS + (TOKEN_PIXELS - width) / 2 + dx
        top = row * TOKEN_PIXELS + (TOKEN_PIXELS - height) / 2 + dy
        across, down = columns * TOKEN_PIXELS, rows * TOKEN_PIXELS
        return (left / across, top / down, (left + width) / across, (top + height) / down)

    if marker is not None:
        side = 6 * dot if dot < 4 else TOKEN_PIXELS - 8
        scene.items.append(Item(rect(side, side), marker, "square"))
        column += 1
    for char in text:
        size = (drawing.GLYPH_COLUMNS * dot, drawing.GLYPH_ROWS * dot)
        scene.items.append(Item(rect(*size), "black", char=char))
        column += 1


def distractors(
    rng: random.Random, count: int, avoid: set[tuple[str, str]], pool: tuple[tuple[str, str], ...]
) -> list[tuple[str, str]]:
    """``count`` pairs of ``pool`` other than those in ``avoid``, each at most once."""
    rest = [pair for pair in pool if pair not in avoid]
    return rng.sample(rest, min(count, len(rest)))


def other_colors(rng: random.Random, count: int, avoid: str) -> list[str]:
    """``count`` colours other than ``avoid``."""
    return rng.sample([color for color in COLORS if color != avoid], count)
