"""DocVQA: questions on scanned pages. Mathew et al. 2021 (arXiv:2007.00398)."""

from bakeoff.plugin.planning import Case

TRACK = "docvqa"


def test_sample(case: Case) -> None:
    case.check()
