"""The line of an arm that is at work."""

from typing import Any

from bakeoff.report.progress import Progress, live_line, plain_line
from bakeoff.stats import Interval, wilson


def _progress(**changes: Any) -> Progress:
    plain = {
        "arm": "tiny-bf16",
        "done": 120,
        "selected": 1272,
        "means": {"docvqa": wilson(96, 120)},
        "errors": 0,
        "truncated": 2,
        "unparsed": 3,
        "per_s": 1.5,
        "took_s": 80.0,
    }
    return Progress(**{**plain, **changes})


def test_it_says_how_far_how_good_how_fast_how_long() -> None:
    line = live_line(_progress(), 140).replace("\u202f", " ")
    assert line == (
        "tiny-bf16  docvqa  120/1 272  mean 80.0 so far (72–86)  90/min  12:48 left  errors 0  cut off 2  unparsed 3"
    )


def test_a_log_gets_keys_that_can_be_searched_for() -> None:
    assert plain_line(_progress()) == (
        "bakeoff: tiny-bf16 120/1272 docvqa mean=80.0 ci=72.0..86.2 n=120 so far "
        "rate=90/min left=12:48 errors=0 cut=2 unparsed=3"
    )


def test_at_the_end_nothing_is_so_far_and_every_track_has_its_mean() -> None:
    means = {"docvqa": wilson(96, 120), "blink": wilson(40, 80)}
    done = _progress(done=200, selected=200, means=means)
    assert "so far" not in live_line(done, 200) + plain_line(done)
    assert "docvqa mean 80.0 (72–86)  blink mean 50 (39–61)" in live_line(done, 200)
    assert "docvqa mean=80.0 ci=72.0..86.2 n=120 blink mean=50.0" in plain_line(done)
    assert "time=1:20" in plain_line(done)


def test_a_mean_of_less_than_30_is_not_shown() -> None:
    few = _progress(done=29, means={"docvqa": wilson(20, 29)})
    assert "mean" not in live_line(few, 200) + plain_line(few)
    assert "mean" in live_line(_progress(done=30, means={"docvqa": wilson(20, 30)}), 200)


def test_a_mean_without_an_interval_stands_alone() -> None:
    one = Interval(value=0.5, low=None, high=None, n=40, clusters=1, method="one_cluster")
    assert "mean 50 so far  " in live_line(_progress(means={"docvqa": one}), 200)


def test_what_is_not_known_yet_is_left_out() -> None:
    line = live_line(_progress(done=0, means={}, per_s=None, took_s=None, truncated=0, unparsed=0), 200)
    assert line == "tiny-bf16  0/1\u202f272  errors 0  cut off 0  unparsed 0"


def test_no_line_is_wider_than_the_terminal() -> None:
    for width in range(1, 120):
        assert len(live_line(_progress(arm="a-name-that-goes-on-and-on-and-on", errors=3), width)) <= width - 1


def test_a_narrow_terminal_keeps_place_and_faults() -> None:
    assert live_line(_progress(errors=3), 50).split("  ") == ["tiny-bf16", "120/1\u202f272", "errors 3", "cut off 2"]


def test_a_long_name_keeps_both_ends() -> None:
    assert live_line(_progress(arm="fake-a-very-long-name-of-a-model-q4.json"), 200).startswith(
        "fake-a-very-…del-q4.json  "
    )


def test_a_name_cannot_move_the_cursor() -> None:
    assert "\x1b" not in live_line(_progress(arm="\x1b[2Jx"), 200)
    assert "\n" not in plain_line(_progress(arm="a\nb"))
