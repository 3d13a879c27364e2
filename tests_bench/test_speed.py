"""Speed: load, image encode, prefill, first token, decode, memory; from a line of text to two pages of A4.

Runs only where it is named: `pytest tests_bench/test_speed.py --model A,B`, or with `-m speed`. What each quantity
means, and how it is measured, stands in docs/performance.md.
"""

from typing import Any

from bakeoff.plugin.speed import SpeedCase

TRACK = "speed"


def test_speed(speed: SpeedCase, benchmark: Any) -> None:
    speed.measure(benchmark)
