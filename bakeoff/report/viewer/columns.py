"""The index of a track: a few small columns over all its samples, on which filters, counts and order are made."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from bakeoff.records import Record
from bakeoff.report.causes import CAUSES, cause_of
from bakeoff.report.measuring import natural
from bakeoff.report.visible import visible_line
from bakeoff.validity.retold import Gap, RetoldArm, gaps

RIGHT, WRONG, TRUNCATED, UNPARSED, ERROR = 1, 2, 4, 8, 16
"""Bits of a state; 0 where an arm has no record."""

_ZERO = ord("0")
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NONE = "-"

Row = Sequence[Record | None]


def track_index(
    rows: Mapping[str, Row], starts: Sequence[int], retold: Sequence[RetoldArm | None] = ()
) -> dict[str, Any]:
    """Return the columns: one character a sample and arm for states and for answers, numbers for groups.

    `answers` tells only whether two arms of a sample read the same; `causes` has a character for each flip of a pair
    of arms, in the order of the samples, as the report has them: `retold` is what each arm said again, if anything.
    """
    table = list(rows.values())
    arms = range(len(table[0]) if table else 0)
    return {
        "ids": [visible_line(key) for key in rows],
        "pages": list(starts),
        "states": ["".join(chr(_ZERO + state_of(row[arm])) for row in table) for arm in arms],
        "answers": ["".join(column) for column in zip(*(_answer_classes(row) for row in table), strict=True)],
        "groups": _groups(table),
        "causes": {f"{a}-{b}": _causes(table, a, b, _gaps(retold, a, b)) for a, b in itertools.combinations(arms, 2)},
    }


def state_of(record: Record | None) -> int:
    """Return the state of one answer as bits."""
    if record is None:
        return 0
    if record.status == "error":
        return ERROR
    return (
        (RIGHT if record.correct else WRONG)
        | (TRUNCATED if record.status == "truncated" else 0)
        | (UNPARSED if record.is_unparsed else 0)
    )


def is_disputed(row: Row) -> bool:
    """Return whether one arm has a sample right and another that tried it has not."""
    return len({bool(record.correct) for record in row if record is not None}) > 1


def _answer_classes(row: Row) -> list[str]:
    """Return a letter for each arm: the same letter for the same answer; without an answer, for the same output."""
    known: dict[tuple[str, str | None], str] = {}
    letters: list[str] = []
    for record in row:
        if record is None or record.status == "error":
            letters.append(_NONE)
            continue
        key = ("answer", record.answer) if record.answer is not None else ("output", record.output)
        letters.append(known.setdefault(key, _ALPHABET[min(len(known), len(_ALPHABET) - 1)]))
    return letters


def _groups(table: Sequence[Row]) -> list[list[Any]]:
    """Return for each dimension its name, its values in natural order, and each sample's value as a number or -1."""
    groups = [next(record.groups for record in row if record is not None) for row in table]
    found: list[list[Any]] = []
    for name in sorted({dimension for group in groups for dimension in group}):
        values = sorted({group[name] for group in groups if name in group}, key=natural)
        numbers = {value: number for number, value in enumerate(values)}
        codes = [numbers.get(group.get(name, ""), -1) if name in group else -1 for group in groups]
        found.append([visible_line(name), [visible_line(value) for value in values], codes])
    return found


def _gaps(retold: Sequence[RetoldArm | None], a: int, b: int) -> Mapping[str, Gap]:
    one, other = (retold[arm] if arm < len(retold) else None for arm in (a, b))
    return gaps(one, other) if one is not None and other is not None else {}


def _causes(table: Sequence[Row], a: int, b: int, known: Mapping[str, Gap]) -> str:
    codes = {name: _ALPHABET[number] for number, name in enumerate(CAUSES)}
    pairs = ((row[a], row[b]) for row in table)
    return "".join(
        codes[cause_of(x, y, known.get(x.sample_id))]
        for x, y in pairs
        if x is not None and y is not None and bool(x.correct) != bool(y.correct)
    )
