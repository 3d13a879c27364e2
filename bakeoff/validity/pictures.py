"""Pictures for probes and controls, drawn from fixed seeds: rectangles with stripes, and fine print."""

import hashlib
import io
import random
from pathlib import Path
from typing import Final

from PIL import Image as Picture, ImageDraw

from bakeoff.files import write_atomically
from bakeoff.records import Image

_GLYPHS: Final = {
    # seven rows of five bits each, the leftmost bit highest
    "A": (0x0E, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11),
    "F": (0x1F, 0x10, 0x10, 0x1E, 0x10, 0x10, 0x10),
    "H": (0x11, 0x11, 0x11, 0x1F, 0x11, 0x11, 0x11),
    "K": (0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11),
    "N": (0x11, 0x19, 0x15, 0x13, 0x11, 0x11, 0x11),
    "P": (0x1E, 0x11, 0x11, 0x1E, 0x10, 0x10, 0x10),
    "R": (0x1E, 0x11, 0x11, 0x1E, 0x14, 0x12, 0x11),
    "X": (0x11, 0x11, 0x0A, 0x04, 0x0A, 0x11, 0x11),
    "Y": (0x11, 0x11, 0x0A, 0x04, 0x04, 0x04, 0x04),
    "Z": (0x1F, 0x01, 0x02, 0x04, 0x08, 0x10, 0x1F),
}
_SQUARES: Final = {"red": (220, 30, 30), "green": (20, 150, 50), "blue": (30, 60, 210), "purple": (140, 40, 180)}
_PAPER: Final = (255, 247, 236)
_GRIDS: Final = {(1100, 550): (32, 16), (1120, 545): (32, 16), (3000, 1040): (48, 16)}
"""Columns and rows of letters in the sizes that LFM2-VL cuts into tiles of 512 pixels: one letter for two patches of 16
pixels, so that a small model can read it. Elsewhere a letter takes 32 pixels."""


def draw_picture(folder: Path, name: str, width: int, height: int) -> Image:
    """Draw a picture of that name and size into `folder`: print where the name begins with `print`, else a scene."""
    draw = random.Random(f"{name}/{width}x{height}")  # noqa: S311 - a drawing, not a secret
    if name == "blank":
        picture = Picture.new("RGB", (width, height), (128, 128, 128))
    else:
        picture = (_print if name.startswith("print") else _scene)(draw, width, height)
    return save_picture(picture, folder / f"{name}-{width}x{height}.png")


def save_picture(picture: Picture.Image, path: Path) -> Image:
    """Write a PNG and return it as an Image."""
    content = io.BytesIO()
    picture.save(content, "PNG", compress_level=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content.getvalue(), lasting=False)  # a prompt in flight may be reading an earlier drawing
    digest = hashlib.sha256(content.getvalue()).hexdigest()
    return Image(path=str(path), sha256=digest, width=picture.width, height=picture.height)


def _scene(draw: random.Random, width: int, height: int) -> Picture.Image:
    picture = Picture.new("RGB", (width, height), _colour(draw))
    pen = ImageDraw.Draw(picture)
    for _ in range(14):
        left, top = draw.randrange(width), draw.randrange(height)
        right, bottom = left + draw.randint(2, width // 2), top + draw.randint(2, height // 2)
        pen.rectangle((left, top, right, bottom), fill=_colour(draw))
    for x in range(0, width // 2, draw.randint(3, 9)):
        pen.line((x, height // 3, x, height - 1), fill=_colour(draw), width=1)
    return picture


def _print(draw: random.Random, width: int, height: int) -> Picture.Image:
    """Return paper with a line of three letters after a square of each colour."""
    picture = Picture.new("RGB", (width, height), _PAPER)
    pen = ImageDraw.Draw(picture)
    columns, rows = _GRIDS.get((width, height), (width // 32, height // 32))
    across, down = width / columns, height / rows
    dot = int(down / 16)
    for band, colour in enumerate(_SQUARES):
        column = draw.randrange(columns - 3)
        row = band * (rows // len(_SQUARES)) + draw.randrange(rows // len(_SQUARES))
        x, y = (column + 0.5) * across, (row + 0.5) * down
        half = across / 5
        pen.rectangle((int(x - half), int(y - half), int(x + half), int(y + half)), _SQUARES[colour])
        for place, letter in enumerate(draw.sample(sorted(_GLYPHS), 3), start=1):
            _letter(pen, letter, int(x + place * across - 2.5 * dot), int(y - 3.5 * dot), dot)
    return picture


def _letter(pen: ImageDraw.ImageDraw, letter: str, left: int, top: int, dot: int) -> None:
    for row, bits in enumerate(_GLYPHS[letter]):
        for column in range(5):
            if bits >> (4 - column) & 1:
                x, y = left + column * dot, top + row * dot
                pen.rectangle((x, y, x + dot - 1, y + dot - 1), fill=(16, 16, 16))


def _colour(draw: random.Random) -> tuple[int, int, int]:
    return draw.randrange(256), draw.randrange(256), draw.randrange(256)
