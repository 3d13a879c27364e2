"""Plain text comparison."""

import pytest

from bakeoff.records import TextTarget
from bakeoff.scorers.exact import contains, exact


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("New\n York", 1.0),
        ("new york", 1.0),
        ("\uff2eew York", 1.0),
        ("New York.", 0.0),
        ("<think>x</think>New York", 1.0),
    ],
)
def test_exact_forgives_case_width_and_blanks_only(output: str, value: float) -> None:
    assert exact(output, TextTarget(answers=("New York", "NYC"))).value == value


@pytest.mark.parametrize(
    ("needle", "output", "value"),
    [
        ("EXIT 42", "The sign says exit 42.", 1.0),
        ("red", "colored", 0.0),
        ("5", "15", 0.0),
        ("5", "1.5", 0.0),
        ("5", "-5", 0.0),
        ("5", "It is 5.", 1.0),
        ("caf", "caf\u00e9", 0.0),
        ("", "anything", 0.0),
    ],
)
def test_contains_needs_whole_words_and_numbers(needle: str, output: str, value: float) -> None:
    assert contains(output, TextTarget(answers=(needle,))).value == value


def test_nothing_said_is_no_answer() -> None:
    for rule in (exact, contains):
        assert rule(" \n", TextTarget(answers=("",))).answer is None
