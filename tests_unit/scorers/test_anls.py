"""ANLS: the script's corner cases, and what the metrics beside it say."""

import pytest

from bakeoff.records import TextTarget
from bakeoff.scorers.anls import anls, anls_official, similarity


@pytest.mark.parametrize(
    ("text", "answers", "value"),
    [
        ("ITC  limited", ("itc Limited",), 11 / 12 + 1 / 12),  # inner blanks collapse
        ("abcd", ("abxy",), 0.5),  # exactly one half stays
        ("abc", ("axy",), 0.0),
        ("helo   ", ("hello",), 1 - 1 / 7),  # the divisor counts raw blanks
        ("strase", ("stra\u00dfe",), 1 - 1 / 7),  # and a sharp s twice
        ("", ("",), 1.0),
        ("x", (), 0.0),
        ("yes", ("no", "yes"), 1.0),
    ],
)
def test_similarity_follows_the_script(text: str, answers: tuple[str, ...], value: float) -> None:
    assert similarity(text, answers) == pytest.approx(value)


def test_thoughts_cost_the_raw_metric_only() -> None:
    score = anls("<think>The header.</think> ITC", TextTarget(answers=("ITC",)))
    assert (score.value, score.answer, score.metrics["anls_raw"], score.metrics["anls_pass"]) == (1.0, "ITC", 0.0, 1.0)
    assert anls_official("<think>The header.</think> ITC", TextTarget(answers=("ITC",))).value == 0.0


@pytest.mark.parametrize(("output", "verbose"), [("1985", 0.0), ("1985\n1986", 1.0), ("it was in the year 1985", 1.0)])
def test_verbose_answers_are_marked(output: str, verbose: float) -> None:
    assert anls(output, TextTarget(answers=("1985",))).metrics["verbose"] == verbose


@pytest.mark.parametrize("output", ["", "  ", "\t\n", "<think>1985"])
def test_an_empty_answer_is_unparsed(output: str) -> None:
    score = anls(output, TextTarget(answers=("1985",)))
    assert (score.value, score.answer) == (0.0, None)


def test_the_script_credits_blanks_for_a_gold_that_is_short_beside_them() -> None:
    target = TextTarget(answers=("a",))
    assert anls_official("    ", target).value == 0.75
    assert anls("    ", target).value == 0.0
