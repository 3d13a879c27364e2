"""What the grounding tracks share: prompt texts, oracle answers, and the reading of clicks.

The texts are data, taken from the reference system to the letter; a changed blank changes scores.
"""

from typing import Final

import msgspec

from bakeoff.geometry import Frame, box_center
from bakeoff.records import BoxTarget, Sample, Score, Target
from bakeoff.scorers import Scorer, with_frame
from bakeoff.scorers.coordinates import read_coordinates
from bakeoff.scorers.targets import expect

GROUNDING_SYSTEM: Final = """When asked for bounding boxes for objects, return a valid JSON array.
Each array item must be an object with:
- image_id: the 0-based index of the image
- bbox_2d: [xmin, ymin, xmax, ymax] normalized integer coordinates in [0, 1000]
- label: a concise label you choose for the predicted object or region
Return one item per visible matching object or region. Return [] if none are visible."""


def gold_box(sample: Sample, frame: Frame = "norm1000", size: tuple[int, int] | None = None) -> list[float]:
    """Return the gold box in a frame, for oracle answers; `size` stands in for the image's own in pixels."""
    target = expect(sample.target, BoxTarget)
    width, height = {"norm1000": (1000, 1000), "norm1": (1, 1), "pixel": size or target.image_size or (1, 1)}[frame]
    return [round(value * side, 6) for value, side in zip(target.box, (width, height) * 2, strict=True)]


def oracle_json(sample: Sample) -> str:
    """Return the gold as the grounding system prompt asks for it."""
    return f'[{{"image_id": 0, "bbox_2d": {gold_box(sample)}, "label": "target"}}]'


def oracle_bare(sample: Sample) -> str:
    """Return the gold as four bare numbers."""
    return ", ".join(str(value) for value in gold_box(sample))


def oracle_click(sample: Sample) -> str:
    """Return a click on the middle of the gold, in pixels where the size of the image is known, else in fractions."""
    size = expect(sample.target, BoxTarget).image_size
    x1, y1, x2, y2 = gold_box(sample, "pixel" if size else "norm1", size)
    x, y = box_center((x1, y1, x2, y2))
    return f"pyautogui.click(x={x:.4f}, y={y:.4f})"


def _score_click(output: str, target: Target) -> Score:
    """Score a click in pixels, or in fractions where every number lies from 0 to 1 and has a decimal point.

    The prompt names no frame, so both are read; the written form decides, never the target. Without the size of the
    image, pixels cannot be placed and fractions are all that counts.
    """
    found = read_coordinates(output)
    is_fraction = found is not None and found.is_decimal and all(0.0 <= value <= 1.0 for value in found.values)
    frame: Frame = "norm1" if is_fraction or expect(target, BoxTarget).image_size is None else "pixel"
    return with_frame("click_in_box", frame).score(output, target)


CLICK: Final = with_frame("click_in_box", "norm1000")
PIXEL_CLICK: Final[Scorer] = msgspec.structs.replace(CLICK, name="click_in_box@pixel_or_fraction", score=_score_click)
