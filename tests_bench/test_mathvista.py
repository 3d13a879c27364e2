"""MathVista: mathematical reasoning in pictures. Lu et al. 2024 (arXiv:2310.02255)."""

from bakeoff.plugin.planning import Case

TRACK = "mathvista"


def test_sample(case: Case) -> None:
    case.check()
