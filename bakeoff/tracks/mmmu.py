"""MMMU: college-level questions of 30 subjects with one to seven images.

Paper: Yue et al. 2024 (arXiv:2311.16502). Dataset: `MMMU/MMMU`, split validation of 30 configs, 900 rows: 847 multiple
choice with 2 to 9 options and 53 open; Apache-2.0. Official metric: accuracy over the 900; where the authors' parser
finds no letter it draws one at random, which is worth 24.7 points to a model that says nothing readable.

Sizes: the default, `choice`, prepares the 847 multiple-choice questions; `full` adds the 53 open ones as a group of
their own; `subset` and numbers draw multiple choice only, in the order of one seeded shuffle over the 900 (`subset` is
281, what the reference system's 300 leave).

Deviations: letters are read by `option_letter`, nothing is drawn; `official_expected` is the authors' rule with 1/n for
each letter they would draw, and `official_guessed` is how many. Images stand where the text first says `<image N>`, in
question and options alike; a picture that the text does not name comes first; later mentions stay as text. Otherwise
the prompt is the reference system's. The published 48.4 comes from a VLMEvalKit fork, whose open questions are worth a
letter: compare on the 847. Labels: Art_Theory 4 and Design 15 were corrected in July 2026 (MMMU-Benchmark/MMMU#84);
these two samples carry the version as group `labels`.
"""

import ast
import re
from collections.abc import Sequence
from typing import Final

from bakeoff.metrics import Metric, mean_metric
from bakeoff.paths import data_dir
from bakeoff.records import Image, ImagePart, Message, OptionTarget, Record, Sample, Target, Text, TextTarget
from bakeoff.scorers import SCORERS, Scorer
from bakeoff.tracks.choosing import count, shuffled
from bakeoff.tracks.reasoning import ANSWER_LAST, COT_TOKENS, LETTER_LAST
from bakeoff.tracks.rows import LETTERS, refuse
from bakeoff.tracks.side import beside
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
_CHOICE: Final = beside(
    SCORERS["option_letter"], {"official": SCORERS["mmmu_official"]}, keep=("guess", "expected_with_guess")
)
_OPEN: Final = beside(SCORERS["mmmu_open"], {"official": SCORERS["mmmu_open_official"]})


def choose(rows: Sequence[Row], size: str | int) -> list[Row]:
    """Return the rows of a size; see the module's docstring."""
    if size == "full":
        return list(rows)
    if size == "choice":
        return [row for row in rows if not _is_open(row)]
    return [row for row in shuffled(rows) if not _is_open(row)][: count(size, subset=281)]


def _is_open(row: Row) -> bool:
    return bool(row.values["question_type"] == "open")


def build(row: Row, images: tuple[Image, ...]) -> Sample:
    """Return the sample of a row.

    Raises:
        DataMissing: when `options` is not the text of a list, the gold is not a letter of it, or an image is missing.
    """
    question, options = row.values["question"].strip(), _options(row)
    if max((int(number) for number in _PLACE.findall("\n".join((question, *options)))), default=0) > len(images):
        raise refuse(row, "question", f"mentions of the {len(images)} images of the row only")
    groups = {
        "subject": row.split,
        "discipline": _DISCIPLINE.get(row.split, "other"),
        "question_type": "open" if _is_open(row) else "multiple_choice",
    }
    if (row.split, row.index) in _CORRECTED:
        is_new = row.values["answer"] == _CORRECTED[row.split, row.index]
        groups["labels"] = "2026-07" if is_new else "before 2026-07"
    return Sample(
        id=f"mmmu_val_{row.split}_{row.index}",
        track="mmmu",
        question=question,
        target=_target(row, options),
        images=images,
        options=options,
        groups=groups,
    )


def _options(row: Row) -> tuple[str, ...]:
    """Return the options, of which the column holds the text of a list; it is never split at commas."""
    try:
        options = ast.literal_eval(row.values["options"] or "[]")
    except (ValueError, SyntaxError):
        raise refuse(row, "options", "the text of a list") from None
    if not isinstance(options, list):
        raise refuse(row, "options", "the text of a list")
    return tuple(str(option) for option in options)


def _target(row: Row, options: tuple[str, ...]) -> Target:
    """Return the gold letter, or all golds of an open question, which may be the text of a list."""
    answer = row.values["answer"].strip()
    if not _is_open(row):
        if len(answer) != 1 or answer.upper() not in LETTERS[: len(options)]:
            raise refuse(row, "answer", f"a letter of the {len(options)} options")
        return OptionTarget(letter=answer.upper(), count=len(options), options=options)
    if answer.startswith("["):
        try:
            return TextTarget(answers=tuple(str(gold) for gold in ast.literal_eval(answer)))
        except (ValueError, SyntaxError):
            pass  # a gold that only looks like a list
    return TextTarget(answers=(answer,))


