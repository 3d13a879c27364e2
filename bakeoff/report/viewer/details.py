"""One sample in full, as plain JSON in words: the page places these texts and formats no number itself."""

from collections.abc import Sequence
from typing import Any

from bakeoff.records import BoxTarget, Record, Sample
from bakeoff.report import numbers
from bakeoff.report.boxes import box_text, in_pixels
from bakeoff.report.samples import target_text
from bakeoff.report.viewer.asked import Asked
from bakeoff.report.viewer.marking import Spot, answer_spot, split_at_answer
from bakeoff.report.viewer.thumbnails import Thumbnails
from bakeoff.report.visible import shortened, visible, visible_line

MOST_CHARACTERS = 1_000_000
"""An output is kept up to here; the page cuts what it shows much earlier and offers the rest."""

TIMES = ("queue_s", "ttft_s", "prefill_s", "decode_s", "total_s")
TOKENS = ("prompt_tokens", "image_tokens", "cached_tokens", "completion_tokens", "thinking_tokens")


def details(row: Sequence[Record | None], sample: Sample | None, asked: Asked, images: Thumbnails) -> dict[str, Any]:
    """Return the details of a sample that has at least one record. Boxes are `[x, y, width, height]` in pixels."""
    first = next(record for record in row if record is not None)
    note = None if sample else "question and target not found: the samples of this track are not prepared here"
    if sample and tuple(image.sha256 for image in sample.images) != first.image_sha256:
        sample, note = None, "question and target left out: the prepared sample is not the one that was asked"
    size = (sample.images[0].width, sample.images[0].height) if sample and sample.images else None
    target = sample.target if sample and isinstance(sample.target, BoxTarget) else None
    return {
        "question": visible(sample.question) if sample else None,
        "options": [visible_line(option) for option in sample.options] if sample else [],
        "target": target_text(sample, size) if sample else None,
        "box": Spot(box=in_pixels(target.box, size)).drawn() if target and size else None,
        "note": note,
        "pictures": [images.picture(digest, sample) for digest in first.image_sha256],
        "prompts": asked.prompts(row, sample),
        "answers": _answers(row, target, size),
    }


def _answers(
    row: Sequence[Record | None], target: BoxTarget | None, size: tuple[int, int] | None
) -> list[dict[str, Any] | None]:
    """Return what each arm said; arms that said the same are read once, which is most of them."""
    known: dict[tuple[Any, ...], dict[str, Any]] = {}
    found: list[dict[str, Any] | None] = []
    for record in row:
        if record is None or record.status == "error":
            found.append(None if record is None else _failure(record))
            continue
        key = (record.output, record.answer, record.scorer, record.correct, *sorted(record.metrics.items()))
        if key not in known:
            known[key] = _said(record, target, size)
        found.append({**known[key], **_measured(record)})
    return found


def _failure(record: Record) -> dict[str, Any]:
    failure = record.error
    text = f"{failure.type}: {failure.message}" if failure else "no valid output"
    return {"error": visible(shortened(text, MOST_CHARACTERS)), "line": _tries(record)}


def _said(record: Record, target: BoxTarget | None, size: tuple[int, int] | None) -> dict[str, Any]:
    spot = answer_spot(record, target, size) if target and size else None
    parts = split_at_answer(shortened(record.output or "", MOST_CHARACTERS), record.answer)
    return {
        "output": [visible(part) for part in parts],
        "answer": None if record.answer is None else visible_line(shortened(record.answer, MOST_CHARACTERS)),
        **({"spot": spot.drawn(), "where": _where(spot)} if spot else {}),
    }


def _measured(record: Record) -> dict[str, Any]:
    return {
        "line": _line(record),
        "cells": [numbers.count(getattr(record, name)) for name in TOKENS]
        + [numbers.latency(getattr(record, name)) for name in TIMES],
    }


def _where(spot: Spot) -> str:
    if spot.box is not None:
        return box_text(spot.box)
    x, y = spot.point or (0.0, 0.0)
    return f"x {numbers.whole(x)}, y {numbers.whole(y)} px"


def _line(record: Record) -> str:
    """Return score, rule and ending of one answer in a line."""
    parts = [f"score {numbers.ratio(record.score)}"]
    parts += [f"{visible_line(name)} {numbers.ratio(value)}" for name, value in sorted(record.metrics.items())]
    parts.append(f"rule {visible_line(record.scorer)}" if record.scorer else "rule not recorded")
    if record.completion_tokens is not None:
        parts.append(numbers.some(record.completion_tokens, "token"))
    parts.append("cut off at the limit" if record.status == "truncated" else "ended by itself")
    parts += [f"image: {visible_line(change)}" for change in record.image_changes]
    if record.total_s is not None:
        parts.append(numbers.latency(record.total_s))
    return ", ".join(parts) + _tries(record, before=", ")


def _tries(record: Record, before: str = "") -> str:
    return f"{before}{numbers.count(record.attempt)} attempts" if record.attempt > 1 else ""
