"""Score files of truth vectors and print every row that comes out differently.

    python -m tools.score_vectors FILE...

A row holds an output, a gold, a rule and the score that the rule must give (see `tests_unit/vectors/scorers.jsonl`).
Exit code 0: all agree; 1: a row differs, or a row cannot be read; 2: no file, or a file that cannot be opened.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bakeoff.metrics import macro_metric, mean_metric
from bakeoff.records import BoxTarget, NumberTarget, OptionTarget, Record, Score, Target, TextTarget
from bakeoff.scorers import SCORERS, Scorer, with_frame

Row = dict[str, Any]
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_TOLERANCE = 1e-6


def _box(expected: Row) -> Target:
    return BoxTarget(box=tuple(expected["gold_xyxy_norm"]), image_size=tuple(expected["image_size"]))


def _text(expected: Row) -> Target:
    answers = expected["answers"] if "answers" in expected else expected["answer"]
    return TextTarget(answers=tuple(answers) if isinstance(answers, list) else (str(answers),))


def _option(expected: Row) -> Target:
    options = tuple(expected.get("options") or expected["choices"])
    return OptionTarget(letter=expected["answer"].strip("()"), count=len(options), options=options)


def _mathvista(expected: Row) -> Target:
    if expected["question_type"] == "multi_choice":
        options = tuple(expected["choices"])
        letter = _ALPHABET[options.index(expected["answer"])]
        return OptionTarget(letter=letter, count=len(options), options=options)
    if expected["answer_type"] == "list":
        return TextTarget(answers=(expected["answer"],))
    return NumberTarget(value=expected["answer"], precision=int(expected["precision"] or 0))


RULES: dict[str, tuple[str, Callable[[Row], Target]]] = {
    "anls.official": ("anls_official", _text),
    "anls.default": ("anls", _text),
    "mathvista_extraction.official": ("mathvista_extraction_official", _mathvista),
    "mathvista_raw.official_no_llm": ("mathvista_official_no_llm", _mathvista),
    "mathvista_raw.default": ("mathvista", _mathvista),
    "mmmu_mc.official": ("mmmu_official", _option),
    "mmmu_mc.default": ("option_letter", _option),
    "mmmu_open.official": ("mmmu_open_official", _text),
    "mmmu_open.default": ("mmmu_open", _text),
    "blink.official_no_llm": ("blink_official", _option),
    "blink.default": ("option_letter", _option),
    "screenspot.seeclick_official": ("seeclick_official", _box),
    "screenspot.default": ("click_in_box", _box),
    "refcoco.vlmevalkit_acc50": ("refcoco_vlmevalkit", _box),
    "refcoco.default_acc50": ("box_iou", _box),
    "refcoco.default_center": ("box_center", _box),
}
FRAMED = frozenset({"click_in_box", "box_iou", "box_center"})

MEANS: dict[str, Callable[[str], str] | None] = {
    # What a row's group is averaged by; None for a plain mean, which MMMU's size-weighted mean of subjects is too.
    "aggregate.micro": None,
    "aggregate.mmmu_official": None,
    "aggregate.blink_official_macro": str,
    "aggregate.split_macro": str,
    "aggregate.six_cell_macro": str,
    "aggregate.platform_macro": lambda group: group.partition("/")[0],
}


def rule_of(row: Row) -> tuple[Scorer, Target]:
    """Return the scorer and the target of a row.

    Raises:
        KeyError: when the rule is not known, or the gold lacks something.
    """
    name, target = RULES[row["scorer"]]
    scorer = with_frame(name, row["expected"]["coord_space"]) if name in FRAMED else SCORERS[name]
    return scorer, target(row["expected"])


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file; a line that is no object becomes a row that no rule knows."""
    for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1):
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
    if "problem" in row:
        return [row["problem"]]
    rule = row.get("scorer")
    try:
        if rule in MEANS:
            return _differs("average", row["score"], _average(rule, row["expected"]["items"]))
        if rule not in RULES:
            return [f"no rule is called {rule!r}; known: {', '.join((*RULES, *MEANS))}"]
        scorer, target = rule_of(row)
        return _compare(row, scorer.score(row["output"], target))
    except (KeyError, TypeError, ValueError) as error:
        return [f"the row cannot be scored: {type(error).__name__}: {error}"]


def _compare(row: Row, found: Score) -> list[str]:
    """Compare score and, where the row has them, what was read and measured on the way."""
    answer = None if found.answer is None else str(found.answer)
    told = _differs("score", row["score"], found.value)
    if told:
        told[0] += f"; read {answer!r} in {_shortened(row['output'])}"
    if "iou" in row:
        told += _differs("iou", row["iou"], found.metrics.get("iou", math.nan))
    if "expected_score_with_random" in row:
        told += _differs("expected_with_guess", row["expected_score_with_random"], found.metrics["expected_with_guess"])
    if "normalized" in row and str(answer) != str(row["normalized"]):
        told.append(f"answer is {answer!r}, expected {row['normalized']!r}")
    if "parsed" in row:
        parsed = row["parsed"]
        letter = None if parsed is None or parsed.startswith("(Z)") else parsed.strip("()")
        if letter != answer:
            told.append(f"letter is {answer!r}, expected {letter!r}")
    return told


def _average(rule: str, items: list[tuple[str, float]]) -> float:
    """Return the average of scores by the groups that `rule` averages over."""
    group_of = MEANS[rule]
    records = [
        Record(
            sample_id=str(number),
            track="vectors",
            status="ok",
            score=float(score),
            groups={"group": group_of(group) if group_of else group},
        )
        for number, (group, score) in enumerate(items)
    ]
    found = mean_metric(records) if group_of is None else macro_metric(records, "group")
    return math.nan if found.value is None else found.value


def _differs(what: str, expected: float, found: float) -> list[str]:
    """Return the difference of two numbers in words."""
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
