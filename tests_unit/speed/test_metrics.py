"""Quantities of an answer mean the same for every runtime, and are absent where a runtime does not tell."""

import pytest

from bakeoff.records import Output
from bakeoff.speed.metrics import ABSENT, METRICS, figure, measured


def test_decode_rate_counts_the_tokens_after_the_first() -> None:
    found = measured(Output(text="x", finish_reason="stop", completion_tokens=11, decode_s=2.0))
    assert found["decode_tps"] == 5.0


@pytest.mark.parametrize("tokens", [None, 0, 1, 8])
def test_with_too_few_tokens_there_is_no_decode_rate(tokens: int | None) -> None:
    found = measured(Output(text="x", finish_reason="stop", completion_tokens=tokens, decode_s=2.0))
    assert found["decode_tps"] is None


def test_what_a_runtime_does_not_tell_is_absent_and_never_zero() -> None:
    assert set(measured(Output(text="", finish_reason="stop")).values()) == {None}


def test_every_quantity_of_an_output_has_a_unit() -> None:
    assert set(measured(Output(text="", finish_reason="stop"))) <= set(METRICS)
    assert set(ABSENT) <= set(METRICS)


def test_a_figure_is_the_median_of_all_passes_with_the_distance_of_the_quartiles() -> None:
    found = figure([(1.0, 2.0, 3.0), (4.0, 5.0)])
    assert found is not None
    assert (found.median, found.spread, found.least, found.most, found.rounds) == (3.0, 2.0, 1.0, 5.0, 5)
    assert found.passes == (2.0, 4.5)


def test_one_round_has_no_spread() -> None:
    found = figure([(1.5,)])
    assert found is not None
    assert found.spread is None


def test_no_value_is_no_figure() -> None:
    assert figure([(), ()]) is None
