"""The word is read from the ends of the interval; the sentence is made from the word."""

import math
import re

import pytest
from hypothesis import given, strategies as st

from bakeoff.report import numbers, verdicts
from bakeoff.report.comparing import drawn_interval
from bakeoff.report.results import Word
from bakeoff.stats import paired_difference

MARGIN = 2.0


@pytest.mark.parametrize(
    ("low", "high", "word", "beyond", "says"),
    [
        (-1.5, 0.7, "same", False, "a and b score the same on T, to within 2 points."),
        (-1.5, -0.2, "same", False, "a small loss that is real but inside the margin."),
        (0.2, 1.5, "same", False, "a small gain that is real but inside the margin."),
        (-4.2, -2.55, "worse", True, "a is worse than b on T by at least 2.5 points."),
        (2.04, 4.2, "better", True, "a is better than b on T by at least 2 points."),
        (-4.2, -1.0, "worse", False, "a is worse than b on T; how much is uncertain."),
        (1.0, 4.2, "better", False, "a is better than b on T; how much is uncertain."),
        (-1.0, 4.2, "not worse", False, "a is not worse than b on T by more than 2 points; it may be better."),
        (
            -4.2,
            1.0,
            "undecided",
            False,
            "Whether a is worse than b on T is open. About 2\u202f300 pairs would settle it.",
        ),
        (-2.0, 2.0, "undecided", False, "Whether a is worse than b on T is open."),
    ],
)
def test_word_and_sentence_follow_from_the_interval(
    low: float, high: float, word: Word, *, beyond: bool, says: str
) -> None:
    assert verdicts.read_verdict(low, high, MARGIN) == (word, beyond)
    sentence = verdicts.sentence(word, a="a", b="b", track="T", bounds_pp=(low, high), margin_pp=MARGIN, needed=2296)
    assert says in sentence


@given(
    scores=st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 30)), min_size=2, max_size=400),
    margin=st.sampled_from([0.5, 1.0, 2.0, 5.0, 20.0]),
)
def test_printed_verdict_is_the_one_read_from_the_printed_interval(
    scores: list[tuple[bool, bool, int]], margin: float
) -> None:
    found = paired_difference(
        [float(a) for a, _, _ in scores],
        [float(b) for _, b, _ in scores],
        margin=margin / 100,
        clusters=[str(image) for _, _, image in scores],
    )
    bounds = drawn_interval(found)
    if bounds is None:
        return
    low, high = (end * 100 for end in bounds)
    word, _ = verdicts.read_verdict(low, high, margin)
    _, text = numbers.difference(0.0, (low, high), margin)
    shown = [float(end.replace("−", "-")) for end in re.split(" to ", text)]
    is_seen = all(
        math.copysign(1, a) == math.copysign(1, b) or a == b == 0 for a, b in zip(shown, (low, high), strict=True)
    )
    if is_seen and all(abs(abs(end) - margin) > 1e-3 for end in (low, high)):
        assert verdicts.read_verdict(shown[0], shown[1], margin)[0] == word
    if word in {"same", "not worse"}:
        assert found.is_enough
    if word in {"better", "worse"}:
        assert found.p_diff is not None
        assert found.p_diff < 0.05


@given(disagreements=st.integers(0, 12), n=st.integers(20, 400), margin=st.sampled_from([1.0, 2.0, 5.0]))
def test_same_is_never_said_with_fewer_pairs_than_the_rule_of_three_asks(
    disagreements: int, n: int, margin: float
) -> None:
    a = [1.0] * n
    b = [0.0 if position < disagreements else 1.0 for position in range(n)]
    bounds = drawn_interval(paired_difference(a, b, margin=margin / 100))
    assert bounds is not None
    word, _ = verdicts.read_verdict(bounds[0] * 100, bounds[1] * 100, margin)
    if n < 3 / (margin / 100):
        assert word not in {"same", "not worse"}


def test_withheld_verdicts_name_the_reason() -> None:
    says = verdicts.withheld("not comparable", a="a", b="b", track="T", reason="31 of 500 answers of a were cut off")
    assert says == "a gets no verdict against b on T: 31 of 500 answers of a were cut off."


def test_headline_without_a_pair_says_that_there_is_nothing_to_compare() -> None:
    assert verdicts.headline((), 1) == "One arm ran: there is nothing to compare."
    assert verdicts.headline((), 0) == "This run has no arm."
