"""Pictures of the speed track: the same pixels each time, of the size asked, and no blank sheets."""

from collections.abc import Callable

import pytest
from PIL import Image, ImageChops

from bakeoff.speed.drawing import draw_page, draw_screen

Draw = Callable[[int, int, int], Image.Image]


@pytest.mark.parametrize("draw", [draw_page, draw_screen])
def test_the_same_seed_gives_the_same_pixels_and_another_one_does_not(draw: Draw) -> None:
    one, again, other = draw(400, 500, 1), draw(400, 500, 1), draw(400, 500, 2)
    assert one.size == (400, 500)
    assert one.tobytes() == again.tobytes()
    assert ImageChops.difference(one, other).getbbox() is not None


@pytest.mark.parametrize("draw", [draw_page, draw_screen])
@pytest.mark.parametrize("size", [(512, 512), (1240, 1754), (1920, 1080)])
def test_a_picture_is_filled_from_top_to_bottom(draw: Draw, size: tuple[int, int]) -> None:
    grey = draw(*size, 0).convert("L")
    for part in range(4):
        strip = grey.crop((0, part * size[1] // 4, size[0], (part + 1) * size[1] // 4))
        low, high = strip.getextrema()
        assert isinstance(low, int | float)
        assert isinstance(high, int | float)
        assert high - low > 100, f"quarter {part} of {size} has nothing to read"
