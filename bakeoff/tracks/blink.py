"""BLINK: 14 tasks that people solve at a glance, multiple choice, one to four images.

Paper: Fu et al. 2024 (arXiv:2404.12390). Dataset: `BLINK-Benchmark/BLINK`, split val of 14 configs, 1,901 rows,
Apache-2.0. Official metric: the unweighted mean of the 14 accuracies; the authors let GPT-3.5 read what their rules do
not. The published 61.5 is the mean over questions (VLMEvalKit's "Overall"), here `micro`.

Deviations: letters are read by `option_letter`, which never guesses and needs no judge. The prompt is the dataset's own
`prompt`, the images come before it in order. The budget is 128 tokens, not the reference system's 16, which cuts chatty
answers off.

Labels: Relative_Reflectance was relabelled in September 2025 (zeyofu/BLINK_Benchmark#13), 89 of 134 golds changed, and
the new ones are bare letters; samples carry the version as group `labels`, and means that rest on it a flag. 50 prompts
repeat with other pictures: nothing is keyed by prompt.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from bakeoff.metrics import Metric, macro_metric, mean_metric
from bakeoff.paths import data_dir
from bakeoff.records import Image, OptionTarget, Record, Sample
from bakeoff.scorers import SCORERS
from bakeoff.tracks.choosing import equal_shares
from bakeoff.tracks.rows import LETTERS, first_image, refuse
from bakeoff.tracks.source import Row, Source, Split
from bakeoff.tracks.track import Protocol, Published, Track, images_then_text

_ROWS: Final = {
    "Art_Style": 117,
    "Counting": 120,
    "Forensic_Detection": 132,
    "Functional_Correspondence": 130,
    "IQ_Test": 150,
    "Jigsaw": 150,
    "Multi-view_Reasoning": 133,
    "Object_Localization": 122,
    "Relative_Depth": 124,
    "Relative_Reflectance": 134,
    "Semantic_Correspondence": 139,
    "Spatial_Relation": 143,
    "Visual_Correspondence": 172,
    "Visual_Similarity": 135,
}
TASKS: Final = tuple(_ROWS)
_REVISION: Final = "a3666eb249237ba3d5eca8db21176cc47967e040"
_GOLD: Final = re.compile(r"(\()?([A-Z])(?(1)\))")
_LABEL: Final = re.compile(r"\(([A-Z])\)\s*")
_RELABELLED: Final = "Relative_Reflectance"


def build(row: Row, images: tuple[Image, ...]) -> Sample:
    """Return the sample of a row.

    Raises:
        DataMissing: when the gold is not a letter of one of the choices, or there is no image.
    """
    first_image(row, images)
    options = tuple(_without_label(text, letter) for text, letter in zip(row.values["choices"], LETTERS, strict=False))
    gold = _GOLD.fullmatch(row.values["answer"].strip())
    if gold is None or gold[2] not in LETTERS[: len(options)]:
        raise refuse(row, "answer", f"a letter of the {len(options)} choices, such as (A)")
    groups = {"task": row.split}
    if row.split == _RELABELLED:
        groups["labels"] = "2024" if gold[1] else "2025-09"
    return Sample(
        id=f"blink_{row.split}_{row.index}",
        track="blink",
        question=row.values["prompt"].strip(),
        target=OptionTarget(letter=gold[2], count=len(options), options=options),
        images=images,
        options=options,
        groups=groups,
    )


def _without_label(text: str, letter: str) -> str:
    """Return the text of a choice without the label that it may carry."""
    label = _LABEL.match(text)
    return text[label.end() :] if label and label[1] == letter else text


def metrics(records: Sequence[Record]) -> dict[str, Metric]:
    """Return `macro` over the 14 tasks, absent unless all are there, and `micro`; flags name the label version."""
    versions = sorted({record.groups["labels"] for record in records if "labels" in record.groups})
    flags = tuple(f"labels:{_RELABELLED} {version}" for version in versions)
    found = {"macro": macro_metric(records, "task", expected=TASKS, primary=True), "micro": mean_metric(records)}
    return {name: msgspec.structs.replace(metric, flags=(*metric.flags, *flags)) for name, metric in found.items()}


TRACK = Track(
    name="blink",
    title="BLINK",
    version="1",
    citation="Fu et al. 2024, arXiv:2404.12390",
    dataset="BLINK-Benchmark/BLINK (val)",
    revision=_REVISION,
    licence="Apache-2.0",
    official_metric="mean of the accuracies of 14 tasks, letters read by rules and GPT-3.5",
    full=sum(_ROWS.values()),
    protocols=(
        Protocol(
            name="default",
            render=images_then_text,
            max_tokens=128,
            scorer=lambda _: SCORERS["option_letter"],
        ),
    ),
    dimensions=("task", "labels"),
    metrics=metrics,
    macro="task",
    source=Source(
        splits=tuple(
            Split(
                label=task,
                repository="BLINK-Benchmark/BLINK",
                config=task,
                split="val",
                revision=_REVISION,
                rows=rows,
            )
            for task, rows in _ROWS.items()
        ),
        columns={"prompt": (str,), "choices": (list,), "answer": (str,)},
        image_columns=("image_1", "image_2", "image_3", "image_4"),
        default="subset",
        choose=equal_shares(lambda row: row.split, subset=224, order=TASKS),
        build=build,
    ),
    folder=lambda: data_dir() / "blink",
    published=(
        Published(
            metric="micro",
            value=0.615,
            model="LFM2.5-VL-3B",
            protocol="not published; VLMEvalKit fork",
            source="Liquid AI's vLLM results for LFM2.5-VL-3B, as quoted by ivanfioravanti/vlm-bakeoff@ca9d951",
            date="2026-08-17",
            note="mean over questions; whether with the old or the new Relative_Reflectance labels is not known",
        ),
    ),
    census={"task": dict(_ROWS), "labels": {"2025-09": _ROWS[_RELABELLED]}},
    constants=("(A)", "(B)", "(C)", "(D)", "I cannot determine a difference"),
)
