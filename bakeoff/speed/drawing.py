"""Pictures that look like what people show a model: a page of text, a window of an application. Same seed, same pixels.

A runtime's cost depends on the size of a picture and not on what is in it, but a picture of noise or of one colour is
compressed and decoded like no real one. The font is the one inside Pillow, so nothing of the machine is drawn.
"""

import random
from collections.abc import Iterator

from PIL import Image, ImageDraw, ImageFont

_TEXT = (
    "account invoice total amount paid order customer report section table figure result value north river table light "
    "change open close save print search window file folder message reply forward today week month year number street "
    "house market price weight length colour paper letter school garden morning evening travel station ticket return"
)
WORDS = tuple(_TEXT.split())
_PAPER, _INK, _GREY, _LINE = (252, 251, 247), (28, 28, 32), (110, 112, 118), (200, 202, 206)
_ACCENTS = ((32, 98, 178), (176, 64, 44), (46, 122, 78), (122, 78, 150))


def draw_page(width: int, height: int, seed: int) -> Image.Image:
    """Draw a printed page: a heading, paragraphs, a table, a page number."""
    chance = random.Random(seed)  # noqa: S311 -- a picture, not a secret
    picture = Image.new("RGB", (width, height), _PAPER)
    pen = ImageDraw.Draw(picture)
    size = max(height // 80, 9)
    margin, line = width // 10, round(size * 1.5)
    y = margin
    pen.text((margin, y), _words(chance, 4).title(), _INK, _font(size * 2))
    y += 4 * line
    while y < height - margin - 12 * line:
        for text in _lines(chance, (width - 2 * margin) // (size // 2 + 1), chance.randint(3, 7)):
            pen.text((margin, y), text, _INK, _font(size))
            y += line
        y += line
    for row in range(6):
        pen.line((margin, y, width - margin, y), _LINE)
        for column in range(4):
            cell = chance.choice(WORDS) if row == 0 or column == 0 else f"{chance.randint(1, 99999) / 100:,.2f}"
            pen.text((margin + column * (width - 2 * margin) // 4, y + size // 4), cell, _INK, _font(size))
        y += line
    pen.text((width // 2, height - margin // 2), str(seed + 1), _GREY, _font(size))
    return picture


def draw_screen(width: int, height: int, seed: int) -> Image.Image:
    """Draw a window of an application: title bar, sidebar, a list of messages, buttons."""
    chance = random.Random(seed)  # noqa: S311 -- a picture, not a secret
    picture = Image.new("RGB", (width, height), (238, 240, 243))
    pen = ImageDraw.Draw(picture)
    size = max(height // 64, 9)
    bar, side, row = size * 3, width // 5, size * 4
    pen.rectangle((0, 0, width, bar), (52, 58, 68))
    pen.text((size, size), _words(chance, 3), (240, 240, 240), _font(size))
    pen.rectangle((0, bar, side, height), (224, 227, 232))
    for place, y in enumerate(range(bar + size, height - row, row)):
        pen.text((size, y), chance.choice(WORDS).title(), _INK, _font(size))
        top, right = y - size // 2, width - size
        pen.rectangle((side + size, top, right, top + row - size // 2), (255, 255, 255), _LINE)
        pen.text((side + 2 * size, y), _words(chance, 2).title(), _INK, _font(size))
        pen.text((side + 2 * size, y + round(size * 1.3)), _words(chance, 8), _GREY, _font(size))
        if place % 3 == 0:
            pen.rounded_rectangle((right - 8 * size, y, right - size, y + 2 * size), size // 2, chance.choice(_ACCENTS))
            pen.text((right - 7 * size, y + size // 4), chance.choice(WORDS).title(), (255, 255, 255), _font(size))
    return picture


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(count))


def _lines(chance: random.Random, width: int, count: int) -> Iterator[str]:
    for _ in range(count):
        yield _words(chance, max(width // 7, 2))


def _font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    return ImageFont.load_default(size)
