"""Reading a number from free text, and comparing it."""

import math

import pytest

from bakeoff.records import NumberTarget, TextTarget
from bakeoff.scorers.numbers import format_number, parse_gold, read_number, read_numbers
from bakeoff.scorers.numeric import number_list, numeric, numeric_exact


@pytest.mark.parametrize(
    ("output", "number"),
    [
        # how numbers are written
        ("-7", -7),
        ("\u22127", -7),
        ("x = - 3", -3),
        ("- 7\n- 8", 8),  # bullets
        ("1,234,567.5", 1234567.5),
        ("$1,000.00", 1000),
        ("US$5", 5),
        ("a loss of -$5", -5),
        ("a loss of \u2212\u20ac1,000", -1000),
        ("1\u2009000", 1000),
        ("r\u00e9ponse\u202f:\u202f7", 7),  # a thin blank is only dropped between thousands
        ("is\u20097 cm", 7),
        (r"1\,000\,cm", 1000),
        ("1{,}000", 1000),
        ("50\\%", 50),
        ("1e3", 1000),
        (r"2 \times 10^{6}", 2e6),
        ("10^3", 1000),
        ("7 X 10^(-1)", 0.7),
        ("14/2", 7),
        ("3.6/3", 1.2),
        ("1,000/4", 250),
        (r"-\frac{3}{4}", -0.75),
        (r"\frac{-3}{4}", -0.75),
        ("1 1/5", 1.2),
        ("1 3.6/3", 1.2),  # only whole numbers are mixed
        ("3\u00bd", 3.5),
        ("12/05/2020", 2020),
        ("5-8", 8),
        ("5 - 8", 8),
        ("H2O", None),
        ("x_2", None),
        ("_7_", 7),  # emphasis
        ("\uff17", 7),
        # which number counts
        (r"\boxed{5}, no, \boxed{3x+7} of 9", 7),
        ("There are seven birds.", 7),
        ("_seven_ birds", 7),
        ("two or three", None),
        ("The answer is 7, although 12 were drawn.", 7),
        ("The answer: 3+4=7 birds\nof 9", 7),
        ('{"final_answer": 7, "confidence": 0.9}', 7),
        ('{"answer": 7, "answer_confidence": 0.9}', 7),
        ("a = 5, b = 6 of 9", 6),
        (r"about x \simeq 7 of 9", 7),
        ("First 3, second 4, total 7.", 7),
        ("#### 42", 42),
        ("<think>3 and 4</think>7", 7),
        # no number
        ("", None),
        ("Infinity", None),
        ("1e999", None),
        ("1/0", None),
        ("9" * 400, None),
        ("<think>7", None),
    ],
)
def test_read_number(output: str, number: float | None) -> None:
    found = read_number(output)
    assert found == (None if number is None else pytest.approx(number))


@pytest.mark.parametrize(
    ("output", "gold", "precision", "value"),
    [
        ("7.9", "7", 0, 1.0),  # MathVista truncates
        ("-7.9", "-7", 0, 1.0),
        ("8", "7", 0, 0.0),
        ("1,000", "1,000", 0, 1.0),
        ("1.24", "1.2", 1, 1.0),
        ("1.26", "1.2", 1, 0.0),
        ("-0.04", "0.0", 1, 1.0),
        ("12.5", "12.5", 1, 1.0),
    ],
)
def test_numeric_truncates_or_rounds(output: str, gold: str, precision: int, value: float) -> None:
    assert numeric(output, NumberTarget(value=gold, precision=precision)).value == value


@pytest.mark.parametrize(
    ("output", "value"), [("7", 1.0), ("7.0", 1.0), ("7.9", 0.0), ("so 3+4=7", 1.0), ("none", 0.0)]
)
def test_numeric_exact_does_not_truncate(output: str, value: float) -> None:
    assert numeric_exact(output, NumberTarget(value="7")).value == value


def test_answer_is_the_number_in_its_shortest_form() -> None:
    assert numeric("7.50 cm", NumberTarget(value="7")).answer == "7.5"
    assert numeric("7.0", NumberTarget(value="7")).answer == "7"
    assert numeric("nothing", NumberTarget(value="7")).answer is None
    assert format_number(1e300) == "1e+300"


@pytest.mark.parametrize(
    ("output", "numbers"),
    [
        ("[2014, 2016]", [2014, 2016]),
        ("first [1, 2], then (3, 4)", [3, 4]),
        ("Between 2014 and 2016.", [2014, 2016]),
        ("[2014, 2016] (see the chart)", [2014, 2016]),
        ("[2014, 2016] (chart 3)", [2014, 2016]),
        ("[2014, 2016] are the 2 years.", [2014, 2016]),
        ('{"answer": [2014, 2016], "count": 2}', [2014, 2016]),
        ("1 list: [2014, 2016", [2014, 2016]),
        ("(a) 2014 (b) 2016", [2014, 2016]),
        ("[2014, 2016] or [7]", [7]),
        ("[1, 1e999]", None),
        ("none", None),
    ],
)
def test_read_numbers_takes_the_last_list(output: str, numbers: list[float] | None) -> None:
    assert read_numbers(output) == numbers


def test_number_list_compares_in_order_and_length() -> None:
    target = TextTarget(answers=("[2014, 2016]",))
    values = [number_list(output, target).value for output in ("(2014, 2016)", "[2016, 2014]", "[2014]", "none")]
    assert values == [1.0, 0.0, 0.0, 0.0]


def test_gold_that_is_no_number_is_a_mistake_of_the_track() -> None:
    with pytest.raises(ValueError, match="could not convert"):
        parse_gold("seven")
    assert math.isclose(parse_gold("1,234.5"), 1234.5)
