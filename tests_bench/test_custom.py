"""Custom cases: your own images and questions, `data/tasks/*.json`. The guide is docs/custom-cases.md."""

from bakeoff.plugin.planning import Case

TRACK = "custom"


def test_sample(case: Case) -> None:
    case.check()
