"""Small scorers for these scripts' own tables; the suite's scorers are in ``bakeoff/scorers``."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

HIT: Final = 0.5
"""A box counts as found from this intersection over union; a text from this similarity."""


@dataclass(frozen=True, slots=True)
class Result:
    """One scored output: partial credit in [0, 1], right or not, and whether it could be read."""

    score: float
    right: bool
    parsed: bool


def score(output: str, target: dict[str, object]) -> Result:
    """Score an output against a sample's target."""
    kind = target["kind"]
    if kind == "box":
        box = read_box(output)
        if box is None:
            return Result(0.0, right=False, parsed=False)
        overlap = iou(box, [float(edge) for edge in target["box"]])  # type: ignore[attr-defined]  # a list by the format
        return Result(overlap, overlap >= HIT, parsed=True)
    if kind == "text":
        best = max(similarity(output.strip(), str(answer)) for answer in target["answers"])  # type: ignore[attr-defined]  # a list by the format
        # A sentence is no code.
        return Result(best if best >= HIT else 0.0, best == 1.0, parsed=" " not in output.strip())
    pattern, wanted = (
        (r"\(?([A-D])\)?\.?", target.get("letter")) if kind == "option" else (r"(\d+)", target.get("value"))
    )
    found = re.fullmatch(pattern, output.strip())
    right = found is not None and found.group(1) == wanted
    return Result(float(right), right, found is not None)


def read_box(output: str) -> list[float] | None:
    """The box of ``[{"bbox_2d": [x1, y1, x2, y2], ...}]`` in fractions of the image, if it is one."""
    try:
        edges = json.loads(output)[0]["bbox_2d"]
        box = [float(edge) / 1000 for edge in edges]
    except (ValueError, TypeError, LookupError):
        return None
    return box if len(box) == 4 else None


def iou(one: list[float], other: list[float]) -> float:
    """Intersection over union of two boxes x1, y1, x2, y2."""
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(0.0, across) * max(0.0, down)
    areas = [max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1]) for box in (one, other)]
    return shared / (sum(areas) - shared) if shared else 0.0


def similarity(one: str, other: str) -> float:
    """One minus the Levenshtein distance in parts of the longer string, ignoring case."""
    one, other = one.lower(), other.lower()
    row = list(range(len(other) + 1))
    for index, char in enumerate(one, 1):
        last, row[0] = row[0], index
        for column, against in enumerate(other, 1):
            last, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, last + (char != against))
    return 1 - row[-1] / max(len(one), len(other), 1)


def table(rows: Iterable[tuple[dict[str, str], Result]]) -> str:
    """A text table per family and stratum: n, right, mean score, unparsed."""
    found: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for group, result in rows:
        found[group["family"], group["stratum"]].append(result)
        found[group["family"], "all"].append(result)
        found["all", "all"].append(result)
    lines = []
    for (family, stratum), results in sorted(found.items()):
        n = len(results)
        right, mean = sum(result.right for result in results), sum(result.score for result in results) / n
        unread = sum(not result.parsed for result in results)
        lines.append(f"{family:11} {stratum:13} n {n:3}  right {right / n:6.1%}  score {mean:.3f}  unparsed {unread}")
    return "\n".join(lines)
