"""Protocol `native`: each family's prompt, form and frame, and nothing guessed from an output."""

import pytest

from bakeoff.families import DEFAULT, FAMILIES, Resize, family_of
from bakeoff.records import BoxTarget, Image, Sample, Text
from bakeoff.tracks import TRACKS
from bakeoff.tracks.baselines import answered

IMAGE = Image(path="a.png", sha256="a" * 64, width=1000, height=700)
SAMPLE = Sample(
    id="a",
    track="refcoco",
    question="the {red} car",
    target=BoxTarget(box=(0.1, 0.2, 0.3, 0.6), image_size=(1000, 700)),
    images=(IMAGE,),
)


@pytest.mark.parametrize(
    ("family", "output", "score"),
    [
        ("lfm2-vl", '[{"label": "car", "bbox": [0.1, 0.2, 0.3, 0.6]}]', 1.0),
        ("lfm2-vl", "[100, 200, 300, 600]", 0.0),
        ("qwen2.5-vl", '```json\n[{"bbox_2d": [101, 140, 302, 420], "label": "car"}]\n```', 1.0),
        ("qwen2.5-vl", "[100, 200, 300, 600]", 0.0),
        ("qwen3-vl", '[{"bbox_2d": [100, 200, 300, 600], "label": "car"}]', 1.0),
        ("qwen3-vl", "<think>[1, 1, 2, 2]</think>[100, 200, 300, 600]", 1.0),
        ("internvl", "<ref>car</ref><box>[[100, 200, 300, 600]]</box>", 1.0),
        ("gemma", '[{"box_2d": [200, 100, 600, 300], "label": "car"}]', 1.0),
        ("gemma", '[{"box_2d": [100, 200, 300, 600], "label": "car"}]', 0.0),
        ("paligemma", "<loc0205><loc0102><loc0614><loc0307> car", 1.0),
        ("paligemma", "[0.1, 0.2, 0.3, 0.6]", 0.0),
        ("minicpm-v", "<ref>car</ref><box>100 200 300 600</box>", 1.0),
        ("minicpm-v", "<box>100 200 300</box>", 0.0),
    ],
)
def test_family_is_read_in_its_own_form_and_frame(family: str, output: str, score: float) -> None:
    protocol = TRACKS["refcoco"].protocol(f"native-{family}")
    assert answered(SAMPLE, protocol, output).score == score


@pytest.mark.parametrize("family", [name for name, family in FAMILIES.items() if family.region])
def test_family_is_asked_in_its_own_words(family: str) -> None:
    (message,) = TRACKS["refcoco"].protocol(f"native-{family}").render(SAMPLE)
    said = message.parts[-1]
    assert isinstance(said, Text)
    assert "the {red} car" in said.text
    assert "{}" not in said.text
    assert "{{" not in said.text


def test_family_without_a_format_runs_the_default_protocol_under_its_name() -> None:
    track = TRACKS["refcoco"]
    assert track.native is not None
    for family in (DEFAULT, FAMILIES["smolvlm"]):
        protocol = track.native(family)
        assert protocol.name == f"native-{family.name}"
        assert protocol.render(SAMPLE) == track.protocol(None).render(SAMPLE)
        assert family.is_assumed


def test_rule_of_a_family_is_one_object() -> None:
    protocol = TRACKS["screenspot"].protocol("native-qwen2.5-vl")
    again = TRACKS["screenspot"].protocol("native-qwen2.5-vl")
    assert protocol.scorer(SAMPLE) is again.scorer(SAMPLE)
    assert protocol.scorer(SAMPLE).name == "click_in_box@qwen2.5-vl"


def test_unknown_family_is_no_protocol() -> None:
    with pytest.raises(KeyError):
        TRACKS["refcoco"].protocol("native-gpt")


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("LiquidAI/LFM2.5-VL-3B-MLX-8bit", "lfm2-vl"),
        ("LiquidAI/LFM2-VL-450M", "lfm2-vl"),
        ("mlx-community/Qwen2.5-VL-7B-Instruct-4bit", "qwen2.5-vl"),
        ("Qwen/Qwen3-VL-8B-Instruct", "qwen3-vl"),
        ("OpenGVLab/InternVL3_5-8B", "internvl"),
        ("google/gemma-3-4b-it", "gemma"),
        ("google/paligemma2-3b-mix-448", "paligemma"),
        ("HuggingFaceTB/SmolVLM2-2.2B-Instruct", "smolvlm"),
        ("openbmb/MiniCPM-V-4_5", "minicpm-v"),
        ("someone/llava-1.5-7b", "default"),
    ],
)
def test_family_by_name(name: str, family: str) -> None:
    assert family_of(name).name == family


@pytest.mark.parametrize(
    ("config", "family"),
    [({"model_type": "lfm2_vl"}, "lfm2-vl"), ({"model_type": "qwen2_5_vl"}, "qwen2.5-vl"), ({}, "default")],
)
def test_family_by_config(config: dict[str, str], family: str) -> None:
    assert family_of(config).name == family


def test_every_fact_has_a_source() -> None:
    for family in FAMILIES.values():
        assert family.facts
        assert all(fact.source.strip("-") for fact in family.facts)


@pytest.mark.parametrize(
    ("size", "resized"), [((1000, 700), (1008, 700)), ((1920, 1080), (1932, 1092)), ((6000, 4000), (4368, 2912))]
)
def test_frame_of_qwen_is_the_image_as_its_checkpoints_have_it_resized(
    size: tuple[int, int], resized: tuple[int, int]
) -> None:
    resize = FAMILIES["qwen2.5-vl"].resize
    assert resize is not None
    assert resize.apply(size) == resized


@pytest.mark.parametrize(
    ("size", "resized"),
    [((1000, 700), (1008, 700)), ((1920, 1080), (1316, 728)), ((40, 40), (56, 56)), ((10, 400), (28, 392))],
)
def test_resizing_is_that_of_qwen(size: tuple[int, int], resized: tuple[int, int]) -> None:
    assert Resize(factor=28, least=56 * 56, most=28 * 28 * 1280).apply(size) == resized


def test_every_protocol_that_asks_for_places_declares_the_frame_its_scorer_reads() -> None:
    for name in ("screenspot", "refcoco"):
        track = TRACKS[name]
        assert track.native is not None
        protocols = [*track.protocols, *(track.native(family) for family in FAMILIES.values())]
        for protocol in protocols:
            own = protocol.scorer(SAMPLE)
            assert protocol.frame is not None
            read_in = own.name.partition("@")[2].removesuffix("_or_fraction") or "norm1000"
            assert protocol.frame == (FAMILIES[read_in].frame if read_in in FAMILIES else read_in)
