"""Statistics of the suite: closed-form intervals, paired tests with a verdict, gates, planning.

Everything is pure mathematics on scores in [0, 1]; no data gives None, never 0; refused input is a ValueError. The
one number behind all of it is the cluster-robust variance in `moments`.
"""

from bakeoff.stats.baselines import Baseline, constant_baseline
from bakeoff.stats.bootstrap import Resampled, bootstrap_mean
from bakeoff.stats.bounds import Bounds, bound_difference, bound_missing
from bakeoff.stats.exact import ExactTest, mcnemar, sign_flip, tango
from bakeoff.stats.gates import Gate, Outcome, baseline_value_gate, non_inferiority_gate, threshold_gate
from bakeoff.stats.holm import holm
from bakeoff.stats.interval import Interval, interval, wilson
from bakeoff.stats.moments import Moments, check_scores, compute_moments
from bakeoff.stats.paired import (
    Direction,
    Joined,
    PairedDifference,
    Verdict,
    decide,
    join_scores,
    paired_difference,
)
from bakeoff.stats.planning import (
    design_effect,
    detectable_difference,
    detectable_difference_continuous,
    intraclass_correlation,
    samples_for_difference,
    samples_for_equivalence,
)
from bakeoff.stats.repeats import Repeats, pass_at_k, split_repeats

__all__ = [
    "Baseline",
    "Bounds",
    "Direction",
    "ExactTest",
    "Gate",
    "Interval",
    "Joined",
    "Moments",
    "Outcome",
    "PairedDifference",
    "Repeats",
    "Resampled",
    "Verdict",
    "baseline_value_gate",
    "bootstrap_mean",
    "bound_difference",
    "bound_missing",
    "check_scores",
    "compute_moments",
    "constant_baseline",
    "decide",
    "design_effect",
    "detectable_difference",
    "detectable_difference_continuous",
    "holm",
    "interval",
    "intraclass_correlation",
    "join_scores",
    "mcnemar",
    "non_inferiority_gate",
    "paired_difference",
    "pass_at_k",
    "samples_for_difference",
    "samples_for_equivalence",
    "sign_flip",
    "split_repeats",
    "tango",
    "threshold_gate",
    "wilson",
]
