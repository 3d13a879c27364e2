"""ScreenSpot-v2: where on a screenshot would you click?

Paper: Cheng et al. 2024, SeeClick (arXiv:2401.10935); relabelled in Wu et al. 2024, OS-Atlas (arXiv:2410.23218).
Dataset: `HongxinLi/ScreenSpot_v2`, split test, 1,272 rows on 730 screenshots (501 mobile, 334 desktop, 437 web); boxes
are fractions x1, y1, x2, y2. The re-pack's card names no licence; the original (OS-Copilot) is Apache-2.0.
Official metric: a predicted point inside the gold box, edges included. SeeClick averages six cells (platform x
element); the published 80.7 is the mean over the three platforms, which is the primary metric here.

Deviations: golds stay fractions and are never rounded to a grid of thousandths; an answer may be a box or a point in
the frame the protocol declares (`scorers.coordinates`). The prompts are the reference system's. `data_source` is not
the platform ("shop" occurs on phones and desktops): the file name's prefix is. Rows 1017 and 1021 are duplicates and
are kept, as in every published number; three golds contain the origin, which a failed parse must not hit.
"""

from collections.abc import Sequence
from typing import Final

from bakeoff.metrics import Metric, macro_metric, mean_metric
from bakeoff.paths import data_dir
from bakeoff.records import BoxTarget, Image, Record, Sample
from bakeoff.tracks.choosing import equal_shares
from bakeoff.tracks.grounding import CLICK, GROUNDING_SYSTEM, PIXEL_CLICK, oracle_bare, oracle_click, oracle_json
from bakeoff.tracks.native import native
from bakeoff.tracks.rows import first_image, four_numbers, refuse
from bakeoff.tracks.side import side_metrics
from bakeoff.tracks.source import Row, Source, Split
from bakeoff.tracks.track import Protocol, Published, Track, asking

PLATFORMS: Final = ("desktop", "mobile", "web")
CELLS: Final = tuple(f"{platform}/{element}" for platform in PLATFORMS for element in ("text", "icon"))
_PREFIXES: Final = {"mobile": "mobile", "pc": "desktop", "desktop": "desktop", "web": "web"}
_SOURCES: Final = {
    **dict.fromkeys(("ios", "android", "mobile"), "mobile"),
    **dict.fromkeys(("macos", "windows", "linux", "desktop"), "desktop"),
}
_SLACK: Final = 1e-6

BBOX: Final = (
    "Detect the UI element for this instruction: {}\n"
    "Reply with only the bounding box as xmin, ymin, xmax, ymax, using integers from 0 to 1000."
)
JSON: Final = "Provide bounding boxes for the UI element for this instruction: {}"
PYAUTOGUI: Final = (
    "Please complete the following tasks by clicking using `pyautogui.click`:\n{}\n"
    "Please answer directly with only the final answer, do not give any explanation."
)
_LOCATE: Final = (
    "Locate the clickable UI element described by this instruction:\n{}\n\n"
    "Inspect the screenshot carefully, especially small or unlabeled icons. "
)
_SILENTLY: Final = (
    "Reason silently about the target's visual appearance and distinguish it from similar nearby controls. "
    "Do not output the reasoning. "
)
_SHAPE: Final = (
    "Return only one tight bounding box whose center is the exact point you would click. Use this JSON shape: "
    '[{{"image_id": 0, "bbox_2d": [xmin, ymin, xmax, ymax], "label": "target"}}]. '
    "Use integer coordinates from 0 to 1000. Do not include markdown or any other text."
)
LIQUID: Final = _LOCATE + _SHAPE
LIQUID_REASON: Final = _LOCATE + _SILENTLY + _SHAPE


def platform_of(file_name: str, data_source: str) -> str:
    """Return the platform by the prefix of the file's base name, else by the source; web when neither tells."""
    prefix = file_name.rpartition("/")[2].partition("_")[0].lower()
    return _PREFIXES.get(prefix) or _SOURCES.get(data_source.lower(), "web")


def _platform(row: Row) -> str:
    return platform_of(row.values["file_name"] or "", row.values["data_source"] or "")


def build(row: Row, images: tuple[Image, ...]) -> Sample:
    """Return the sample of a row.

    Raises:
        DataMissing: when the box is not one of fractions, or there is no image.
    """
    image = first_image(row, images)
    x1, y1, x2, y2 = box = four_numbers(row, "bbox")
    if not (-_SLACK <= x1 < x2 <= 1.0 + _SLACK and -_SLACK <= y1 < y2 <= 1.0 + _SLACK):
        raise refuse(row, "bbox", "fractions x1 < x2 and y1 < y2 of the image")
    platform, element = _platform(row), row.values["data_type"] or "na"
    return Sample(
        id=f"screenspot_{row.index:04d}_{platform}_{element}",
        track="screenspot",
        question=row.values["instruction"].strip(),
        target=BoxTarget(box=box, image_size=(image.width, image.height)),
        images=(image,),
        groups={
            "platform": platform,
            "element": element,
            "cell": f"{platform}/{element}",
            "source": row.values["data_source"] or "",
        },
    )


