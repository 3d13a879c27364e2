"""DocVQA: questions on scanned pages.

Paper: Mathew et al. 2021 (arXiv:2007.00398). Dataset: `lmms-lab-encoder/DocVQA`, config DocVQA, split validation, 5,349
rows; its test split has no answers. Official metric: ANLS with threshold 0.5 by the script of the Robust Reading
Competition, best over the golds of a question (`scorers.anls`).

Deviations: prompt and seeded draw are the reference system's; the budget is 128 tokens, not its 32, because the longest
gold has 121 characters. Golds are kept as written (the script cleans them itself). A question has one type, the first
of its list. Question 49153 has a correction pending on the hub that this revision does not hold.
"""

from bakeoff.paths import data_dir
from bakeoff.tracks import pages
from bakeoff.tracks.choosing import prefix_of_shuffle
from bakeoff.tracks.source import Source, Split
from bakeoff.tracks.track import Track

TRACK = Track(
    name="docvqa",
    title="DocVQA",
    version="1",
    citation="Mathew et al. 2021, arXiv:2007.00398",
    dataset=f"{pages.REPOSITORY} (DocVQA, validation)",
    revision=pages.REVISION,
    licence=pages.LICENCE,
    licence_note=pages.LICENCE_NOTE,
    full=5349,
    protocols=(pages.PROTOCOL,),
    dimensions=("type",),
    metrics=pages.metrics,
    source=Source(
        splits=(
            Split(
                label="validation",
                repository=pages.REPOSITORY,
                config="DocVQA",
                split="validation",
                revision=pages.REVISION,
                rows=5349,
            ),
        ),
        columns={
            "questionId": (str,),
            "question": (str,),
            "question_types": (list, type(None)),
            "answers": (list, type(None)),
        },
        image_columns=("image",),
        default="subset",
        choose=prefix_of_shuffle(500),
        build=pages.builder("docvqa", "question_types"),
    ),
    folder=lambda: data_dir() / "docvqa",
    published=(pages.published(0.911),),
    constants=("yes", "no"),
)
