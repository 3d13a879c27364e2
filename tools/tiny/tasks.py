"""The five families: from a random scene to questions with answers and training hints.

A question knows its target (what the scorers compare with), the text a perfect model answers, and
`Focus` hints: where a model that answers it would look. Hints are used in training only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tools.tiny.scenes import Item, Scene
from tools.tiny.vocabulary import BINS, LETTERS, PLURALS, coordinate

if TYPE_CHECKING:
    import random

    from tools.tiny.drawing import Rect

SYSTEM_LOCATE: Final = "Locate the named object. Reply in JSON."
SYSTEM_COUNT: Final = "Count the named objects. Reply with a number."
LETTER_RULE: Final = "Answer with the letter."

GROUNDING: Final = (
    "Find the {name}. Answer with JSON.",
    "Where is the {name}? Answer with JSON.",
    "Give the box of the {name} as JSON.",
)
GROUNDING_HELD_OUT: Final = ("Find the box of the {name}. Answer in JSON.", "Locate the {name} in JSON.")
READING: Final = (
    "Read the code after the {color} square.",
    "What is the code after the {color} square?",
    "Which text is after the {color} square?",
)
READING_HELD_OUT: Final = ("Read the text after the {color} square.", "Give the code after the {color} square.")
COLOR_OF: Final = ("What color is the {shape}?", "Name the color of the {shape}.")
COLOR_OF_HELD_OUT: Final = ("Which color is the {shape}?",)
SHAPE_OF: Final = ("Which shape is {color}?", "Name the shape of the {color} object.")
SHAPE_OF_HELD_OUT: Final = ("What shape is the {color} object?",)
WHICH_IMAGE: Final = ("Which image has a {name}?", "Where is the {name}?")
WHICH_IMAGE_HELD_OUT: Final = ("Which of the images has the {name}?",)
COUNT: Final = ("How many {what} are there?", "Count the {what}.")
COUNT_HELD_OUT: Final = ("How many {what} are in the image?",)
SUM: Final = ("What is the sum of the two digits?", "Add the two digits.")
SUM_HELD_OUT: Final = ("Give the sum of the two digits.",)


@dataclass(frozen=True, slots=True)
class Focus:
    """Where to look while writing characters ``start``..``end`` of the answer.

    ``words``: pieces of the question; ``things``: (image, rect) regions; ``also``: regions for a
    second head, if it is to look elsewhere; ``final``: regions or a piece of the question (the
    right option) that holds what is written next; ``value``: the text that an inner layer should
    know; ``counted``: look at one token per thing and at the first token of the prompt alike, so
    that the share of the latter tells the number.
    """

    start: int
    end: int
    words: tuple[str, ...] = ()
    things: tuple[tuple[int, Rect], ...] = ()
    final: tuple[tuple[int, Rect], ...] | str = ()
    value: str | None = None
    also: tuple[tuple[int, Rect], ...] = ()
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """One question on one or two scenes."""

    family: str
    text: str
    answer: str
    target: dict[str, object]
    system: str | None = None
    options: tuple[str, ...] = ()
    focus: tuple[Focus, ...] = field(default=())


def ground(item: Item, wording: str, system: str | None = None) -> Question:
    """Ask for the box of an item."""
    edges = [coordinate(round(edge * BINS)) for edge in item.rect]
    answer = f'[{{"bbox_2d": [{", ".join(map(str, edges))}], "label": "{item.name}"}}]'
    seen = ((0, item.rect),)
    words = (item.color, item.shape or "")
    end = answer.index("]")
    focus = (Focus(0, end, words, seen, seen), Focus(end, len(answer), words, seen))
    target: dict[str, object] = {"kind": "box", "box": list(item.rect)}
    return Question("grounding", wording.format(name=item.name), answer, target, system, focus=focus)


def deny(family: str, name: str, wording: str, system: str | None = None) -> Question:
    """Ask for something that is not there. Training only: it has no box and no text."""
    color, shape = name.split()
    answer = f"There is no {name}."
    text = wording.format(name=name, color=color, shape=shape)
    words = (color, shape) if shape in text else (color,)
    return Question(family, text, answer, {}, system, focus=(Focus(0, len(answer), words),))


def read(line: list[Item], wording: str) -> Question:
    """Ask for the code after a marker; ``line`` is the marker, then the glyphs."""
    marker, *glyphs = line
    code = "".join(glyph.char or "" for glyph in glyphs)
    seen = ((0, marker.rect),)
    focus = tuple(
        Focus(index, index + 1, (marker.color,), seen, ((0, glyph.rect),)) for index, glyph in enumerate(glyphs)
    )
    target: dict[str, object] = {"kind": "text", "answers": [code]}
    return Question("reading", wording.format(color=marker.color), code, target, focus=focus)


def choose(
    rng: random.Random,
    ask: str,
    right: str,
    wrong: list[str],
    *,
    words: tuple[str, ...],
    things: tuple[tuple[int, Rect], ...],
    family: str = "choice",
) -> Question:
    """Ask with lettered options in random order; ``words`` and ``things`` are hints."""
    options = [right, *wrong]
    rng.shuffle(options)
    letter = LETTERS[options.index(right)]
    lines = [ask, *(f"{LETTERS[index]}. {option}" for index, option in enumerate(options)), LETTER_RULE]
    line = f"{letter}. {right}\n"
    focus = (Focus(0, 1, words, things, line, " " + right),)
    target: dict[str, object] = {"kind": "option", "letter": letter, "count": len(options)}
    return Question(family, "\n".join(lines), letter, target, None, tuple(options), focus)


def choose_image(rng: random.Random, scenes: list[Scene], name: str, wording: str, *, four: bool) -> Question:
    """Ask which of two images shows a named item; with ``four`` options, both and neither too."""
    color, shape = name.split()
    found = [(index, item.rect) for index, scene in enumerate(scenes) for item in scene.items if item.name == name]
    has = {index for index, _ in found}
    right = {(0,): "first", (1,): "second", (0, 1): "both", (): "neither"}[tuple(sorted(has))]
    every = ["first", "second", "both", "neither"] if four else ["first", "second"]
    wrong = [option for option in every if option != right]
    ask = wording.format(name=name)
    return choose(rng, ask, right, wrong, words=(color, shape), things=tuple(found), family="two-images")


def count(scene: Scene, what: str, wording: str, system: str | None = None) -> Question:
    """Ask how many items a colour, a shape or a pair matches.

    ``what`` is ``"shapes"``, a plural shape, ``"red shapes"`` or, with a system prompt, a pair.
    """
    singular = {plural: shape for shape, plural in PLURALS.items()}
    parts = [singular.get(word, word) for word in what.split()]
    found = tuple(
        (0, item.rect)
        for item in scene.items
        if item.shape and all(part in (item.color, item.shape, "shapes") for part in parts)
    )
    answer = str(len(found))
    focus = (Focus(0, len(answer), tuple(what.split()), found, found, answer, counted=True),)
    target: dict[str, object] = {"kind": "number", "value": answer}
    return Question("numbers", wording.format(what=what), answer, target, system, focus=focus)


def add(line: list[Item], wording: str) -> Question:
    """Ask for the sum of the two digits of a line "a + b"."""
    digits = [item for item in line if item.char and item.char.isdigit()]
    answer = str(sum(int(item.char or "") for item in digits))
    one, two = (((0, item.rect),) for item in digits)
    focus = (Focus(0, len(answer), (), one, one, answer, two),)
    return Question("numbers", wording, answer, {"kind": "number", "value": answer}, focus=focus)