def metrics(records: Sequence[Record]) -> dict[str, Metric]:
    """Return `macro`, `six_cell_macro`, `micro`, and the shares of answers that are points, boxes, whole images."""
    kinds = {"points": "point", "boxes": "box", "whole_image_boxes": "whole_image"}
    return {
        "macro": macro_metric(records, "platform", expected=PLATFORMS, primary=True),
        "six_cell_macro": macro_metric(records, "cell", expected=CELLS),
        "micro": mean_metric(records),
        **side_metrics(records, kinds),
    }


_GROUNDING_JSON = Protocol(
    name="grounding_json",
    render=asking(lambda sample: JSON.format(sample.question), system=GROUNDING_SYSTEM),
    max_tokens=256,
    scorer=lambda _: CLICK,
    oracle=oracle_json,
    frame="norm1000",
)
_LIQUID_CARD: Final = "Liquid AI's vLLM results for LFM2.5-VL-3B, as quoted by ivanfioravanti/vlm-bakeoff@ca9d951"


def _published(value: float, group: str = "") -> Published:
    return Published(
        metric="macro" if not group else "micro",
        value=value,
        model="LFM2.5-VL-3B",
        protocol="not published; VLMEvalKit fork",
        source=_LIQUID_CARD,
        date="2026-08-17",
        group=group,
    )


TRACK = Track(
    name="screenspot",
    title="ScreenSpot-v2",
    version="1",
    citation="Cheng et al. 2024, arXiv:2401.10935; Wu et al. 2024, arXiv:2410.23218",
    dataset="HongxinLi/ScreenSpot_v2",
    revision="454d6e23deee60a3f7d33b114003edc04e6a983a",
    licence="Apache-2.0",
    official_metric="share of clicks inside the gold box, edges included; mean of six cells (platform x element)",
    licence_note="of the original OS-Copilot/ScreenSpot-v2; the card of this re-pack names none",
    full=1272,
    protocols=(
        _GROUNDING_JSON,
        Protocol(
            name="bbox",
            render=asking(lambda sample: BBOX.format(sample.question)),
            max_tokens=64,
            scorer=lambda _: CLICK,
            oracle=oracle_bare,
            frame="norm1000",
        ),
        Protocol(
            name="pyautogui",
            render=asking(lambda sample: PYAUTOGUI.format(sample.question)),
            max_tokens=1024,
            scorer=lambda _: PIXEL_CLICK,
            oracle=oracle_click,
            frame="pixel",
        ),
        Protocol(
            name="liquid",
            render=asking(lambda sample: LIQUID.format(sample.question)),
            max_tokens=256,
            scorer=lambda _: CLICK,
            oracle=oracle_json,
            frame="norm1000",
        ),
        Protocol(
            name="liquid_reason",
            render=asking(lambda sample: LIQUID_REASON.format(sample.question)),
            max_tokens=256,
            scorer=lambda _: CLICK,
            oracle=oracle_json,
            frame="norm1000",
        ),
    ),
    dimensions=("platform", "element", "cell"),
    metrics=metrics,
    macro="platform",
    source=Source(
        splits=(
            Split(
                label="test",
                repository="HongxinLi/ScreenSpot_v2",
                config="default",
                split="test",
                revision="454d6e23deee60a3f7d33b114003edc04e6a983a",
                rows=1272,
            ),
        ),
        columns={
            "file_name": (str,),
            "bbox": (list,),
            "instruction": (str,),
            "data_type": (str, type(None)),
            "data_source": (str, type(None)),
        },
        image_columns=("image",),
        default="full",
        choose=equal_shares(_platform, subset=48, order=("mobile", "desktop", "web")),
        build=build,
    ),
    folder=lambda: data_dir() / "screenspot",
    published=(
        _published((0.787 + 0.812 + 0.822) / 3),
        _published(0.787, "platform:desktop"),
        _published(0.812, "platform:mobile"),
        _published(0.822, "platform:web"),
    ),
    constants=(
        "[0, 0, 1000, 1000]",
        "[0, 0, 1, 1]",
        '[{"image_id": 0, "bbox_2d": [490, 490, 510, 510], "label": "target"}]',
    ),
    native=lambda family: native(family, "click_in_box", "element", _GROUNDING_JSON),
    census={
        "platform": {"mobile": 501, "desktop": 334, "web": 437},
        "element": {"text": 718, "icon": 554},
        "cell": {
            "mobile/text": 290,
            "mobile/icon": 211,
            "desktop/text": 194,
            "desktop/icon": 140,
            "web/text": 234,
            "web/icon": 203,
        },
    },
)
