"""Where an answer stands: its words in the output, its box or point in the picture."""

import re

import msgspec

from bakeoff.geometry import box_center, frame_size, is_inside, normalize_box, normalize_point
from bakeoff.records import BoxTarget, Record
from bakeoff.report.boxes import FRAMES, Box, answer_box, in_pixels
from bakeoff.scorers.coordinates import read_coordinates

_CLICK = "click_in_box"
_CENTRE = "box_center"
_LONGEST_PATTERN = 500
_PIECES = re.compile(r"\w+|[^\w\s]")


class Spot(msgspec.Struct, frozen=True, kw_only=True):
    """What to draw for an answer, in pixels: a box, the point that scoring used, or both."""

    box: Box | None = None
    point: tuple[float, float] | None = None

    def drawn(self) -> list[list[float] | None]:
        """Return the box as `[x, y, width, height]` and the point as `[x, y]`, None for what there is not."""
        box = self.box and [self.box[0], self.box[1], self.box[2] - self.box[0], self.box[3] - self.box[1]]
        return [numbers and [round(number, 2) for number in numbers] for numbers in (box, self.point)]


def answer_spot(record: Record, target: BoxTarget, size: tuple[int, int]) -> Spot | None:
    """Return where an answer points to in an image of `size`; None when it names no place, or not the one scored.

    Coordinates are read as the scorer read them; what would contradict the recorded score is not drawn.
    """
    rule, _, frame_name = record.scorer.partition("@")
    if rule != _CLICK:
        box = answer_box(record, target, size)
        if box is None:
            return None
        return Spot(box=box, point=box_center(box) if rule == _CENTRE else None)
    frame, found = FRAMES.get(frame_name), read_coordinates(record.output or "")
    if frame is None or found is None or record.answer != str(found):
        return None
    scale = frame_size(frame, target.image_size or size)
    box = normalize_box(found.box_in(frame), scale) if found.is_box else None
    point = box_center(box) if box else normalize_point(found.point_in(frame), scale)
    if is_inside(point, target.box) != bool(record.correct):
        return None
    return Spot(box=in_pixels(box, size) if box else None, point=(point[0] * size[0], point[1] * size[1]))


def split_at_answer(output: str, answer: str | None) -> tuple[str, str, str]:
    """Cut an output into what stands before, in and after its answer; all of it is "before" when that is not plain.

    The answer is looked for as it is, then as whole words, then with other white space and in other case; a way that
    finds it in several places decides nothing.
    """
    if answer and len(answer) <= _LONGEST_PATTERN:
        exact = re.escape(answer)
        loose = r"\s*".join(map(re.escape, _PIECES.findall(answer)))
        whole = rf"(?<!\w){exact}(?!\w)", rf"(?<!\w){loose}(?!\w)"
        for pattern, flags in ((exact, 0), (whole[0], 0), (whole[1], re.IGNORECASE)):
            spans = [match.span() for match in re.finditer(pattern, output, flags)] if loose else []
            if len(spans) == 1:
                start, end = spans[0]
                return output[:start], output[start:end], output[end:]
    return output, "", ""
