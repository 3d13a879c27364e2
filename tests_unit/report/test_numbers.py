"""Section 5 of the design brief as a table. NN stands for a narrow no-break space."""

import pytest

from bakeoff.report import numbers

NN = "\u202f"


@pytest.mark.parametrize(
    ("number", "text"), [(None, "–"), (0, "0"), (999, "999"), (1272, f"1{NN}272"), (1234567, f"1{NN}234{NN}567")]
)
def test_count_sets_thousands_apart(number: int | None, text: str) -> None:
    assert numbers.count(number) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 samples"), (1, "1 sample"), (1272, f"1{NN}272 samples")])
def test_a_noun_has_the_form_that_its_number_asks_for(number: int, text: str) -> None:
    assert numbers.some(number, "sample") == text


@pytest.mark.parametrize(
    ("value", "n", "text"),
    [
        (None, 0, "–"),
        (0.796, 1272, "79.6"),
        (1.0, 1272, "100.0"),
        (0.0, 1272, "0.0"),
        (0.9999, 25770, ">99.9"),
        (0.0001, 25770, "<0.1"),
        (0.85, 40, "85"),
        (0.999, 40, ">99"),
        (0.9083, 500, "90.8"),
    ],
)
def test_score_has_a_decimal_from_a_hundred_samples_on(value: float | None, n: int, text: str) -> None:
    assert numbers.score(value, n) == text


def test_score_interval_has_an_en_dash_and_the_decimals_of_the_score() -> None:
    assert numbers.score_interval((0.773, 0.817), 1272) == "77.3–81.7"
    assert numbers.score_interval((0.773, 0.817), 40) == "77–82"
    assert numbers.score_interval(None, 1272) == "–"


def test_few_samples_are_counted() -> None:
    assert numbers.counted(17, 20) == "17 of 20"
    assert numbers.counted(None, 20) == "–"


@pytest.mark.parametrize(("value", "text"), [(-2.6, "−2.6"), (0.7, "+0.7"), (-0.04, "0.0"), (0.0, "0.0"), (None, "–")])
def test_signed_has_a_true_minus_and_no_sign_at_zero(value: float | None, text: str) -> None:
    assert numbers.signed(value) == text


@pytest.mark.parametrize(
    ("value", "bounds", "text"),
    [
        (-2.6, (-4.2, -1.0), ("−2.6", "−4.2 to −1.0")),
        (-0.4, (-1.5, 0.7), ("−0.4", "−1.5 to +0.7")),
        (-1.0, (-2.04, 0.7), ("−1.00", "−2.04 to +0.70")),
        (0.9, (0.02, 1.9), ("+0.90", "+0.02 to +1.90")),
        (0.9, (-0.004, 1.9), ("+0.900", "−0.004 to +1.900")),
        (0.5, (-1.0, 1.97), ("+0.50", "−1.00 to +1.97")),
        (0.0, (0.0, 2.0), ("0.0", "0.0 to +2.0")),
        (None, None, ("–", "–")),
    ],
)
def test_difference_shows_on_which_side_of_zero_and_margin_its_ends_lie(
    value: float | None, bounds: tuple[float, float] | None, text: tuple[str, str]
) -> None:
    assert numbers.difference(value, bounds, 2.0) == text


@pytest.mark.parametrize(("value", "text"), [(0.64, "0.64"), (1.35, "1.35"), (12.3, "12"), (None, "–")])
def test_ratio(value: float | None, text: str) -> None:
    assert numbers.ratio(value) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.95, "95%"), (0.033, "3.3%"), (0.0001, "<0.1%"), (0.0, "0%"), (None, "–")]
)
def test_percent_sign_is_closed_up(share: float | None, text: str) -> None:
    assert numbers.percent(share) == text


@pytest.mark.parametrize(
    ("per_s", "text"),
    [
        (61.24 / 60, "61"),
        (4.81 / 60, "4.8"),
        (0.481 / 60, "0.48"),
        (9.97 / 60, "10"),
        (1234 / 60, f"1{NN}230"),
        (None, "–"),
    ],
)
def test_rate_per_minute_has_two_or_three_digits(per_s: float | None, text: str) -> None:
    assert numbers.per_minute(per_s) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.72, f"720{NN}ms"), (1.3142, f"1.31{NN}s"), (0.9999, f"1.00{NN}s"), (0.0004, f"0.4{NN}ms"), (None, "–")],
)
def test_latency(seconds: float | None, text: str) -> None:
    assert numbers.latency(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(11560, "3:12:40"), (903, "15:03"), (42, "0:42"), (100_800, f"1{NN}d 4{NN}h"), (3.2, f"3.20{NN}s"), (None, "–")],
)
def test_duration(seconds: float | None, text: str) -> None:
    assert numbers.duration(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(8_100_000_000, f"8.1{NN}GB"), (42_000_000, f"42{NN}MB"), (999_900_000, f"1.0{NN}GB"), (None, "–")],
)
def test_memory_is_in_powers_of_ten(size: int | None, text: str) -> None:
    assert numbers.memory(size) == text


def test_hash_is_cut_to_ten_digits() -> None:
    assert numbers.short_hash("aa121aa373" + "0" * 54) == "aa121aa373"
    assert numbers.short_hash(None) == "–"


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        ("2026-11-30T09:12:30.123+00:00", "2026-11-30 09:12 UTC"),
        ("2026-11-30T10:12:30+01:00", "2026-11-30 09:12 UTC"),
        ("once", "once"),
    ],
)
def test_instant_is_in_utc(moment: str, text: str) -> None:
    assert numbers.instant(moment) == text


@pytest.mark.parametrize(("number", "text"), [(2296, f"2{NN}300"), (543, "550"), (165, "170"), (7.2, "8")])
def test_estimate_has_two_digits(number: float, text: str) -> None:
    assert numbers.about(number) == text


@pytest.mark.parametrize(("value", "text"), [(2.0, "2"), (1.5, "1.5"), (0.04, "0.04")])
def test_points_have_no_idle_zeros(value: float, text: str) -> None:
    assert numbers.points(value) == text
