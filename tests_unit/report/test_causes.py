"""Every flip gets one cause; what the harness did comes before what the model said."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from bakeoff.records import Image, Record, Sample, TextTarget
from bakeoff.report import build, terminal_table
from bakeoff.report.causes import _TESTS, CAUSES, cause_of, flip_causes
from bakeoff.validity.retold import Gap
from tests_unit.report.synthetic import RunMaker, failed

Answered = Callable[..., list[Record]]
RIGHT = Record(
    sample_id="s",
    track="toy",
    status="ok",
    image_sha256=("i",),
    prompt_sha256="p",
    output="It is hello.",
    answer="hello",
    score=1.0,
    correct=True,
    prompt_tokens=80,
    image_tokens=64,
)
WRONG = msgspec.structs.replace(RIGHT, output="It is help.", answer="help", score=0.0, correct=False)


def test_every_cause_is_explained_and_tried_in_the_order_shown() -> None:
    assert [name for name in CAUSES if name in _TESTS] == list(_TESTS)
    assert set(CAUSES) - set(_TESTS) == {"near tie", "drawn", "model"}  # which need log-probabilities


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"prompt_sha256": "q"}, "prompt differs"),
        ({"image_tokens": 65}, "tokens differ"),
        ({"prompt_tokens": 81}, "tokens differ"),
        ({"status": "truncated"}, "truncated"),
        ({"status": "error", "output": None, "answer": None, "score": None, "correct": None}, "error"),
        ({"output": "it  is\nhello."}, "extraction"),
        ({"output": "The word reads hello", "answer": None}, "extraction"),
        ({"output": "The word reads hellos", "answer": None}, "text differs"),
        ({"image_tokens": None, "prompt_tokens": None}, "text differs"),
        ({"output": "It is hello. And more", "answer": "more"}, "stop token"),
        ({}, "text differs"),
        # the first one that holds is the cause
        ({"prompt_sha256": "q", "image_tokens": 65, "status": "truncated"}, "prompt differs"),
        ({"image_tokens": 65, "status": "truncated"}, "tokens differ"),
        ({"status": "truncated", "output": "it is hello."}, "truncated"),
    ],
)
def test_a_flip_has_the_first_cause_that_holds(changes: dict[str, Any], cause: str) -> None:
    other = msgspec.structs.replace(WRONG, **changes)
    assert cause_of(RIGHT, other) == cause
    assert cause_of(other, RIGHT) == cause


@pytest.mark.parametrize(
    ("apart", "tie", "cause"),
    [
        (0.0, 0.0, "near tie"),
        (0.49, 0.49, "near tie"),
        (0.0, 2.3, "drawn"),  # equal distributions, one unlikely draw
        (0.5, 0.4, "model"),
        (9.0, 9.0, "model"),
    ],
)
def test_how_the_arms_held_the_words_tells_chance_from_another_model(apart: float, tie: float, cause: str) -> None:
    assert cause_of(RIGHT, WRONG, Gap(apart=apart, tie=tie)) == cause


def test_a_gap_does_not_hide_what_the_harness_did() -> None:
    assert cause_of(RIGHT, msgspec.structs.replace(WRONG, prompt_tokens=81), Gap(apart=0.0, tie=0.0)) == "tokens differ"


def _sample(name: str, side: int) -> Sample:
    image = Image(path="i.png", sha256="i", width=side, height=side)
    return Sample(id=name, track="toy", question="?", target=TextTarget(answers=("hello",)), images=(image,))


def test_flips_are_sliced_by_image_size_and_group_with_the_number_of_samples_behind_each() -> None:
    sides = {"s0": 512, "s1": 513, "s2": 2048, "s3": 5000}
    samples = {name: _sample(name, side) for name, side in sides.items()}
    groups = {"s0": {"family": "x"}, "s1": {"family": "x"}, "s2": {"family": "y"}, "s3": {}}
    names = [*sides, "unknown"]
    right = [msgspec.structs.replace(RIGHT, sample_id=n, groups=groups.get(n, {})) for n in names]
    other = [
        msgspec.structs.replace(record, output="no", answer="no", score=0.0, correct=False)
        if record.sample_id in {"s1", "unknown"}
        else record
        for record in right
    ]
    found = flip_causes(list(zip(right, other, strict=True)), samples, ["family"])
    assert (found.flips, found.n, found.causes) == (2, 5, {"text differs": 2})
    sizes = {value: (part.flips, part.n) for value, part in found.by["image size"].items()}
    assert sizes == {
        "0.25 to 1 MP": (1, 1),
        "1 to 4 MP": (0, 1),
        "not known": (1, 1),
        "over 4 MP": (0, 1),
        "up to 0.25 MP": (0, 1),
    }
    assert {value: (part.flips, part.n) for value, part in found.by["tokens an image"].items()} == {"up to 70": (2, 5)}
    families = {value: (part.flips, part.n) for value, part in found.by["family"].items()}
    assert families == {"x": (1, 2), "y": (0, 1)}


def test_a_run_tells_its_flips_in_results_page_markdown_and_terminal(maker: RunMaker, answered: Answered) -> None:
    one = [msgspec.structs.replace(r, image_tokens=64) for r in answered()]
    two = [msgspec.structs.replace(r, image_tokens=64 + (n < 2)) for n, r in enumerate(answered(lambda i: i in {1, 9}))]
    two[20] = failed(maker.samples[20])
    run = maker.arm("one", one).arm("two", two, backend="gguf").write(max_errors=9)
    results = build(run)
    causes = results.comparisons[0].causes
    assert causes is not None
    assert (causes.flips, causes.n) == (3, 120)
    assert causes.causes == {"tokens differ": 1, "error": 1, "text differs": 1}
    assert sum(part.n for part in causes.by["family"].values()) == 120
    assert "Flipped 3 of 120: tokens differ 1, error 1, text differs 1." in terminal_table(results)
    for name in ("report.html", "report.md"):
        text = (run.path / name).read_text("utf-8")
        assert "Why samples flipped" in text
        assert CAUSES["tokens differ"] in text


def test_without_a_flip_there_is_no_table(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).arm("two", answered()).write()
    results = build(run)
    assert "Flipped" not in terminal_table(results)
    assert "Why samples flipped" not in (run.path / "report.html").read_text("utf-8")
