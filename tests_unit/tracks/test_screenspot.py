"""ScreenSpot-v2: texts to the letter, platforms, golds, averages."""

from typing import Any

import pytest

from bakeoff.errors import DataMissing
from bakeoff.records import BoxTarget, Image, Record, Sample, Text
from bakeoff.tracks import TRACKS
from bakeoff.tracks.baselines import answered
from bakeoff.tracks.screenspot import build, metrics, platform_of
from bakeoff.tracks.source import Row

IMAGE = Image(path="a.png", sha256="a" * 64, width=1920, height=1080)
VALUES = {
    "file_name": "pc_a.png",
    "bbox": [0.9, 0.1, 0.95, 0.2],
    "instruction": "close this window",
    "data_type": "icon",
    "data_source": "windows",
}


def sample(**values: object) -> Sample:
    return build(Row(split="test", index=7, values={**VALUES, **values}), (IMAGE,))


@pytest.mark.parametrize(
    ("file_name", "source", "platform"),
    [
        ("pc_x.png", "web", "desktop"),
        ("foo.png", "shop", "web"),
        ("", "", "web"),
        ("dir/PC_x.png", "", "desktop"),
        ("mobile_a.png", "shop", "mobile"),
        ("foo.png", "iOS", "mobile"),
        ("foo.png", "macos", "desktop"),
    ],
)
def test_platform_is_the_prefix_of_the_file_name(file_name: str, source: str, platform: str) -> None:
    assert platform_of(file_name, source) == platform


def test_row_becomes_a_sample_with_an_unrounded_gold() -> None:
    found = sample()
    assert found.id == "screenspot_0007_desktop_icon"
    assert found.target == BoxTarget(box=(0.9, 0.1, 0.95, 0.2), image_size=(1920, 1080))
    assert found.groups["cell"] == "desktop/icon"


@pytest.mark.parametrize("box", [[960, 540, 1920, 1080], [0.5, 0.1, 0.4, 0.2], [0.1, 0.2, 0.3], None])
def test_box_that_is_not_of_fractions_is_refused_with_its_row(box: Any) -> None:
    with pytest.raises(DataMissing, match="row 7 of test: column bbox holds"):
        sample(bbox=box)


SYSTEM = (
    "When asked for bounding boxes for objects, return a valid JSON array.\n"
    "Each array item must be an object with:\n"
    "- image_id: the 0-based index of the image\n"
    "- bbox_2d: [xmin, ymin, xmax, ymax] normalized integer coordinates in [0, 1000]\n"
    "- label: a concise label you choose for the predicted object or region\n"
    "Return one item per visible matching object or region. Return [] if none are visible."
)
LIQUID = (
    "Locate the clickable UI element described by this instruction:\nclose this window\n\n"
    "Inspect the screenshot carefully, especially small or unlabeled icons. {}"
    "Return only one tight bounding box whose center is the exact point you would click. Use this JSON shape: "
    '[{{"image_id": 0, "bbox_2d": [xmin, ymin, xmax, ymax], "label": "target"}}]. '
    "Use integer coordinates from 0 to 1000. Do not include markdown or any other text."
)
TEXTS = {
    "grounding_json": (
        SYSTEM,
        "Provide bounding boxes for the UI element for this instruction: close this window",
        256,
    ),
    "bbox": (
        None,
        (
            "Detect the UI element for this instruction: close this window\n"
            "Reply with only the bounding box as xmin, ymin, xmax, ymax, using integers from 0 to 1000."
        ),
        64,
    ),
    "pyautogui": (
        None,
        (
            "Please complete the following tasks by clicking using `pyautogui.click`:\nclose this window\n"
            "Please answer directly with only the final answer, do not give any explanation."
        ),
        1024,
    ),
    "liquid": (None, LIQUID.format(""), 256),
    "liquid_reason": (
        None,
        LIQUID.format(
            "Reason silently about the target's visual appearance and distinguish it from similar nearby controls. "
            "Do not output the reasoning. "
        ),
        256,
    ),
}


def test_default_protocol() -> None:
    assert [protocol.name for protocol in TRACKS["screenspot"].protocols] == list(TEXTS)


@pytest.mark.parametrize("name", TEXTS)
def test_protocol_asks_to_the_letter(name: str) -> None:
    protocol = TRACKS["screenspot"].protocol(name)
    messages = protocol.render(sample())
    texts = [part.text for message in messages for part in message.parts if isinstance(part, Text)]
    system, user, budget = TEXTS[name]
    assert texts == ([user] if system is None else [system, user])
    assert protocol.max_tokens == budget


@pytest.mark.parametrize(
    ("protocol", "output", "score"),
    [
        ("bbox", "900, 100, 950, 200", 1.0),
        ("bbox", "[0.9, 0.1, 0.95, 0.2]", 1.0),
        ("pyautogui", "pyautogui.click(x=0.92, y=0.15)", 1.0),
        ("pyautogui", "pyautogui.click(x=1780, y=160)", 1.0),
        ("pyautogui", "pyautogui.click(x=920, y=150)", 0.0),
        ("pyautogui", "Yes", 0.0),
        ("grounding_json", '[{"image_id": 0, "bbox_2d": [1728, 108, 1824, 216], "label": "x"}]', 0.0),
    ],
)
def test_frame_is_the_protocols(protocol: str, output: str, score: float) -> None:
    assert answered(sample(), TRACKS["screenspot"].protocol(protocol), output).score == score


def test_failed_parse_does_not_hit_a_gold_at_the_origin() -> None:
    record = answered(sample(bbox=[0.0, 0.0, 0.1, 0.1]), TRACKS["screenspot"].protocol("pyautogui"), "Yes")
    assert (record.score, record.answer) == (0.0, None)


def records(*cells: tuple[str, str, float]) -> list[Record]:
    return [
        Record(
            sample_id=str(number),
            track="screenspot",
            status="ok",
            score=score,
            groups={"platform": platform, "element": element, "cell": f"{platform}/{element}"},
        )
        for number, (platform, element, score) in enumerate(cells)
    ]


def test_macro_is_absent_unless_all_three_platforms_are_there() -> None:
    found = metrics(records(("web", "icon", 1.0), ("mobile", "text", 0.0)))
    assert (found["macro"].value, found["macro"].flags) == (None, ("missing:desktop",))
    assert found["micro"].value == 0.5
    assert next(iter(found)) == "macro"
    assert found["macro"].primary


def test_macro_weighs_platforms_and_six_cells_weigh_cells() -> None:
    found = metrics(
        records(
            *(("web", "text", 1.0), ("web", "text", 1.0), ("web", "text", 1.0), ("web", "icon", 0.0)),
            *(("mobile", "text", 1.0), ("mobile", "icon", 1.0), ("desktop", "text", 0.0), ("desktop", "icon", 0.0)),
        )
    )
    assert found["macro"].value == pytest.approx((0.75 + 1 + 0) / 3)
    assert found["six_cell_macro"].value == pytest.approx(3 / 6)
    assert found["micro"].value == pytest.approx(5 / 8)
