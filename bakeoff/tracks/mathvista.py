"""MathVista: mathematical reasoning in pictures; 540 multiple-choice and 460 free-form questions.

Paper: Lu et al. 2024 (arXiv:2310.02255). Dataset: `AI4Math/MathVista`, split testmini, 1,000 rows, CC BY-SA 4.0; the
picture is in `decoded_image`. Official metric: accuracy after a language model has extracted the answer; whatever it
extracts is mapped to the nearest option, so that silence earns about 17 %.

Deviations: answers are read offline (`scorers.mathvista`): a letter or option text that the answer names, the number
that it ends on, all numbers of a list; no answer scores 0. `official_no_llm` is the authors' rule with an extractor
that returns nothing; never read it without `floor`, the share of items it credits although nothing can be read in them.
The direct prompt is the dataset's `query` to the letter, whose hint asks for the answer "at the end": 1,024 tokens give
it room to end (the reference system's 32 cut it off). The published 68.5 is a reasoning pipeline with a judge and is no
target for direct answers.
"""

from collections.abc import Sequence
from typing import Final

from bakeoff.metrics import Metric, mean_metric
from bakeoff.paths import data_dir
from bakeoff.records import Image, NumberTarget, OptionTarget, Record, Sample, Target, TextTarget
from bakeoff.scorers import SCORERS
from bakeoff.tracks.choosing import prefix_of_shuffle
from bakeoff.tracks.reasoning import ANSWER_LAST, COT_TOKENS, LETTER_LAST
from bakeoff.tracks.rows import LETTERS, first_image, refuse, texts
from bakeoff.tracks.side import beside, side_metrics
from bakeoff.tracks.source import Row, Source, Split
from bakeoff.tracks.track import Protocol, Published, Track, asking, images_then_text

_REVISION: Final = "2b6ad69445fbb5695c9b165475e8decdbeb97747"
_SUFFIX: Final = "Answer the question using a single word, number, or phrase."
_SCORER: Final = beside(
    SCORERS["mathvista"], {"official_no_llm": SCORERS["mathvista_official_no_llm"]}, keep=("floor",)
)


def build(row: Row, images: tuple[Image, ...]) -> Sample:
    """Return the sample of a row.

    Raises:
        DataMissing: when the gold is not among the choices, or is no number where one is asked for.
    """
    values, details = row.values, row.values["metadata"] or {}
    choices = texts(values["choices"]) if values["question_type"] == "multi_choice" else ()
    return Sample(
        id=f"mathvista_mini_{values['pid']}",
        track="mathvista",
        question=(values["query"] or "").strip() or _plain_question(values["question"].strip(), choices),
        target=_target(row, choices),
        images=(first_image(row, images),),
        options=choices,
        groups={
            "question_type": values["question_type"],
            "answer_type": values["answer_type"],
            "task": details.get("task") or "other",
            "grade": details.get("grade") or "other",
        },
    )


def _target(row: Row, choices: tuple[str, ...]) -> Target:
    """Return the gold: a letter by the position of the first choice that is the answer, a list, or a number."""
    values, answer = row.values, row.values["answer"]
    if values["question_type"] == "multi_choice":
        if len(choices) < 2 or answer not in choices:  # noqa: PLR2004 -- a choice needs two
            raise refuse(row, "answer", f"one of {choices!r}")
        return OptionTarget(letter=LETTERS[choices.index(answer)], count=len(choices), options=choices)
    if values["answer_type"] == "list":
        return TextTarget(answers=(answer,))
    precision = int(values["precision"] or 0)  # a double in the dataset
    if values["answer_type"] == "float" and precision < 1:
        raise refuse(row, "precision", "the number of decimals of a float")
    try:
        float(answer)
    except ValueError:
        raise refuse(row, "answer", "a number") from None
    return NumberTarget(value=answer, precision=precision)


def _plain_question(question: str, choices: tuple[str, ...]) -> str:
    """Return a prompt for a row without `query`; there is none in testmini."""
    lines = (f"({letter}) {choice}" for letter, choice in zip(LETTERS, choices, strict=False))
    return "\n".join((question, *lines, _SUFFIX))


def _reason(sample: Sample) -> str:
    """Return the question with the instruction to reason first."""
    return f"{sample.question}\n{LETTER_LAST if sample.options else ANSWER_LAST}"


def metrics(records: Sequence[Record]) -> dict[str, Metric]:
    """Return `accuracy`, and `official_no_llm` with its `floor`."""
    names = {"official_no_llm": "official_no_llm", "floor": "floor"}
    return {"accuracy": mean_metric(records, primary=True), **side_metrics(records, names)}


TRACK = Track(
    name="mathvista",
    title="MathVista",
    version="1",
    citation="Lu et al. 2024, arXiv:2310.02255",
    dataset="AI4Math/MathVista (testmini)",
    revision=_REVISION,
    licence="CC-BY-SA-4.0",
    official_metric="accuracy after a language model has extracted the answer; the nearest option counts",
    full=1000,
    protocols=(
        Protocol(name="direct", render=images_then_text, max_tokens=1024, scorer=lambda _: _SCORER),
        Protocol(name="cot", render=asking(_reason), max_tokens=COT_TOKENS, scorer=lambda _: _SCORER),
    ),
    dimensions=("question_type", "answer_type", "task", "grade"),
    metrics=metrics,
    source=Source(
        splits=(
            Split(
                label="testmini",
                repository="AI4Math/MathVista",
                config="default",
                split="testmini",
                revision=_REVISION,
                rows=1000,
            ),
        ),
        columns={
            "pid": (str,),
            "question": (str,),
            "query": (str, type(None)),
            "choices": (list, type(None)),
            "precision": (float, int, type(None)),
            "answer": (str,),
            "question_type": (str,),
            "answer_type": (str,),
            "metadata": (dict, type(None)),
        },
        image_columns=("decoded_image",),
        default="full",
        choose=prefix_of_shuffle(300),
        build=build,
    ),
    folder=lambda: data_dir() / "mathvista",
    published=(
        Published(
            metric="accuracy",
            value=0.685,
            model="LFM2.5-VL-3B",
            protocol="chain of thought with a judge; VLMEvalKit fork",
            source="Liquid AI's vLLM results for LFM2.5-VL-3B, as quoted by ivanfioravanti/vlm-bakeoff@ca9d951",
            date="2026-08-17",
            note="lay it beside protocol cot, never beside direct",
        ),
    ),
    census={
        "question_type": {"multi_choice": 540, "free_form": 460},
        "answer_type": {"text": 540, "integer": 418, "float": 40, "list": 2},
    },
    constants=("A", "B", "C", "D", "It is a triangle", "Yes", "No", "2", "1", "0"),
)
