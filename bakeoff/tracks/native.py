"""Protocol `native`: each family of models is asked for boxes the way it was trained to, and read accordingly.

The prompt and the form come from `families`; this module turns what a family writes into numbers that the box scorers
read. A family without a grounding format runs the track's default protocol under its own name, so that a report can
say that the frame is assumed.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Final, Literal

import msgspec

from bakeoff.families import Family
from bakeoff.records import BoxTarget, Sample, Score, Target
from bakeoff.scorers import Scorer, with_frame
from bakeoff.scorers.coordinates import read_coordinates
from bakeoff.scorers.targets import expect
from bakeoff.text import final_answer
from bakeoff.tracks.grounding import gold_box
from bakeoff.tracks.track import Protocol, asking

_MAX_TOKENS = 256
_STEPS = 1024
_LOC: Final = re.compile(r"<loc(\d{4})>\s*" * 4)
_BOX_TAG: Final = re.compile(r"<box>([-+0-9.,\s]+)</box>")


def native(family: Family, rule: str, subject: Literal["region", "element"], default: Protocol) -> Protocol:
    """Return the protocol of a family: `rule` is a box scorer, `subject` what the track asks for."""
    template = family.region if subject == "region" else family.element
    name = f"native-{family.name}"
    if template is None:
        return msgspec.structs.replace(default, name=name)
    scorer = _scorer(family, rule)
    return Protocol(
        name=name,
        render=asking(lambda sample: template.format(sample.question)),
        max_tokens=_MAX_TOKENS,
        scorer=lambda _: scorer,
        oracle=lambda sample: _oracle(family, sample),
        frame=family.frame,
    )


@cache
def _scorer(family: Family, rule: str) -> Scorer:
    """Return the box scorer of a family; the same object each time, so that records name one rule."""
    framed = with_frame(rule, family.frame)

    def score(output: str, target: Target) -> Score:
        return framed.score(_FORMS[family.form](final_answer(output)), _seen_by(family, target))

    return msgspec.structs.replace(framed, name=f"{rule}@{family.name}", score=score)


def _seen_by(family: Family, target: Target) -> BoxTarget:
    """Return the target with the size of the image after the family's resizing."""
    box = expect(target, BoxTarget)
    if family.resize is None or box.image_size is None:
        return box
    return msgspec.structs.replace(box, image_size=family.resize.apply(box.image_size))


def _swap_axes(text: str) -> str:
    """Return the first box or point of a text that has y first as numbers with x first; other texts as they are."""
    found = read_coordinates(text)
    if found is None:
        return text
    pairs = [found.values[start : start + 2] for start in range(0, len(found.values), 2)]
    return str([float(value) for y, x in pairs for value in (x, y)]) if found.is_decimal else _whole(pairs)


def _whole(pairs: list[tuple[float, ...]]) -> str:
    """Return swapped pairs in whole numbers, so that no scorer takes them for fractions."""
    return "[" + ", ".join(f"{value:.10g}" for y, x in pairs for value in (x, y)) + "]"


def _read_loc(text: str) -> str:
    """Return the first four location tokens as fractions, x first; an empty text when there are none."""
    found = _LOC.search(text)
    if found is None:
        return ""
    y1, x1, y2, x2 = (int(step) / _STEPS for step in found.groups())
    return str([x1, y1, x2, y2])


def _read_box_tag(text: str) -> str:
    """Return the text with the numbers in its first box tag in brackets."""
    return _BOX_TAG.sub(lambda match: "[" + ", ".join(match[1].replace(",", " ").split()) + "]", text, count=1)


_FORMS: Final[dict[str, Callable[[str], str]]] = {
    "json": str,
    "yxyx": _swap_axes,
    "loc": _read_loc,
    "box_tag": _read_box_tag,
}


def _oracle(family: Family, sample: Sample) -> str:
    """Return the gold as the family writes it."""
    size = _seen_by(family, sample.target).image_size
    x1, y1, x2, y2 = gold_box(sample, family.frame, size)
    if family.form == "loc":
        steps = [min(round(value * _STEPS), _STEPS - 1) for value in (y1, x1, y2, x2)]
        return "".join(f"<loc{step:04d}>" for step in steps) + " target"
    if family.form == "box_tag":
        return f"<box>{x1} {y1} {x2} {y2}</box>"
    box = [y1, x1, y2, x2] if family.form == "yxyx" else [x1, y1, x2, y2]
    return f'[{{"bbox": {box}, "label": "target"}}]'
