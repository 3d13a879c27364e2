"""Rules `numeric`, `numeric_exact` and `number_list`: a number, or numbers, read from a free-form answer.

`numeric` compares as MathVista does (Lu et al. 2024, arXiv:2310.02255, `calculate_score.py`): without decimals both
sides are truncated to integers, with `precision` decimals both are rounded, and they are compared as numbers, so
that -0.0 is 0.0. `numeric_exact` is for tracks whose golds are exact, such as GSM8K (Cobbe et al. 2021,
arXiv:2110.14168): 7.9 is not 7. The reading is this suite's and is described in `numbers`.
"""

import math

from bakeoff.records import NumberTarget, Score, Target, TextTarget
from bakeoff.scorers.numbers import format_number, parse_gold, read_number, read_numbers
from bakeoff.scorers.scorer import graded, unparsed
from bakeoff.scorers.targets import expect

VERSION = "2"
_SAME = 1e-6  # relative, and absolute near 0: two writings of one number, never a neighbour


def numeric(output: str, target: Target) -> Score:
    """Score 1 when the number read equals the gold after truncation or rounding to `target.precision` decimals.

    Raises:
        TypeError: when the target is not a number.
    """
    gold = expect(target, NumberTarget)
    found = read_number(output)
    if found is None:
        return unparsed()
    expected = parse_gold(gold.value)
    if gold.precision > 0:
        is_correct = round(found, gold.precision) == round(expected, gold.precision)
    else:
        is_correct = math.trunc(found) == math.trunc(expected)
    return graded(format_number(found), is_correct=is_correct)


def numeric_exact(output: str, target: Target) -> Score:
    """Score 1 when the number read is the gold.

    Raises:
        TypeError: when the target is not a number.
    """
    expected = parse_gold(expect(target, NumberTarget).value)
    found = read_number(output)
    if found is None:
        return unparsed()
    return graded(format_number(found), is_correct=math.isclose(found, expected, rel_tol=_SAME, abs_tol=_SAME))


def number_list(output: str, target: Target) -> Score:
    """Score 1 when the numbers read are those of a gold such as `[2014, 2016]`, in order and all of them.

    Raises:
        TypeError: when the target is not a text.
    """
    golds = [read_numbers(gold) for gold in expect(target, TextTarget).answers]
    found = read_numbers(output)
    if found is None:
        return unparsed()
    answer = "[" + ", ".join(format_number(value) for value in found) + "]"
    return graded(answer, is_correct=found in golds)
