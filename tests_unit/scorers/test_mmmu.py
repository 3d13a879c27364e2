"""MMMU's open questions: which numbers the authors' patterns find."""

import pytest

from bakeoff.records import TextTarget
from bakeoff.scorers.mmmu import mmmu_open


@pytest.mark.parametrize(
    ("output", "gold", "value"),
    [
        ("about 7.25 m", "7.25", 1.0),
        ("7.25, then 9", "7.25", 0.0),  # a number right before a comma is not found
        ("section 3.1.75", ".75", 1.0),  # a decimal part counts as a number where it follows another
        ("7.25e1", "72.5", 1.0),
        ("1,250 m", "1250", 1.0),
    ],
)
def test_any_number_that_the_patterns_find_counts(output: str, gold: str, value: float) -> None:
    assert mmmu_open(output, TextTarget(answers=(gold,))).value == value
