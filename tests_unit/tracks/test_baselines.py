"""Golds score 1 and silence 0 on every real item, and constant outputs score what the reference system counted."""

import functools
from collections.abc import Callable

import msgspec
import pytest

from bakeoff.families import FAMILIES
from bakeoff.records import BoxTarget, OptionTarget, Sample, TextTarget
from bakeoff.tracks import TRACKS, custom
from bakeoff.tracks.baselines import answered, constant_metrics, oracle_output
from bakeoff.tracks.cases import read_cases
from bakeoff.tracks.census import differences
from bakeoff.tracks.track import Protocol
from tests_unit.tracks.reference import FOLDER, NAMES, images, items, needs_reference, row

pytestmark = needs_reference
CUSTOM = TRACKS["custom"].protocol(None)


@functools.cache
def samples(name: str) -> tuple[Sample, ...]:
    source = TRACKS[name].source
    assert source is not None
    built = [source.build(row(name, item), images(item)) for item in items(name)]
    return tuple(sample for sample in built if sample is not None)


@functools.cache
def cases(category: str) -> tuple[Sample, ...]:
    return tuple(custom.sample_of(case, ()) for case in read_cases(FOLDER) if case.category == category)


def protocols(name: str) -> list[Protocol]:
    track = TRACKS[name]
    natives = [track.native(family) for family in FAMILIES.values()] if track.native else []
    return [*track.protocols, *natives]


@pytest.mark.parametrize(
    ("name", "protocol"),
    [(name, protocol) for name in NAMES for protocol in protocols(name)],
    ids=lambda value: value.name if isinstance(value, Protocol) else value,
)
def test_gold_scores_one_and_silence_nothing(name: str, protocol: Protocol) -> None:
    for sample in samples(name):
        assert answered(sample, protocol, oracle_output(sample, protocol)).score == 1.0, sample.id
        silence = answered(sample, protocol, "")
        assert (silence.score, silence.answer) == (0.0, None), sample.id


LOOK_LIKE_OTHER_LABELS = {"mathvista_mini_168", "mathvista_mini_849", "mmmu_val_Music_14", "mmmu_val_Electronics_12"}


@pytest.mark.parametrize("name", ["blink", "mathvista", "mmmu"])
def test_text_of_the_gold_option_scores_one(name: str) -> None:
    for sample in samples(name):
        if isinstance(sample.target, OptionTarget) and sample.id not in LOOK_LIKE_OTHER_LABELS:
            text = sample.target.options["ABCDEFGHI".index(sample.target.letter)]
            assert answered(sample, TRACKS[name].protocol(None), text).score == 1.0, sample.id


@pytest.mark.parametrize("name", NAMES)
def test_custom_gold_scores_one_and_silence_nothing(name: str) -> None:
    assert len(cases(name)) == len(items(name))
    for sample in cases(name):
        assert answered(sample, CUSTOM, oracle_output(sample, CUSTOM)).score == 1.0, sample.id
        assert answered(sample, CUSTOM, "").score == 0.0, sample.id


@pytest.mark.parametrize(
    ("name", "output", "right"),
    [
        ("screenspot", "[0, 0, 1000, 1000]", 31),
        ("refcoco", "[0, 0, 1000, 1000]", 181),
        *(("blink", f"({letter})", right) for letter, right in zip("ABCD", (705, 707, 274, 215), strict=True)),
        ("blink", "I cannot determine a difference", 0),  # 705 there: read as A
        *(("mmmu", letter, right) for letter, right in zip("ABCD", (241, 230, 199, 149), strict=True)),
        # 64 there for D: one item has the gold's text under two letters.
        *(("mathvista", letter, right) for letter, right in zip("ABCD", (179, 179, 103, 65), strict=True)),
        ("mathvista", "It is a triangle", 0),  # 179 there: read as A
        *(("mathvista", text, right) for text, right in {"Yes": 87, "No": 90, "2": 56, "1": 33, "0": 26}.items()),
    ],
)
def test_constant_outputs_score_as_counted(name: str, output: str, right: int) -> None:
    assert sum(answered(sample, CUSTOM, output).score or 0.0 for sample in cases(name)) == right


