"""Shapes and glyphs painted with NumPy, at any position and size, on a flat ground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Rect = tuple[float, float, float, float]
"""x1, y1, x2, y2."""

RGB: Final = {
    "red": (220, 30, 30),
    "green": (20, 150, 50),
    "blue": (30, 70, 220),
    "yellow": (240, 205, 20),
    "purple": (150, 40, 180),
    "black": (15, 15, 15),
}

# Five columns by seven rows; a row is the bits of one hexadecimal pair, high bit left.
_GLYPH_ROWS: Final = {
    "A": "0e11111f111111", "C": "0e11101010110e", "E": "1f10101e10101f", "F": "1f10101e101010",
    "H": "1111111f111111", "J": "0702020202120c", "K": "11121418141211", "L": "1010101010101f",
    "M": "111b1515111111", "N": "11191513111111", "P": "1e11111e101010", "R": "1e11111e141211",
    "T": "1f040404040404", "U": "1111111111110e", "V": "11111111110a04", "W": "1111111515150a",
    "X": "11110a040a1111", "Y": "11110a04040404", "Z": "1f01020408101f",
    "0": "0e11131519110e", "1": "040c040404040e", "2": "0e11010204081f", "3": "1f02040201110e",
    "4": "02060a121f0202", "5": "1f101e0101110e", "6": "0608101e11110e", "7": "1f010204080808",
    "8": "0e11110e11110e", "9": "0e11110f01020c", "+": "0004041f040400",
}  # fmt: skip
GLYPH_COLUMNS, GLYPH_ROWS = 5, 7
GLYPHS: Final = {
    char: np.array(
        [[(int(rows[2 * r : 2 * r + 2], 16) >> (4 - c)) & 1 for c in range(5)] for r in range(7)],
        dtype=bool,
    )
    for char, rows in _GLYPH_ROWS.items()
}
CODE_CHARS: Final = "ACEFHJKLMNPRTUVWXYZ234679"
"""Characters of codes: none that another one resembles."""


def blank(width: int, height: int, ground: tuple[int, int, int] = (255, 255, 255)) -> NDArray[np.uint8]:
    """A flat image, uint8 [height, width, 3]."""
    image = np.empty((height, width, 3), dtype=np.uint8)
    image[:] = ground
    return image


def paint_shape(image: NDArray[np.uint8], shape: str, color: str, rect: Rect) -> None:
    """Fill the shape inscribed in ``rect`` (pixels); a pixel is filled if its centre is inside."""
    window, u, v = _window(image, rect)
    if shape == "circle":
        mask = (u - 0.5) ** 2 + (v - 0.5) ** 2 <= 0.25
    elif shape == "triangle":
        mask = np.abs(u - 0.5) <= 0.5 * v
    elif shape == "cross":
        mask = (np.abs(u - 0.5) <= 0.17) | (np.abs(v - 0.5) <= 0.17)
    else:
        mask = np.ones(np.broadcast_shapes(u.shape, v.shape), dtype=bool)
    window[mask] = RGB[color]


def paint_glyph(image: NDArray[np.uint8], char: str, rect: Rect) -> None:
    """Stretch the character's bitmap over ``rect`` (pixels) in black."""
    window, u, v = _window(image, rect)
    rows = np.clip((v * GLYPH_ROWS).astype(int), 0, GLYPH_ROWS - 1)
    columns = np.clip((u * GLYPH_COLUMNS).astype(int), 0, GLYPH_COLUMNS - 1)
    window[GLYPHS[char][rows, columns]] = RGB["black"]


def _window(image: NDArray[np.uint8], rect: Rect) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.float64]]:
    """The pixels whose centres lie in ``rect``, and their positions in it: [1, w] and [h, 1]."""
    x1, y1, x2, y2 = rect
    height, width = image.shape[:2]
    left, right = max(0, int(np.ceil(x1 - 0.5))), min(width, int(np.ceil(x2 - 0.5)))
    top, bottom = max(0, int(np.ceil(y1 - 0.5))), min(height, int(np.ceil(y2 - 0.5)))
    u = ((np.arange(left, right) + 0.5 - x1) / (x2 - x1))[None, :]
    v = ((np.arange(top, bottom) + 0.5 - y1) / (y2 - y1))[:, None]
    return image[top:bottom, left:right], u, v
