"""Further numbers beside the score: other rules on the same output, and metrics that not every scorer gives."""

from collections.abc import Mapping, Sequence

import msgspec

from bakeoff.metrics import Metric, mean_metric, named, scored
from bakeoff.records import Record, Score, Target
from bakeoff.scorers import Scorer


def beside(main: Scorer, others: Mapping[str, Scorer], keep: Sequence[str] = ()) -> Scorer:
    """Return `main` with the value of each of `others` as a metric, and those of their metrics that `keep` names.

    The name stays; the version names the versions of all, since a change in any of them moves a number.
    """

    def score(output: str, target: Target) -> Score:
        found = main.score(output, target)
        metrics = dict(found.metrics)
        for name, other in others.items():
            also = other.score(output, target)
            metrics[name] = also.value
            metrics.update({kept: also.metrics[kept] for kept in keep if kept in also.metrics})
        return msgspec.structs.replace(found, metrics=metrics)

    version = "+".join((main.version, *(f"{other.name}@{other.version}" for other in others.values())))
    return Scorer(name=main.name, version=version, score=score)


def side_metrics(records: Sequence[Record], names: Mapping[str, str]) -> dict[str, Metric]:
    """Return the mean of each scorer's metric in `names` (shown name: metric) that all scored records carry.

    A rescored run may have been read by a rule that does not give it; the number is then left out, not guessed.
    """
    found = scored(records)
    return {
        shown: mean_metric(found, value=named(metric))
        for shown, metric in names.items()
        if found and all(metric in record.metrics for record in found)
    }