def _asking(name: str, max_tokens: int, choice: str, phrase: str) -> Protocol:
    """Return a protocol with one closing instruction for lettered and one for open questions."""

    def render(sample: Sample) -> tuple[Message, ...]:
        lines = (f"{letter}. {option}" for letter, option in zip(LETTERS, sample.options, strict=False))
        text = "\n".join((sample.question, *lines, choice if sample.options else phrase))
        return turns(sample.system, _in_place(text, sample.images))

    return Protocol(name=name, render=render, max_tokens=max_tokens, scorer=_scorer)


def _in_place(text: str, images: Sequence[Image]) -> tuple[ImagePart | Text, ...]:
    """Return text and images in the order of a text with places for images; unnamed images come first."""
    pieces = _PLACE.split(text)
    named = {int(number) for number in pieces[1::2]}
    parts: list[ImagePart | Text] = [
        ImagePart(image=image) for number, image in enumerate(images, start=1) if number not in named
    ]
    pending = pieces[0]
    shown: set[int] = set()
    for number, following in zip(map(int, pieces[1::2]), pieces[2::2], strict=True):
        if number in shown or number > len(images):
            pending += f"<image {number}>"
        else:
            shown.add(number)
            parts.extend((Text(text=pending),) if pending else ())
            parts.append(ImagePart(image=images[number - 1]))
            pending = ""
        pending += following
    return (*parts, Text(text=pending)) if pending else tuple(parts)


def _scorer(sample: Sample) -> Scorer:
    return _CHOICE if isinstance(sample.target, OptionTarget) else _OPEN


def metrics(records: Sequence[Record]) -> dict[str, Metric]:
    """Return `accuracy`, its parts `mc` and `open`, the authors' rule in expectation, and the share they would draw."""
    found = {"accuracy": mean_metric(records, primary=True)}
    for name, kind in (("mc", "multiple_choice"), ("open", "open")):
        found[name] = mean_metric([record for record in records if record.groups.get("question_type") == kind])
    if records and all("official" in record.metrics for record in records if record.status != "error"):
        found["official_expected"] = mean_metric(records, value=_expected)
        found["official_guessed"] = mean_metric(records, value=lambda record: record.metrics.get("guess", 0.0))
    return found


def _expected(record: Record) -> float:
    """Return what the authors' rule earns on average; an open question has no draw."""
    return record.metrics.get("expected_with_guess", record.metrics["official"])


TRACK = Track(
    name="mmmu",
    title="MMMU",
    version="1",
    citation="Yue et al. 2024, arXiv:2311.16502",
    dataset="MMMU/MMMU (validation)",
    revision=_REVISION,
    licence="Apache-2.0",
    official_metric="accuracy over 900 questions; a letter that is not found is drawn at random",
    full=900,
    protocols=(
        _asking("direct", 128, _LETTER_NOW, _PHRASE_NOW),
        _asking("cot", COT_TOKENS, LETTER_LAST, ANSWER_LAST),
    ),
    dimensions=("subject", "discipline", "question_type", "labels"),
    metrics=metrics,
    source=Source(
        splits=tuple(
            Split(
                label=subject,
                repository="MMMU/MMMU",
                config=subject,
                split="validation",
                revision=_REVISION,
                rows=30,
            )
            for subject in SUBJECTS
        ),
        columns={"question": (str,), "options": (str,), "answer": (str,), "question_type": (str,)},
        image_columns=tuple(f"image_{number}" for number in range(1, 8)),
        default="choice",
        choose=choose,
        build=build,
    ),
    folder=lambda: data_dir() / "mmmu",
    published=(
        Published(
            metric="accuracy",
            value=0.484,
            model="LFM2.5-VL-3B",
            protocol="not published; VLMEvalKit fork",
            source="Liquid AI's vLLM results for LFM2.5-VL-3B, as quoted by ivanfioravanti/vlm-bakeoff@ca9d951",
            date="2026-08-17",
            note="over 900, with VLMEvalKit's rule for the 53 open questions",
        ),
    ),
    census={
        "question_type": {"multiple_choice": 847, "open": 53},
        "subject": dict.fromkeys(SUBJECTS, 30),
        "labels": {"2026-07": len(_CORRECTED)},
    },
    constants=("A", "B", "C", "D"),
)
