"""The probe set: prompts that show how a runtime reads text and images, drawn anew wherever they are asked.

Sizes are chosen for what runtimes do differently: nothing to resize, less than a patch, odd ratios, larger than the
encoder's input, two tiles, three far larger ones. Fine print is what no two ways of resampling leave alike. A prompt is
short, and nobody asks whether its answer is right.
"""

from pathlib import Path
from typing import Final

import msgspec

from bakeoff.records import Image, ImagePart, Message, Prompt, Sampling, Text
from bakeoff.validity.pictures import draw_picture

TOKENS: Final = 8
"""Budget of a probe; only the first tokens are compared."""

CANDIDATES: Final = 5
"""Likeliest tokens asked for at every step."""

QUESTION: Final = "What is in the picture? Answer in one sentence."
READ: Final = "Read the text after the {} square."
SYSTEM: Final = "You look closely and answer briefly."
LONG: Final = " ".join(
    f"Line {number}: the {colour} box is {where} the {other} one."
    for number, (colour, where, other) in enumerate(
        [
            *(("red", "above", "blue"), ("green", "left of", "red"), ("black", "below", "white")),
            *(("white", "inside", "blue"), ("blue", "behind", "grey"), ("grey", "right of", "green")),
        ]
        * 4,
        start=1,
    )
)
EVEN_TILES: Final = "tiled"
ODD_TILES: Final = "tiled, odd ratio"
"""Tiles do not have the picture's proportions: one runtime stretches it to fill them, another pads."""
_FITTED: Final = ("print-c", 1120, 545)
_EVEN: Final = ("print-e", 1100, 550)
_HUGE: Final = ("print-d", 3000, 1040)


class ProbePrompt(msgspec.Struct, frozen=True, kw_only=True):
    """One probe. `size` is the class of its images; pictures are `(name, width, height)`."""

    id: str
    size: str
    text: str
    pictures: tuple[tuple[str, int, int], ...] = ()
    system: str | None = None
    max_tokens: int = TOKENS
    is_heavy: bool = False


PROBES: Final = (
    ProbePrompt(id="text", size="no image", text="Name three colours."),
    ProbePrompt(id="text-system", size="no image", text="Name three colours.", system=SYSTEM),
    ProbePrompt(id="text-long", size="no image", text=f"{LONG} Which box is above the blue one?"),
    ProbePrompt(id="text-picture", size="no image", text=QUESTION),
    ProbePrompt(id="one-token", size="no image", text="Count from one to ten.", max_tokens=1),
    ProbePrompt(id="square", size="untiled", text=QUESTION, pictures=(("a", 256, 256),)),
    ProbePrompt(id="square-other", size="untiled", text=QUESTION, pictures=(("b", 256, 256),)),
    ProbePrompt(id="square-system", size="untiled", text=QUESTION, pictures=(("a", 256, 256),), system=SYSTEM),
    ProbePrompt(id="small", size="small", text=QUESTION, pictures=(("c", 24, 24),)),
    ProbePrompt(id="wide", size="odd ratio", text=QUESTION, pictures=(("d", 644, 92),)),
    ProbePrompt(id="tall", size="odd ratio", text=QUESTION, pictures=(("e", 90, 610),)),
    ProbePrompt(id="print", size="untiled", text=READ.format("red"), pictures=(("print-a", 256, 256),)),
    ProbePrompt(id="print-blue", size="untiled", text=READ.format("blue"), pictures=(("print-a", 256, 256),)),
    ProbePrompt(id="large", size="shrunk", text=READ.format("red"), pictures=(("print-b", 720, 540),)),
    ProbePrompt(
        id="two-images", size="untiled", text="Which picture is brighter?", pictures=(("a", 256, 256), ("b", 256, 256))
    ),
    ProbePrompt(
        id="four-images",
        size="untiled",
        text="How do these pictures differ?",
        pictures=(("a", 256, 256), ("g", 128, 192), ("b", 256, 256), ("c", 24, 24)),
    ),
    ProbePrompt(id="tiles", size=ODD_TILES, text=READ.format("red"), pictures=(_FITTED,)),
    ProbePrompt(id="tiles-green", size=ODD_TILES, text=READ.format("green"), pictures=(_FITTED,)),
    ProbePrompt(id="tiles-blue", size=ODD_TILES, text=READ.format("blue"), pictures=(_FITTED,)),
    ProbePrompt(id="even-tiles", size=EVEN_TILES, text=READ.format("red"), pictures=(_EVEN,), is_heavy=True),
    ProbePrompt(id="even-tiles-blue", size=EVEN_TILES, text=READ.format("blue"), pictures=(_EVEN,), is_heavy=True),
    ProbePrompt(id="huge", size="huge", text=READ.format("red"), pictures=(_HUGE,), is_heavy=True),
    ProbePrompt(id="huge-blue", size="huge", text=READ.format("blue"), pictures=(_HUGE,), is_heavy=True),
)
"""All probes. Heavy ones are for `bakeoff doctor` and `--parity strict`."""


def probe_prompts(folder: Path, *, heavy: bool, images: bool = True) -> dict[str, Prompt]:
    """Draw the pictures into `folder` and return the prompts by probe id; without `images` those that have none."""
    wanted = [p for p in PROBES if (heavy or not p.is_heavy) and (images or not p.pictures)]
    drawn: dict[tuple[str, int, int], Image] = {}
    for key in dict.fromkeys(picture for probe in wanted for picture in probe.pictures):
        drawn[key] = draw_picture(folder, *key)
    return {probe.id: _prompt(probe, tuple(drawn[key] for key in probe.pictures)) for probe in wanted}


def size_of(probe_id: str) -> str:
    """Return the size class of a probe."""
    return next((probe.size for probe in PROBES if probe.id == probe_id), "other")


def _prompt(probe: ProbePrompt, images: tuple[Image, ...]) -> Prompt:
    parts: tuple[ImagePart | Text, ...] = (*(ImagePart(image=image) for image in images), Text(text=probe.text))
    system = (Message(role="system", parts=(Text(text=probe.system),)),) if probe.system else ()
    return Prompt(
        sample_id=f"probe-{probe.id}",
        messages=(*system, Message(role="user", parts=parts)),
        max_tokens=probe.max_tokens,
        seed=0,
        sampling=Sampling(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0),
        top_logprobs=CANDIDATES,
    )
