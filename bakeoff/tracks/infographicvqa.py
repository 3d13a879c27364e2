"""InfographicVQA: questions on infographics.

Paper: Mathew et al. 2022 (arXiv:2104.12756). Dataset: `lmms-lab-encoder/DocVQA`, config InfographicVQA, split
validation, 2,801 rows; its test split has no answers. Official metric: ANLS as for DocVQA (`scorers.anls`).

Deviations: as for DocVQA; the type is the first of `answer_type`. The pictures are very tall, so the pixel budget of a
runtime decides what can be read: it belongs beside the number. List answers stand in several orders among the golds.
"""

from bakeoff.paths import data_dir
from bakeoff.tracks import pages
from bakeoff.tracks.choosing import prefix_of_shuffle
from bakeoff.tracks.source import Source, Split
from bakeoff.tracks.track import Track

TRACK = Track(
    name="infographicvqa",
    title="InfographicVQA",
    version="1",
    citation="Mathew et al. 2022, arXiv:2104.12756",
    dataset=f"{pages.REPOSITORY} (InfographicVQA, validation)",
    revision=pages.REVISION,
    licence=pages.LICENCE,
    licence_note=pages.LICENCE_NOTE,
    full=2801,
    protocols=(pages.PROTOCOL,),
    dimensions=("type",),
    metrics=pages.metrics,
    source=Source(
        splits=(
            Split(
                label="validation",
                repository=pages.REPOSITORY,
                config="InfographicVQA",
                split="validation",
                revision=pages.REVISION,
                rows=2801,
            ),
        ),
        columns={
            "questionId": (str,),
            "question": (str,),
            "answer_type": (list, type(None)),
            "answers": (list, type(None)),
        },
        image_columns=("image",),
        default="subset",
        choose=prefix_of_shuffle(500),
        build=pages.builder("infographicvqa", "answer_type"),
    ),
    folder=lambda: data_dir() / "infographicvqa",
    published=(pages.published(0.702),),
    constants=("2", "yes"),
)
