"""RefCOCO, RefCOCO+ and RefCOCOg: a box for the region that an expression names.

Papers: Kazemzadeh et al. 2014 (ReferItGame); Yu et al. 2016 (arXiv:1608.00272); Mao et al. 2016 (arXiv:1511.02283).
Datasets: `lmms-lab-encoder/RefCOCO`, `RefCOCOplus`, `RefCOCOg`; the 8 usual splits hold 32,770 regions. Boxes are x, y,
width, height in pixels, float32. The cards name no licence; annotations come from the refer toolkit (Apache-2.0), the
pictures are COCO's under Flickr terms.
Official metric: IoU of at least 0.5 on continuous areas, Precision@1 over *expressions*. There is no official parser.

Deviations: a row is a region with several expressions; protocol `first` asks the first one, as the reference system
does, protocol `all` asks each, as published numbers do. Two of the val splits are mixtures: RefCOCO's 8,811 regions are
3,811 of the published val and 5,000 of Google's, RefCOCOg's 7,573 are 2,573 and 5,000; a mean that holds them carries
the flag `mixture:` and must not be laid beside a published val unsaid. The expression comes from `answer`: `question`
holds a captioning prompt. Golds are clipped to the picture, which they may leave by a pixel; they are never rounded.
Of RefCOCOg's data commit only the first digits are known to us; the manifest records the whole hash.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from bakeoff.metrics import Metric, macro_metric, mean_metric, named
from bakeoff.paths import data_dir
from bakeoff.records import BoxTarget, Image, Record, Sample
from bakeoff.scorers import SCORERS
from bakeoff.tracks.choosing import equal_shares
from bakeoff.tracks.grounding import GROUNDING_SYSTEM, oracle_json
from bakeoff.tracks.native import native
from bakeoff.tracks.rows import first_image, four_numbers, texts
from bakeoff.tracks.source import Row, Source, Split
from bakeoff.tracks.track import Protocol, Published, Track, asking

PROMPT: Final = "Provide bounding boxes for the region this sentence describes: {}"
_REVISIONS: Final = {
    "RefCOCO": "e15256ece129a21d62e216f95f98ba2e808f96a0",
    "RefCOCOplus": "6ff10a221309bc4791d1ff7d57f8bbcb509b9e9d",
    "RefCOCOg": "c39eb63",  # as much of it as is known; `bakeoff prepare` finds the rest in the repository's history
}
_ROWS: Final = (
    ("RefCOCO", "val", 8811),
    ("RefCOCO", "testA", 1975),
    ("RefCOCO", "testB", 1810),
    ("RefCOCOplus", "val", 3805),
    ("RefCOCOplus", "testA", 1975),
    ("RefCOCOplus", "testB", 1798),
    ("RefCOCOg", "val", 7573),
    ("RefCOCOg", "test", 5023),
)
SPLITS: Final = tuple(f"{name.lower()}/{split}" for name, split, _ in _ROWS)
MIXTURES: Final = ("refcoco/val", "refcocog/val")
"""Splits that are not the published splits of that name."""


def build(row: Row, images: tuple[Image, ...]) -> Sample | None:
    """Return the sample of a row; None without an expression, or with a box that is empty or leaves the picture.

    Raises:
        DataMissing: when the box is not four numbers, or there is no image.
    """
    image = first_image(row, images)
    x, y, width, height = four_numbers(row, "bbox")
    expressions = tuple(text.strip() for text in texts(row.values["answer"]))
    is_inside = x + width <= image.width + 1 and y + height <= image.height + 1
    if not expressions or width <= 0 or height <= 0 or not is_inside:
        return None
    name = row.values["question_id"] or str(row.index)
    box = (x / image.width, y / image.height, (x + width) / image.width, (y + height) / image.height)
    return Sample(
        id=f"refcoco_{row.split.replace('/', '_')}_{name}",
        track="refcoco",
        question=expressions[0],
        target=BoxTarget(
            box=(max(box[0], 0.0), max(box[1], 0.0), min(box[2], 1.0), min(box[3], 1.0)),
            image_size=(image.width, image.height),
        ),
        images=(image,),
        options=expressions,
        groups={"split": row.split},
    )


def every_expression(sample: Sample) -> tuple[Sample, ...]:
    """Return one sample an expression; the first keeps its id, the others get `.1`, `.2` and so on behind it."""
    return tuple(
        msgspec.structs.replace(sample, id=sample.id if number == 0 else f"{sample.id}.{number}", question=expression)
        for number, expression in enumerate(sample.options or (sample.question,))
    )


def metrics(records: Sequence[Record]) -> dict[str, Metric]:
    """Return `acc@0.5` and `center`, means over the splits present, and `micro`; flags name what they lack or mix."""
    present = {record.groups.get("split") for record in records if record.status != "error"}
    flags = tuple(f"missing:{split}" for split in SPLITS if split not in present)
    flags += tuple(f"mixture:{split}" for split in MIXTURES if split in present)
    found = {"acc@0.5": macro_metric(records, "split", primary=True)}
    if all("center" in record.metrics for record in records if record.status != "error"):
        found["center"] = macro_metric(records, "split", value=named("center"))
    found["micro"] = mean_metric(records)
    return {name: msgspec.structs.replace(metric, flags=(*metric.flags, *flags)) for name, metric in found.items()}


_FIRST = Protocol(
    name="first",
    render=asking(lambda sample: PROMPT.format(sample.question), system=GROUNDING_SYSTEM),
    max_tokens=256,
    scorer=lambda _: SCORERS["box_iou"],
    oracle=oracle_json,
    frame="norm1000",
)

TRACK = Track(
    name="refcoco",
    title="RefCOCO/+/g",
    version="1",
    citation="Kazemzadeh et al. 2014; Yu et al. 2016, arXiv:1608.00272; Mao et al. 2016, arXiv:1511.02283",
    dataset="lmms-lab-encoder/RefCOCO, RefCOCOplus, RefCOCOg",
    revision=", ".join(_REVISIONS.values()),
    licence="not stated",
    official_metric="Precision@1 over expressions: IoU of at least 0.5",
    licence_note="annotations: refer toolkit, Apache-2.0; pictures: COCO, under the terms of Flickr",
    full=sum(rows for *_, rows in _ROWS),
    protocols=(_FIRST, msgspec.structs.replace(_FIRST, name="all", expand=every_expression)),
    dimensions=("split",),
    metrics=metrics,
    macro="split",
    source=Source(
        splits=tuple(
            Split(
                label=label,
                repository=f"lmms-lab-encoder/{name}",
                config="default",
                split=split,
                revision=_REVISIONS[name],
                rows=rows,
            )
            for label, (name, split, rows) in zip(SPLITS, _ROWS, strict=True)
        ),
        columns={"question_id": (str,), "answer": (list,), "bbox": (list,)},
        image_columns=("image",),
        default="subset",
        choose=equal_shares(lambda row: row.split, subset=512, order=SPLITS),
        build=build,
    ),
    folder=lambda: data_dir() / "refcoco",
    published=(
        Published(
            metric="acc@0.5",
            value=0.879,
            model="LFM2.5-VL-3B",
            protocol="not published; VLMEvalKit fork",
            source="Liquid AI's vLLM results for LFM2.5-VL-3B, as quoted by ivanfioravanti/vlm-bakeoff@ca9d951",
            date="2026-08-17",
            note="mean over the eight published splits, per expression; the hub's val splits are not those",
        ),
    ),
    constants=("[0, 0, 1000, 1000]", "[250, 250, 750, 750]"),
    native=lambda family: native(family, "box_iou", "region", _FIRST),
)
