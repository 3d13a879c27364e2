"""Calibration: five families of generated images, the embedded checkpoint's own questions.

Made by this project (`tools/tiny`); see `data/tiny/README.md` for what it is and is not good for.
"""

from bakeoff.plugin.planning import Case

TRACK = "calibration"


def test_sample(case: Case) -> None:
    case.check()