@pytest.mark.parametrize(
    ("name", "output", "percent"),
    [
        ("docvqa", lambda gold: f"{gold}.", 86.9508),  # 86.9494 there: divides by cleaned lengths
        ("docvqa", lambda gold: f"The answer is {gold}", 23.2275),  # 23.2265 there
        ("docvqa", lambda _: "yes", 0.475),
        ("infographicvqa", lambda gold: f"The answer is {gold}", 10.2433),
        ("infographicvqa", lambda _: "2", 4.2),
    ],
)
def test_anls_of_marred_golds(name: str, output: Callable[[str], str], percent: float) -> None:
    protocol, scores = TRACKS[name].protocol(None), []
    for sample in samples(name):
        assert isinstance(sample.target, TextTarget)
        scores.append(answered(sample, protocol, output(sample.target.answers[0])).score or 0.0)
    assert 100 * sum(scores) / len(scores) == pytest.approx(percent, abs=5e-5)


def test_whole_image_as_the_reference_system_reports_it() -> None:
    screenspot = constant_metrics(TRACKS["screenspot"], TRACKS["screenspot"].protocol(None), samples("screenspot"))
    found = screenspot["[0, 0, 1000, 1000]"]
    assert 100 * (found["macro"].value or 0.0) == pytest.approx(2.3912, abs=5e-5)
    assert found["whole_image_boxes"].value == 1.0
    refcoco = constant_metrics(TRACKS["refcoco"], TRACKS["refcoco"].protocol(None), samples("refcoco"))
    found = refcoco["[0, 0, 1000, 1000]"]
    assert 100 * (found["acc@0.5"].value or 0.0) == pytest.approx(3.5156, abs=5e-5)
    assert 100 * (found["center"].value or 0.0) == pytest.approx(35.3516, abs=5e-5)


def test_official_mathvista_pays_for_silence_and_says_so() -> None:
    track = TRACKS["mathvista"]
    found = track.metrics([answered(sample, track.protocol(None), "") for sample in samples("mathvista")])
    shares = {name: metric.value for name, metric in found.items()}
    assert shares == {"accuracy": 0.0, "official_no_llm": 0.168, "floor": 0.168}


def test_official_mmmu_draws_are_worth_a_quarter() -> None:
    track = TRACKS["mmmu"]
    found = track.metrics([answered(sample, track.protocol(None), "?") for sample in samples("mmmu")])
    assert found["accuracy"].value == 0.0
    assert found["official_guessed"].value == 1.0
    assert 847 * (found["official_expected"].value or 0.0) == pytest.approx(222.3, abs=0.05)
    assert found["open"].value is None


@pytest.mark.parametrize("name", NAMES)
def test_real_items_are_counted_as_declared(name: str) -> None:
    assert differences(TRACKS[name], samples(name)) == ()


def test_count_that_differs_is_told() -> None:
    changed = [
        *samples("screenspot")[1:],
        msgspec.structs.replace(samples("screenspot")[0], groups={"platform": "tv"}),
    ]
    assert differences(TRACKS["screenspot"], changed) == (
        "screenspot: platform desktop has 333 samples, expected 334",
        "screenspot: platform tv has 1 sample, expected 0",
        "screenspot: element icon has 553 samples, expected 554",
        "screenspot: cell desktop/icon has 139 samples, expected 140",
    )


def test_old_labels_are_told_whatever_the_size() -> None:
    old = [sample for sample in samples("blink") if "labels" in sample.groups][:3]
    relabelled = [msgspec.structs.replace(sample, groups={**sample.groups, "labels": "2024"}) for sample in old]
    assert differences(TRACKS["blink"], relabelled) == ("blink: labels 2024 has 3 samples, expected 0",)


def test_inventory() -> None:
    platforms = [sample.groups["cell"] for sample in samples("screenspot")]
    counted = {cell: platforms.count(cell) for cell in sorted(set(platforms))}
    assert counted == {
        "desktop/icon": 140,
        "desktop/text": 194,
        "mobile/icon": 211,
        "mobile/text": 290,
        "web/icon": 203,
        "web/text": 234,
    }
    versions = [sample.groups["labels"] for sample in samples("blink") if "labels" in sample.groups]
    assert versions == ["2025-09"] * 134
    corrected = {sample.id: sample.groups["labels"] for sample in samples("mmmu") if "labels" in sample.groups}
    assert corrected == {"mmmu_val_Art_Theory_3": "2026-07", "mmmu_val_Design_14": "2026-07"}
    boxes = [sample.target.box for sample in samples("screenspot") if isinstance(sample.target, BoxTarget)]
    assert sum(x1 <= 0.5 <= x2 and y1 <= 0.5 <= y2 for x1, y1, x2, y2 in boxes) == 31
