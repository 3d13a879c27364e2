"""Reads custom cases: the reference system's JSON, checked field by field before anything runs.

A file holds one object or a list of them. Every refusal names file, item, field, what was expected and what is there.
Nothing here opens an image; see `custom` for what becomes of a case.
"""

import json
import re
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final

import msgspec

from bakeoff.errors import DataMissing
from bakeoff.records import BoxTarget, NumberTarget, OptionTarget, Target, TextTarget
from bakeoff.tracks.items import Fields, Item, is_number, is_text, shortened
from bakeoff.tracks.rows import LETTERS
from bakeoff.tracks.track import SAFE_ID

SCORER_NAMES: Final = (
    *("contains", "exact", "choice", "anls", "mathvista"),
    *("mc_option", "choice_letter", "bbox_iou", "click_in_box", "click_point"),
)
MAX_TOKENS: Final = 128
_GRID: Final = 1000.0
_HALF: Final = 0.5
_FIELDS: Final = ("id", "category", "images", "prompt", "system", "scorer", "expected", "max_tokens", "meta")
_GOLDS: Final = ("text", "answers", "anls", "bbox", "iou", "gold", "n", "kind", "answer", "answer_type")
_LETTER: Final = re.compile(r"\(?([A-Za-z])\)?")
_OPTION: Final = re.compile(r"^(?:\(([A-Z])\)|([A-Z])\.)[ \t]+", re.MULTILINE)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One checked item; `images` are paths below the image root, `rule` is a scorer with its threshold if any."""

    id: str
    category: str
    images: tuple[str, ...]
    prompt: str
    system: str | None
    rule: str
    target: Target
    options: tuple[str, ...]
    max_tokens: int
    place: str


def read_cases(folder: Path) -> tuple[Case, ...]:
    """Read all `*.json` of `folder`, in the order of their names; hidden ones, which systems leave, are no cases.

    Raises:
        DataMissing: when there is none, or one is not as described; the message says where and what was expected.
    """
    files = sorted(file for file in folder.glob("*.json") if not file.name.startswith("."))
    if not files:
        raise DataMissing(f"no custom cases: there is no *.json in {folder}.\nHow to write one: docs/custom-cases.md")
    cases: dict[str, Case] = {}
    for file in files:
        for case in read_file(file):
            if case.id in cases:
                raise DataMissing(
                    f"{case.place}, field id: expected an id of its own, found {case.id!r}, "
                    f"which is also that of {cases[case.id].place}"
                )
            cases[case.id] = case
    return tuple(cases.values())


def read_file(file: Path) -> list[Case]:
    """Read one file; errors as `read_cases`, except that ids of other files are not known here."""
    try:
        content = json.loads(file.read_text("utf-8-sig"), object_pairs_hook=Fields.of)
    except OSError as error:
        raise DataMissing(f"{file} cannot be read: {error.strerror}. Mend it, or take it out of the folder") from error
    except RecursionError as error:
        raise DataMissing(f"{file}: expected an object or a list of objects, found lists in lists in lists") from error
    except ValueError as error:
        raise DataMissing(f"{file}: expected JSON in UTF-8: {error}") from error
    items = content if isinstance(content, list) else [content]
    cases = []
    for number, fields in enumerate(items):
        place = f"{file}, item {number}"
        if not isinstance(fields, dict):
            raise DataMissing(f"{place}: expected an object, found {shortened(repr(fields))}")
        cases.append(_read(Item(place, fields)))
    return cases


def options_in(prompt: str, count: int | None = None) -> tuple[str, ...]:
    """Return the texts of the lettered lines that close a prompt, from A on; none when there are not `count` of them.

    A line begins with `(A) ` or `A. `; an option may have several lines, the last one has one.
    """
    marks = list(_OPTION.finditer(prompt))
    letters = "".join(mark[1] or mark[2] for mark in marks)
    start = letters.rfind("AB")
    if start < 0:
        return ()
    length = next((n for n in range(len(letters) - start, 0, -1) if letters[start : start + n] == LETTERS[:n]), 0)
    if count is not None and length != count:
        return ()
    run = marks[start : start + length]
    ends = [*(mark.start() for mark in run[1:]), len(prompt)]
    found = [prompt[mark.end() : end].strip() for mark, end in zip(run, ends, strict=True)]
    return (*found[:-1], found[-1].partition("\n")[0].strip())


def _read(item: Item) -> Case:
    """Check one item."""
    item.check_names(_FIELDS)
    item.check_names(_GOLDS, within="expected")
    name = item.text("id")
    if not SAFE_ID.fullmatch(name):
        raise item.refuse("id", "letters, digits and _ . + - only, so that it can be typed after -k", name)
    prompt, scorer = item.text("prompt"), item.get("scorer")
    if scorer not in SCORER_NAMES:
        raise item.refuse("scorer", f"one of {', '.join(SCORER_NAMES)}", scorer)
    if not isinstance(item.get("expected"), dict):
        raise item.refuse("expected", "an object", item.get("expected"))
    rule, target = _TARGETS[scorer](item, scorer, prompt)
    return Case(
        id=name,
        category=item.text("category"),
        images=_images(item),
        prompt=prompt,
        system=None if item.get("system") is None else item.text("system"),
        rule=rule,
        target=target,
        options=target.options if isinstance(target, OptionTarget) else (),
        max_tokens=item.whole("max_tokens", MAX_TOKENS, 1, 1_000_000),
        place=item.place,
    )


def _images(item: Item) -> tuple[str, ...]:
    """Return the image paths; none of them may leave the image root."""
    found = item.get("images")
    if found is None:
        return ()
    if not isinstance(found, list):
        raise item.refuse("images", "a list of paths below the image root", found)
    for number, path in enumerate(found):
        if not isinstance(path, str) or not path:
            raise item.refuse(f"images[{number}]", "a path below the image root", path)
        pure = PurePosixPath(path.replace("\\", "/"))
        if pure.is_absolute() or PureWindowsPath(path).drive or ".." in pure.parts:
            raise item.refuse(f"images[{number}]", "a path that stays below the image root", path)
    return tuple(found)


def _text(item: Item, scorer: str, _prompt: str) -> tuple[str, Target]:
    return scorer, TextTarget(answers=(item.text("expected.text"),))


def _answers(item: Item, scorer: str, _prompt: str) -> tuple[str, Target]:
    found = item.get("expected.answers")
    if not isinstance(found, list) or not found or not all(map(is_text, found)):
        raise item.refuse("expected.answers", "a list of texts that are not blank", found)
    threshold = item.number("expected.anls", _HALF, 0.0, 1.0)
    return f"{scorer}@{threshold:g}", TextTarget(answers=tuple(found))


def _box(item: Item, scorer: str, _prompt: str) -> tuple[str, Target]:
    found = item.get("expected.bbox")
    expected = "four numbers x1, y1, x2, y2 on the grid of 0 to 1000, with x1 < x2 and y1 < y2"
    if not isinstance(found, list) or len(found) != 4 or not all(is_number(value) for value in found):  # noqa: PLR2004
        raise item.refuse("expected.bbox", expected, found)
    x1, y1, x2, y2 = (float(value) for value in found)
    if not (0.0 <= x1 < x2 <= _GRID and 0.0 <= y1 < y2 <= _GRID):
        raise item.refuse("expected.bbox", expected, found)
    if x2 <= 1.0 and y2 <= 1.0:
        raise item.refuse("expected.bbox", f"{expected}; these are fractions, multiply them by 1000", found)
    target = BoxTarget(box=(x1 / _GRID, y1 / _GRID, x2 / _GRID, y2 / _GRID))
    if scorer != "bbox_iou":
        return scorer, target
    return f"{scorer}@{item.number('expected.iou', _HALF, 0.0, 1.0):g}", target


def _letter(item: Item, field: str, count: int) -> str:
    """Return a gold letter among the first `count`."""
    found = item.get(field)
    match = _LETTER.fullmatch(found.strip()) if isinstance(found, str) else None
    if match is None or match[1].upper() not in LETTERS[:count]:
        raise item.refuse(field, f"a letter from A to {LETTERS[count - 1]}", found)
    return match[1].upper()


def _choice_letter(item: Item, scorer: str, prompt: str) -> tuple[str, Target]:
    options = options_in(prompt)
    count = len(options) or 4
    return scorer, OptionTarget(letter=_letter(item, "expected.text", count), count=count, options=options)


def _mc_option(item: Item, scorer: str, prompt: str, default: int = 4) -> tuple[str, Target]:
    count = item.whole("expected.n", default, 1, len(LETTERS))
    letter = _letter(item, "expected.gold", count)
    return scorer, OptionTarget(letter=letter, count=count, options=options_in(prompt, count))


def _mathvista(item: Item, scorer: str, prompt: str) -> tuple[str, Target]:
    """Return a letter for kind mc; a list, a number or a text for kind value."""
    kind = item.get("expected.kind")
    if kind == "mc":
        return _mc_option(item, scorer, prompt, default=5)
    if kind != "value":
        raise item.refuse("expected.kind", "mc or value", kind)
    found = item.get("expected.answer")
    answer = found.strip() if isinstance(found, str) else f"{found:.12g}" if is_number(found) else ""
    if not answer:
        raise item.refuse("expected.answer", "a text or a number", found)
    bare = re.sub(r"[\s,$]", "", answer).rstrip("%.")
    if re.fullmatch(r"[-+]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)", bare):
        return scorer, NumberTarget(value=bare, precision=len(bare.partition(".")[2]))
    return scorer, TextTarget(answers=(answer,))


_TARGETS: Final = {
    **dict.fromkeys(("contains", "exact", "choice"), _text),
    "anls": _answers,
    **dict.fromkeys(("bbox_iou", "click_in_box", "click_point"), _box),
    "choice_letter": _choice_letter,
    "mc_option": _mc_option,
    "mathvista": _mathvista,
}
