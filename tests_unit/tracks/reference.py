"""The reference system's 9,532 committed items as rows of their datasets. The files stay outside this repository."""

import ast
import functools
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from bakeoff.records import Image
from bakeoff.tracks.cases import options_in
from bakeoff.tracks.mmmu import SUBJECTS
from bakeoff.tracks.source import Row

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "reference_tasks"
NAMES = ("screenspot", "refcoco", "docvqa", "infographicvqa", "blink", "mathvista", "mmmu")
LETTER_NOW = "\nAnswer with the option's letter from the given choices directly."
Item = dict[str, Any]

needs_reference = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no reference items at {FOLDER}")


@functools.cache
def items(name: str) -> tuple[Item, ...]:
    return tuple(json.loads((FOLDER / f"{name}.json").read_text("utf-8")))


def images(item: Item) -> tuple[Image, ...]:
    return tuple(
        Image(path=path, sha256=hashlib.sha256(path.encode()).hexdigest(), width=1000, height=1000)
        for path in item["images"]
    )


def sha256_of(ids: list[str]) -> str:
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def row(name: str, item: Item) -> Row:
    """Return the row that an item was made of, as far as the item tells."""
    split, index, values = _ROWS[name](item)
    return Row(split=split, index=index, values=values)


def _screenspot(item: Item) -> tuple[str, int, Item]:
    meta = item["meta"]
    box = [value / 1000 for value in item["expected"]["bbox"]]
    return "test", meta["hf_index"], {"bbox": box, **meta}


def _refcoco(item: Item) -> tuple[str, int, Item]:
    meta, (x1, y1, x2, y2) = item["meta"], item["expected"]["bbox"]
    values = {"question_id": meta["question_id"], "answer": [meta["expression"]], "bbox": [x1, y1, x2 - x1, y2 - y1]}
    return meta["subset"], 0, values


def _page(item: Item) -> tuple[str, int, Item]:
    meta = item["meta"]
    types = [meta["question_type"]]
    values = {"question": meta["question"], "answers": meta["answers"], "question_types": types, "answer_type": types}
    return "validation", 0, {"questionId": item["id"].rpartition("_")[2], **values}


def _blink(item: Item) -> tuple[str, int, Item]:
    choices = list(options_in(item["prompt"]))
    values = {"prompt": item["prompt"], "choices": choices, "answer": item["expected"]["text"]}
    return item["meta"]["config"], int(item["id"].rpartition("_")[2]), values


def _mathvista(item: Item) -> tuple[str, int, Item]:
    expected, meta, hint = item["expected"], item["meta"], item["prompt"].partition("\n")[0]
    is_choice = expected["kind"] == "mc"
    pid = item["id"].rpartition("_")[2]
    values = {
        "pid": pid,
        "question": "",
        "query": item["prompt"],
        "choices": list(options_in(item["prompt"], expected["n"])) if is_choice else None,
        "precision": 1.0 if "one decimal" in hint else 2.0 if "two decimal" in hint else None,
        "answer": expected["text"] if is_choice else expected["answer"],
        "question_type": meta["question_type"],
        "answer_type": "text" if is_choice else expected["answer_type"],
        "metadata": {"task": meta["subject"], "grade": meta["level"]},
    }
    return "testmini", int(pid) - 1, values


def _mmmu(item: Item) -> tuple[str, int, Item]:
    body = item["prompt"].removesuffix(LETTER_NOW)
    question, _, rest = body.partition("\nA. ")
    options, letter = [], "B"
    while f"\n{letter}. " in rest:
        option, _, rest = rest.partition(f"\n{letter}. ")
        options.append(option)
        letter = chr(ord(letter) + 1)
    options.append(rest)
    assert ast.literal_eval(str(options)) == options
    values = {"question": question, "options": str(options), "answer": item["expected"]["gold"]}
    return item["meta"]["subject"], int(item["id"].rpartition("_")[2]), {"question_type": "multiple-choice", **values}


_ROWS = {
    "screenspot": _screenspot,
    "refcoco": _refcoco,
    "docvqa": _page,
    "infographicvqa": _page,
    "blink": _blink,
    "mathvista": _mathvista,
    "mmmu": _mmmu,
}


def mmmu_rows() -> list[Row]:
    """Return 900 rows: the items, and open questions in the places that the items leave free."""
    known = {(found.split, found.index): found for found in (row("mmmu", item) for item in items("mmmu"))}
    values = {"question": "?", "options": "[]", "answer": "x", "question_type": "open"}
    return [
        known.get((subject, index), Row(split=subject, index=index, values=values))
        for subject in SUBJECTS
        for index in range(30)
    ]
