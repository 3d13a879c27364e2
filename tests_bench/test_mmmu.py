"""MMMU: college-level questions of 30 subjects. Yue et al. 2024 (arXiv:2311.16502)."""

from bakeoff.plugin.planning import Case

TRACK = "mmmu"


def test_sample(case: Case) -> None:
    case.check()
