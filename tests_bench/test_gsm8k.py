"""GSM8K: grade-school word problems, text only. Cobbe et al. 2021 (arXiv:2110.14168)."""

from bakeoff.plugin.planning import Case

TRACK = "gsm8k"


def test_sample(case: Case) -> None:
    case.check()
