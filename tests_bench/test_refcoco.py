"""RefCOCO, RefCOCO+, RefCOCOg: a box for the region that an expression names.

Kazemzadeh et al. 2014 (ReferItGame); Yu et al. 2016 (arXiv:1608.00272); Mao et al. 2016 (arXiv:1511.02283).
"""

from bakeoff.plugin.planning import Case

TRACK = "refcoco"


def test_sample(case: Case) -> None:
    case.check()
