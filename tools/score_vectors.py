"""Score files of truth vectors and print every row that comes out differently.

    python -m tools.score_vectors FILE...

A row holds an output, a gold, a rule and the score that the rule must give (see `tests_unit/vectors/scorers.jsonl`).
Exit code 0: all agree; 1: a row differs, or a row cannot be read; 2: no file, or a file that cannot be opened.
"""

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path

from bakeoff.metrics import macro_metric, mean_metric
from bakeoff.records import Record, Score
from tools.vector_rules import MEANS, RULES, Row, rule_of

_TOLERANCE = 1e-6
# Measured on the way: field of a row, metric of a score.
_METRICS = {"iou": "iou", "random_fallback": "guess", "expected_score_with_random": "expected_with_guess"}


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file; a line that is no object becomes a row that no rule knows."""
    for number, line in enumerate(path.read_text("utf-8-sig").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            row = {"problem": f"not JSON: {error}"}
        if not isinstance(row, dict):
            row = {"problem": "not an object"}
        row.setdefault("id", f"{path}:{number}")
        yield row


def differences(row: Row) -> list[str]:
    """Return in words what comes out differently for a row; nothing when it agrees."""
    if "problem" in row and "scorer" not in row:
        return [row["problem"]]
    rule = row.get("scorer")
    try:
        if rule in MEANS:
            return _differs("average", row["score"], _average(rule, row["expected"]["items"]))
        if rule not in RULES:
            return [f"no rule is called {rule!r}; known: {', '.join((*RULES, *MEANS))}"]
        scorer, target = rule_of(row)
        output = row.get("output")
        return _compare(row, scorer.score("" if output is None else output, target))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        return [f"the row cannot be scored: {type(error).__name__}: {error}"]


def _compare(row: Row, found: Score) -> list[str]:
    """Compare score and, where the row has them, what was read and measured on the way."""
    answer = None if found.answer is None else str(found.answer)
    told = _differs("score", row["score"], found.value)
    if told:
        told[0] += f"; read {answer!r} in {_shortened(row.get('output') or '')}"
    for field, metric in _METRICS.items():
        if row.get(field) is not None:
            told += _differs(metric, row[field], found.metrics.get(metric, math.nan))
    if "normalized" in row and str(answer) != str(row["normalized"]):
        told.append(f"answer is {answer!r}, expected {row['normalized']!r}")
    if "parsed" in row:
        parsed = row["parsed"]
        letter = None if parsed is None or parsed.startswith("(Z)") else parsed.strip("()")
        if letter != answer:
            told.append(f"letter is {answer!r}, expected {letter!r}")
    return told


def _average(rule: str, items: list[tuple[str, float]]) -> float:
    """Return the average of scores by the groups that `rule` averages over; NaN of nothing."""
    if not items and rule == "aggregate.mmmu_official":
        return 0.0  # its authors' word for no questions, and nobody else's
    group_of = MEANS[rule]
    records = [
        Record(
            sample_id=str(number),
            track="vectors",
            status="ok",
            score=float(score),
            groups={"group": group_of(str(group)) if group_of else str(group)},
        )
        for number, (group, score) in enumerate(items)
    ]
    found = mean_metric(records) if group_of is None else macro_metric(records, "group")
    return math.nan if found.value is None else found.value


def _differs(what: str, expected: float | None, found: float) -> list[str]:
    """Return the difference of two numbers in words; no number is NaN."""
    if expected is None and math.isnan(found):
        return []
    if expected is None:
        raise TypeError(f"the row has no {what}")
    return [] if abs(found - expected) <= _TOLERANCE else [f"{what} is {found:.10g}, expected {expected:.10g}"]


def _shortened(text: str, most: int = 160) -> str:
    """Return a text on one line."""
    return repr(text if len(text) <= most else text[:most] + "...")


def main(arguments: list[str]) -> int:
    """Score the files, print mismatches and a total, and return the exit code."""
    if not arguments:
        print("usage: python -m tools.score_vectors FILE...", file=sys.stderr)
        return 2
    total = wrong = 0
    for name in arguments:
        try:
            rows = list(read_rows(Path(name)))
        except (OSError, UnicodeDecodeError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
        for row in rows:
            told = differences(row)
            total += 1
            wrong += bool(told)
            if told:
                print(f"{row['id']} [{row.get('scorer')}]: {'; '.join(told)}\n    why: {row.get('why', '-')}")
    print(f"{total - wrong} of {total} rows agree" + (f", {wrong} differ" if wrong else ""))
    return int(wrong > 0 or total == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
