"""MMMU: college-level questions of 30 subjects with one to seven images.

Paper: Yue et al. 2024 (arXiv:2311.16502). Dataset: `MMMU/MMMU`, split validation of 30 configs, 900 rows: 847 multiple
choice with 2 to 9 options and 53 open; Apache-2.0. Official metric: accuracy over the 900; where the authors' parser
finds no letter it draws one at random, which is worth 24.7 points to a model that says nothing readable.

Sizes: the default prepares the 847 multiple-choice questions; `full` adds the 53 open ones as a group of their own;
`subset` and numbers draw multiple choice only, in the order of one seeded shuffle over the 900 (`subset` is 281, what the
reference system's 300 leave).

Deviations: letters are read by `option_letter`, nothing is drawn; `official_expected` is the authors' rule with 1/n for
each letter they would draw, and `official_guessed` is how many. Images stand where the text first says `<image N>`, in
question and options alike; a picture that the text does not name comes first; later mentions stay as text. The prompt is
otherwise the reference system's. The published 48.4 comes from a VLMEvalKit fork, whose open questions are worth a
letter: compare on the 847. Labels: Art_Theory 4 and Design 15 were corrected in July 2026 (MMMU-Benchmark/MMMU#84);
these two samples carry the version as group `labels`.
"""

import ast
import re
from collections.abc import Sequence
from typing import Final

import msgspec

from bakeoff.metrics import Metric, mean_metric
from bakeoff.paths import data_dir
from bakeoff.records import Image, ImagePart, Message, OptionTarget, Record, Sample, Target, Text, TextTarget
from bakeoff.scorers import SCORERS, Scorer
from bakeoff.tracks.choosing import count, shuffled
from bakeoff.tracks.reasoning import ANSWER_LAST, COT_TOKENS, LETTER_LAST
from bakeoff.tracks.rows import LETTERS, refuse
from bakeoff.tracks.side import beside, side_metrics
from bakeoff.tracks.source import Row, Source, Split
from bakeoff.tracks.track import Protocol, Published, Track, turns

DISCIPLINES: Final = {
    "Art and Design": ("Art", "Art_Theory", "Design", "Music"),
    "Business": ("Accounting", "Economics", "Finance", "Manage", "Marketing"),
    "Science": ("Biology", "Chemistry", "Geography", "Math", "Physics"),
    "Health and Medicine": (
        *("Basic_Medical_Science", "Clinical_Medicine", "Diagnostics_and_Laboratory_Medicine"),
        *("Pharmacy", "Public_Health"),
    ),
    "Humanities and Social Science": ("History", "Literature", "Psychology", "Sociology"),
    "Tech and Engineering": (
        *("Agriculture", "Architecture_and_Engineering", "Computer_Science", "Electronics"),
        *("Energy_and_Power", "Materials", "Mechanical_Engineering"),
    ),
}
_DISCIPLINE: Final = {subject: name for name, subjects in DISCIPLINES.items() for subject in subjects}
SUBJECTS: Final = tuple(sorted(_DISCIPLINE))
_REVISION: Final = "98e6ac0cb9b7b2cd2c991b85a50762edc4aedc68"
_PLACE: Final = re.compile(r"<image (\d+)>")
_CORRECTED: Final = {("Art_Theory", 3): "C", ("Design", 14): "B"}
_LETTER_NOW: Final = "Answer with the option's letter from the given choices directly."
_PHRASE_NOW: Final = "Answer the question using a single word or phrase."
_OPEN: Final = beside(SCORERS["mmmu_open"], {"official_expected": SCORERS["mmmu_open_official"]})


def _expected(scorer: Scorer) -> Scorer:
    """Return the authors' rule scored by what its draw earns on average."""

    def score(output: str, target: Target) -> msgspec.Struct:
        raise NotImplementedError

    return scorer
