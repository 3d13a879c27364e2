"""Families of vision-language models: how each writes places in an image, thinks aloud, and must be run.

A fact stands here with its source, or not at all. Nothing is guessed from an output: the frame of a family is
declared, and a model of no known family gets `DEFAULT`, whose frame is assumed and reported as such. `file:` sources
name the copy that `transformers` 5.24 and `mlx-vlm` 0.7.10 install.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from bakeoff.geometry import Frame

Form = Literal["json", "yxyx", "loc", "box_tag"]
"""How a box is written: readable as it is; with y before x; in `<loc0000>` tokens; as numbers in `<box>` tags."""


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Something a family needs that is not in its weights, and where that is written."""

    what: str
    source: str


class Resize(msgspec.Struct, frozen=True, kw_only=True):
    """The resizing before a vision encoder whose pixels are the model's coordinates.

    Sides become multiples of `factor`, and the area stays between `least` and `most` pixels.
    """

    factor: int
    least: int
    most: int

    def apply(self, size: tuple[int, int]) -> tuple[int, int]:
        """Return width and height after resizing an image of `size`."""
        width, height = size
        new = [max(round(side / self.factor), 1) * self.factor for side in size]
        if new[0] * new[1] > self.most:
            scale = math.sqrt(width * height / self.most)
            new = [max(self.factor, math.floor(side / scale / self.factor) * self.factor) for side in size]
        elif new[0] * new[1] < self.least:
            scale = math.sqrt(self.least / (width * height))
            new = [math.ceil(side * scale / self.factor) * self.factor for side in size]
        return new[0], new[1]


class Flag(Fact, frozen=True, kw_only=True):
    """What a backend advises to be started with for images of a family; `what` is what for."""

    backend: str
    words: tuple[str, ...]


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """One family. `{}` in `region` and `element` is the expression or instruction.

    `patterns` are matched in the name of a model, in lower case, `model_types` against `config.json`; `frame` is what
    coordinates are written in, of the image after `resize` where that is set; `thinking` are the marks around a
    thought; `is_assumed` says that no source gives the frame, so that a report must say so too; `flags` are for the
    number of tokens of an image. They are advised and never set: an arm without them sees what the others see.
    """

    name: str
    patterns: tuple[str, ...] = ()
    model_types: tuple[str, ...] = ()
    frame: Frame = "norm1000"
    form: Form = "json"
    resize: Resize | None = None
    region: str | None = None
    element: str | None = None
    thinking: tuple[tuple[str, str], ...] = ()
    is_assumed: bool = False
    flags: tuple[Flag, ...] = ()
    facts: tuple[Fact, ...] = ()


_LIQUID: Final = (
    "Detect all instances of: {}. Response must be a JSON array: "
    '[{{"label": ..., "bbox": [x1, y1, x2, y2]}}, ...]. Coordinates are normalized to [0,1].'
)
_QWEN: Final = "Locate {}, output its bbox coordinates using JSON format."
_REF: Final = "Please provide the bounding box coordinate of the region this sentence describes: <ref>{}</ref>"
_THINK: Final = ("<think>", "</think>")
_LLAMA_FOR_QWEN: Final = Flag(
    backend="gguf",
    words=("--image-min-tokens", "1024"),
    what="boxes on small images are off without it",
    source="ggml-org/llama.cpp#16842",
)

