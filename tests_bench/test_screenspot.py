"""ScreenSpot-v2: where to click on a screenshot.

Cheng et al. 2024, SeeClick (arXiv:2401.10935); Wu et al. 2024, OS-Atlas (arXiv:2410.23218).
"""

from bakeoff.plugin.planning import Case

TRACK = "screenspot"


def test_sample(case: Case) -> None:
    case.check()
