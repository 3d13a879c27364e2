"""InfographicVQA: questions on infographics. Mathew et al. 2022 (arXiv:2104.12756)."""

from bakeoff.plugin.planning import Case

TRACK = "infographicvqa"


def test_sample(case: Case) -> None:
    case.check()
