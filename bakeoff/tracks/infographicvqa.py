"""InfographicVQA: questions on infographics.

Paper: Mathew et al. 2022 (arXiv:2104.12756). Dataset: `lmms-lab-encoder/DocVQA`, config InfographicVQA, split
validation, 2,801 rows; its test split has no answers. Official metric: ANLS as for DocVQA (`scorers.anls`).

Deviations: as for DocVQA; the type is the first of `answer_type`. The pictures are very tall, so the pixel budget of a
runtime decides what can be read: it belongs beside the number. List answers stand in several orders among the golds.
"""

from bakeoff.tracks.pages import page_track

TRACK = page_track(
    "infographicvqa",
    "InfographicVQA",
    citation="Mathew et al. 2022, arXiv:2104.12756",
    full=2801,
    type_column="answer_type",
    liquid=0.702,
    constants=("2", "yes"),
)
