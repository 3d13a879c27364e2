"""DocVQA: questions on scanned pages.

Paper: Mathew et al. 2021 (arXiv:2007.00398). Dataset: `lmms-lab-encoder/DocVQA`, config DocVQA, split validation, 5,349
rows; its test split has no answers. Official metric: ANLS with threshold 0.5 by the script of the Robust Reading
Competition, best over the golds of a question (`scorers.anls`).

Deviations: prompt and seeded draw are the reference system's; the budget is 128 tokens, not its 32, because the longest
gold has 121 characters. Golds are kept as written (the script cleans them itself). A question has one type, the first
of its list. Question 49153 has a correction pending on the hub that this revision does not hold.
"""

from bakeoff.tracks.pages import page_track

TRACK = page_track(
    "docvqa",
    "DocVQA",
    citation="Mathew et al. 2021, arXiv:2007.00398",
    full=5349,
    type_column="question_types",
    liquid=0.911,
    constants=("yes", "no"),
)
