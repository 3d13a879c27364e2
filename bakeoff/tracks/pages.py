"""What DocVQA and InfographicVQA share: prompt, row to sample, metrics and the form of the declaration."""

from collections.abc import Callable, Sequence
from typing import Final

from bakeoff.metrics import Metric, mean_metric
from bakeoff.paths import data_dir
from bakeoff.records import Image, Record, Sample, TextTarget
from bakeoff.scorers import SCORERS
from bakeoff.tracks.choosing import prefix_of_shuffle
from bakeoff.tracks.rows import first_image, refuse, texts
from bakeoff.tracks.side import side_metrics
from bakeoff.tracks.source import Row, Source, Split
from bakeoff.tracks.track import Protocol, Published, Track, asking

SUFFIX: Final = "\nAnswer the question using a single word or phrase."
REVISION: Final = "539088ef8a8ada01ac8e2e6d4e372586748a265e"
REPOSITORY: Final = "lmms-lab-encoder/DocVQA"
LICENCE: Final = "Apache-2.0"
LICENCE_NOTE: Final = "on the card; the pictures follow the terms of UCSF and RRC: registration, research use"
PROTOCOL: Final = Protocol(
    name="default",
    render=asking(lambda sample: sample.question + SUFFIX),
    max_tokens=128,
    scorer=lambda _: SCORERS["anls"],
)


def builder(track: str, type_column: str) -> Callable[[Row, tuple[Image, ...]], Sample | None]:
    """Return the `build` of a track; its type is the first entry of `type_column`."""

    def build(row: Row, images: tuple[Image, ...]) -> Sample | None:
        if row.values["answers"] is None:
            raise refuse(row, "answers", "a list of answers; the test split has none and cannot be scored")
        answers = texts(row.values["answers"])
        if not answers:
            return None
        image = first_image(row, images)
        return Sample(
            id=f"{track}_val_{row.values['questionId'] or row.index}",
            track=track,
            question=row.values["question"].strip(),
            target=TextTarget(answers=answers),
            images=(image,),
            groups={"type": next(iter(texts(row.values[type_column])), "other")},
        )

    return build


def metrics(records: Sequence[Record]) -> dict[str, Metric]:
    """Return `anls`, `anls_raw` (the script on the raw output), `anls_pass` (share at 0.5 or above), `verbose`."""
    names = {"anls_raw": "anls_raw", "anls_pass": "anls_pass", "verbose": "verbose"}
    return {"anls": mean_metric(records, primary=True), **side_metrics(records, names)}


def page_track(
    name: str, title: str, *, citation: str, full: int, type_column: str, liquid: float, constants: tuple[str, ...]
) -> Track:
    """Declare a track of the repository.

    Args:
        name: of the track here.
        title: name of the benchmark, which is also the config of the dataset.
        citation: paper.
        full: rows of the validation split.
        type_column: list of types of a question, of which the first counts.
        liquid: what Liquid AI published for LFM2.5-VL-3B, as a fraction.
        constants: outputs that need no model.
    """
    split = Split(
        label="validation", repository=REPOSITORY, config=title, split="validation", revision=REVISION, rows=full
    )
    nullable = (list, type(None))
    return Track(
        name=name,
        title=title,
        version="1",
        citation=citation,
        dataset=f"{REPOSITORY} ({title}, validation)",
        revision=REVISION,
        licence=LICENCE,
        official_metric="ANLS with threshold 0.5, mean over questions",
        licence_note=LICENCE_NOTE,
        full=full,
        protocols=(PROTOCOL,),
        dimensions=("type",),
        metrics=metrics,
        source=Source(
            splits=(split,),
            columns={"questionId": (str,), "question": (str,), type_column: nullable, "answers": nullable},
            image_columns=("image",),
            default="subset",
            choose=prefix_of_shuffle(500),
            build=builder(name, type_column),
        ),
        folder=lambda: data_dir() / name,
        published=(_published(liquid),),
        constants=constants,
    )


def _published(value: float) -> Published:
    """Return Liquid's number for a track."""
    return Published(
        metric="anls",
        value=value,
        model="LFM2.5-VL-3B",
        protocol="not published; VLMEvalKit fork",
        source="Liquid AI's vLLM results for LFM2.5-VL-3B, as quoted by ivanfioravanti/vlm-bakeoff@ca9d951",
        date="2026-08-17",
    )
