"""BLINK: 14 tasks that people solve at a glance. Fu et al. 2024 (arXiv:2404.12390)."""

from bakeoff.plugin.planning import Case

TRACK = "blink"


def test_sample(case: Case) -> None:
    case.check()
