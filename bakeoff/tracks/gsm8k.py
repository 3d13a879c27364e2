r"""GSM8K: grade-school word problems, text only. The track that cross-runtime comparisons stumble over first.

Paper: Cobbe et al. 2021 (arXiv:2110.14168). Dataset: `openai/gsm8k`, config main, split test, 1,319 rows, MIT. Official
metric: the final number equals the gold, which stands after `####` in the answer.

Deviations: no examples in the prompt; the default asks for reasoning and `\boxed{}`, protocol `direct` for the number
alone. The number is read by `numeric_exact` (thousands separators and units are no part of it, 7.9 is not 7). A budget
that cuts the reasoning off cannot be told from a bad model: watch the count of truncated answers. The seeded draw is
this suite's own: the reference system has no such track.
"""

from collections.abc import Sequence
from typing import Final

from bakeoff.metrics import Metric, mean_metric
from bakeoff.paths import data_dir
from bakeoff.records import Image, NumberTarget, Record, Sample
from bakeoff.scorers import SCORERS
from bakeoff.tracks.choosing import prefix_of_shuffle
from bakeoff.tracks.reasoning import BOXED
from bakeoff.tracks.rows import refuse
from bakeoff.tracks.source import Row, Source, Split
from bakeoff.tracks.track import Protocol, Track, asking

_REVISION: Final = "cc7b047b6e5bb11b4f1af84efc572db110a51b3c"
_MARK: Final = "####"
_MANY_STEPS: Final = 7
DIRECT: Final = "Answer with the final number only."


def build(row: Row, images: tuple[Image, ...]) -> Sample:  # noqa: ARG001 -- the source's interface; there are none
    """Return the sample of a row; its group `steps` is the number of lines of the gold solution.

    Raises:
        DataMissing: when no number stands after the mark.
    """
    solution, mark, final = row.values["answer"].rpartition(_MARK)
    gold = final.strip().replace(",", "")
    try:
        float(gold)
    except ValueError:
        raise refuse(row, "answer", f"a number after {_MARK}") from None
    if not mark:
        raise refuse(row, "answer", f"a number after {_MARK}")
    steps = len([line for line in solution.splitlines() if line.strip()])
    return Sample(
        id=f"gsm8k_test_{row.index:04d}",
        track="gsm8k",
        question=row.values["question"].strip(),
        target=NumberTarget(value=gold),
        groups={"steps": str(steps) if steps < _MANY_STEPS else f"{_MANY_STEPS} or more"},
    )


def metrics(records: Sequence[Record]) -> dict[str, Metric]:
    """Return `accuracy`."""
    return {"accuracy": mean_metric(records, primary=True)}


TRACK = Track(
    name="gsm8k",
    title="GSM8K",
    version="1",
    citation="Cobbe et al. 2021, arXiv:2110.14168",
    dataset="openai/gsm8k (main, test)",
    revision=_REVISION,
    licence="MIT",
    official_metric="share of final numbers that equal the gold",
    full=1319,
    protocols=(
        Protocol(
            name="cot",
            render=asking(lambda sample: f"{sample.question}\n{BOXED}"),
            max_tokens=1024,
            scorer=lambda _: SCORERS["numeric_exact"],
        ),
        Protocol(
            name="direct",
            render=asking(lambda sample: f"{sample.question}\n{DIRECT}"),
            max_tokens=256,
            scorer=lambda _: SCORERS["numeric_exact"],
        ),
    ),
    dimensions=("steps",),
    metrics=metrics,
    source=Source(
        splits=(
            Split(
                label="test",
                repository="openai/gsm8k",
                config="main",
                split="test",
                revision=_REVISION,
                rows=1319,
            ),
        ),
        columns={"question": (str,), "answer": (str,)},
        image_columns=(),
        default="subset",
        choose=prefix_of_shuffle(300),
        build=build,
    ),
    folder=lambda: data_dir() / "gsm8k",
    constants=("10", "0", "1"),
)
