"""More samples for the embedded checkpoint than the calibration track has, as custom cases."""

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.tiny.heldout import write_samples

CALIBRATION_SEED = 2026
"""What the samples of the calibration track were drawn with; every other seed gives others."""


def write_cases(folder: Path, count: int) -> None:
    """Write `count` cases of the same families below `folder`, as the data folder of a user has them."""
    drawn = itertools.islice(_drawn(folder / "images"), count)
    (folder / "tasks").mkdir(parents=True)
    (folder / "tasks" / "drawn.json").write_text(json.dumps(list(drawn), indent=1), "utf-8")


def _drawn(images: Path) -> Iterator[dict[str, Any]]:
    for seed in itertools.count(CALIBRATION_SEED + 1):
        place = images / f"s{seed}"
        write_samples(place, seed)
        for line in (place / "samples.jsonl").read_text("utf-8").splitlines():
            yield case_of(json.loads(line), f"s{seed}")


def case_of(sample: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the case that asks what `sample` asks; its images lie in `place` below the image root."""
    scorer, expected = _expected(sample["target"], sample["options"])
    case = {
        "id": f"{sample['id']}-{place}",
        "category": sample["groups"]["family"],
        "images": [f"{place}/{image['path']}" for image in sample["images"]],
        "prompt": sample["question"],
        "scorer": scorer,
        "expected": expected,
        "max_tokens": 64,
    }
    return case if sample["system"] is None else {**case, "system": sample["system"]}


def _expected(target: Mapping[str, Any], options: list[str]) -> tuple[str, dict[str, Any]]:
    match target["kind"]:
        case "box":
            return "bbox_iou", {"bbox": [round(1000 * side, 3) for side in target["box"]]}
        case "option":
            return "mc_option", {"gold": target["letter"], "n": len(options)}
        case "number":
            return "mathvista", {"kind": "value", "answer": target["value"]}
        case _:
            return "anls", {"answers": target["answers"]}