FAMILIES: Final[dict[str, Family]] = {
    "lfm2-vl": Family(
        name="lfm2-vl",
        patterns=("lfm2-vl", "lfm2.5-vl", "lfm2_vl"),
        model_types=("lfm2_vl", "lfm2-vl"),
        frame="norm1",
        region=_LIQUID,
        element=_LIQUID,
        facts=(
            Fact(
                what="the 450M is asked for boxes from 0 to 1; the 3B writes 0 to 1000 when asked for that "
                "(protocol grounding_json)",
                source="card of LiquidAI/LFM2.5-VL-450M; ivanfioravanti/vlm-bakeoff@ca9d951",
            ),
            Fact(
                what="large images are split into up to 10 tiles of 512 x 512 and a thumbnail; a runtime that does not "
                "split sees another image",
                source="card of LiquidAI/LFM2.5-VL-450M; file: transformers/models/lfm2_vl",
            ),
        ),
    ),
    "qwen2.5-vl": Family(
        name="qwen2.5-vl",
        patterns=("qwen2.5-vl", "qwen2_5_vl", "qwen2.5vl"),
        model_types=("qwen2_5_vl",),
        frame="pixel",
        flags=(_LLAMA_FOR_QWEN,),
        resize=Resize(factor=28, least=56 * 56, most=28 * 28 * 16384),
        region=_QWEN,
        element=_QWEN,
        facts=(
            Fact(
                what="boxes are pixels of the image after resizing, not of the file",
                source="QwenLM/Qwen3-VL#931; cookbook spatial_understanding.ipynb of Qwen2.5-VL",
            ),
            Fact(
                what="sides are multiples of 28 and the area is at most 28 x 28 x 16384: what preprocessor_config.json "
                "of the published checkpoints says, and not the 1280 that code falls back to without it",
                source="Blaizzy/mlx-vlm#1175; file: transformers/models/qwen2_vl/image_processing_qwen2_vl.py, "
                "smart_resize",
            ),
            Fact(
                what="llama.cpp takes at most 4096 tokens an image, so that its frame is another above 3.2 megapixels; "
                "with --image-min-tokens 1024 it is another below 0.8",
                source="ggml-org/llama.cpp#17020, #16842",
            ),
        ),
    ),
    "qwen3-vl": Family(
        name="qwen3-vl",
        patterns=("qwen3-vl", "qwen3_vl", "qwen3vl", "qwen3.5", "qwen3_5"),
        model_types=("qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe"),
        flags=(_LLAMA_FOR_QWEN,),
        region=_QWEN,
        element=_QWEN,
        thinking=(_THINK,),
        facts=(
            Fact(
                what="boxes are 0 to 1000 of the image, whatever its size: not what Qwen2.5-VL does",
                source="QwenLM/Qwen3-VL, cookbooks/spatial_understanding.ipynb",
            ),
            Fact(what="the Thinking checkpoints think in <think> tags", source="card of Qwen/Qwen3-VL-8B-Thinking"),
        ),
    ),
    "internvl": Family(
        name="internvl",
        patterns=("internvl",),
        model_types=("internvl", "internvl_chat"),
        region=_REF,
        element=_REF,
        thinking=(_THINK,),
        facts=(
            Fact(
                what="boxes are 0 to 1000, written <ref>...</ref><box>[[x1, y1, x2, y2]]</box>",
                source="OpenGVLab/InternVL#227; internvl.readthedocs.io, chat data format, grounding",
            ),
            Fact(
                what="InternVL3.5 thinks in <think> tags when its system prompt asks for it",
                source="card of OpenGVLab/InternVL3_5-8B",
            ),
        ),
    ),
    "gemma": Family(
        name="gemma",
        patterns=("gemma-3", "gemma-4", "gemma3", "gemma4"),
        model_types=("gemma3", "gemma3n", "gemma4", "gemma4_unified"),
        form="yxyx",
        region='Detect {}. Output a JSON list where each entry contains the 2D bounding box in "box_2d".',
        element='Detect {}. Output a JSON list where each entry contains the 2D bounding box in "box_2d".',
        thinking=(("<|channel>thought", "<channel|>"),),
        is_assumed=True,
        facts=(
            Fact(
                what="box_2d is [y1, x1, y2, x2] from 0 to 1000 as in Gemini; for Gemma 3 Google only says likely",
                source="google/gemma-3-4b-it discussion 38; cloud.google.com, bounding box detection",
            ),
            Fact(
                what="Gemma 4 resizes an image to a token budget of 70 to 1120, which is a setting of the run",
                source="ai.google.dev/gemma/docs/capabilities/vision",
            ),
            Fact(
                what="Gemma 4 thinks in a thought channel, which scorers cut off",
                source="chat template of google/gemma-4-E2B-it",
            ),
        ),
    ),
    "paligemma": Family(
        name="paligemma",
        patterns=("paligemma",),
        model_types=("paligemma",),
        frame="norm1",
        form="loc",
        region="detect {}",
        element="detect {}",
        facts=(
            Fact(
                what="a box is four tokens <loc0000> to <loc1023>, y1 x1 y2 x2, in 1024 steps",
                source="file: transformers/models/paligemma/processing_paligemma.py; big_vision, paligemma README",
            ),
            Fact(what="prompts are task words, not chat", source="big_vision, paligemma README"),
        ),
    ),
    "smolvlm": Family(
        name="smolvlm",
        patterns=("smolvlm",),
        model_types=("smolvlm", "idefics3"),
        is_assumed=True,
        facts=(Fact(what="no grounding format is documented", source="card of HuggingFaceTB/SmolVLM2-2.2B-Instruct"),),
    ),
    "minicpm-v": Family(
        name="minicpm-v",
        patterns=("minicpm-v", "minicpm-o", "minicpmv", "minicpm_v"),
        model_types=("minicpmv", "minicpmo", "minicpmv4_6", "minicpmv4_7"),
        form="box_tag",
        region=_REF,
        element=_REF,
        thinking=(_THINK,),
        facts=(
            Fact(
                what="boxes are 0 to 1000, written <box>x1 y1 x2 y2</box>",
                source="OpenBMB/MiniCPM-V#982 for 4.5; by #62 and #629 older ones need fine-tuning",
            ),
        ),
    ),
}

DEFAULT: Final = Family(
    name="default",
    is_assumed=True,
    facts=(Fact(what="nothing is known of this model: it runs the track's default protocol", source="-"),),
)


def family_of(model: str | Mapping[str, Any]) -> Family:
    """Return the family of a model by its name, or by its `config.json`; `DEFAULT` when none fits.

    The longest pattern wins, so that PaliGemma is not Gemma.
    """
    if not isinstance(model, str):
        kind = str(model.get("model_type", "")).lower()
        return next((family for family in FAMILIES.values() if kind in family.model_types), DEFAULT)
    name = model.lower()
    found = [(len(p), family.name) for family in FAMILIES.values() for p in family.patterns if p in name]
    return FAMILIES[max(found)[1]] if found else DEFAULT


def missing_flags(family: Family, backend: str, given: Sequence[str]) -> tuple[Flag, ...]:
    """Return the flags of `family` for `backend` that are not among the `given` arguments, with whatever value."""
    names = {word.partition("=")[0] for word in given}
    return tuple(flag for flag in family.flags if flag.backend == backend and flag.words[0] not in names)
