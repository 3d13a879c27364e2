"""What holds for every scorer and any text: a score in [0, 1], no exception, no hidden dependence on the gold."""

import json

import pytest
from hypothesis import example, given, settings, strategies as st

from bakeoff.records import BoxTarget, NumberTarget, OptionTarget, Target, TextTarget, to_line
from bakeoff.scorers import SCORERS

BOX = BoxTarget(box=(0.1, 0.1, 0.2, 0.2), image_size=(640, 480))
OPTION = OptionTarget(letter="A", count=4, options=("a cat", "the cat sat", "36 N", "$7"))
TEXT = TextTarget(answers=("cat", "36 N"))
NUMBER = NumberTarget(value="36", precision=1)
TARGETS: dict[str, tuple[Target, ...]] = {
    "click_in_box": (BOX,),
    "box_iou": (BOX,),
    "box_center": (BOX,),
    "seeclick_official": (BOX,),
    "refcoco_vlmevalkit": (BOX,),
    "option_letter": (OPTION,),
    "option_text": (OPTION,),
    "mmmu_official": (OPTION,),
    "blink_official": (OPTION,),
    "anls": (TEXT,),
    "anls_official": (TEXT,),
    "exact": (TEXT,),
    "contains": (TEXT,),
    "mmmu_open": (TEXT,),
    "mmmu_open_official": (TEXT,),
    "number_list": (TextTarget(answers=("[36, 37]",)),),
    "numeric": (NUMBER, NumberTarget(value="36")),
    "numeric_exact": (NUMBER,),
    "mathvista": (OPTION, NUMBER, TEXT),
    "mathvista_official_no_llm": (OPTION, NUMBER, NumberTarget(value="36"), TEXT),
    "mathvista_extraction_official": (OPTION, NUMBER, NumberTarget(value="36"), TEXT),
}
# Words of the grammars, so that random text reaches deep into them; surrogates and huge numbers included.
WORDS = (
    *(
        "A",
        "(B)",
        "answer is ",
        "Answer: ",
        "\\boxed{",
        "}",
        "[",
        "]",
        "{",
        '"bbox_2d": ',
        "1000",
        "0.5",
        ", ",
        "-",
        "/",
    ),
    *("<think>", "</think>", "<answer>", "</answer>", "```", "x=", "y=", "x1=", "=", "\\frac{1}", "{2}", "e999", "\n"),
    *(
        "9" * 400,
        "NaN",
        "Infinity",
        "\ud800",
        "\u0301",
        "\uff13",
        "cat",
        "36 N",
        "$7",
        "or ",
        "%",
        "is correct",
        "null",
    ),
)
PHRASES = st.lists(st.sampled_from(WORDS), max_size=12).map("".join)
ANY_TEXT = st.one_of(st.text(st.characters(), max_size=60), PHRASES)


def test_each_scorer_is_listed_under_its_own_name_and_tested_here() -> None:
    assert {name: scorer.name for name, scorer in SCORERS.items()} == {name: name for name in TARGETS}


@given(ANY_TEXT)
@example("[" * 50_000)
@example("1" * 20_000)
@example("\ud800")
@settings(max_examples=150, deadline=None)
def test_any_text_gets_a_score_that_can_be_recorded(output: str) -> None:
    for name, targets in TARGETS.items():
        for target in targets:
            score = SCORERS[name].score(output, target)
            assert 0.0 <= score.value <= 1.0
            assert json.loads(to_line(score))["value"] == score.value


@given(ANY_TEXT, st.sampled_from("ABCD"))
@settings(max_examples=100, deadline=None)
def test_the_gold_does_not_choose_the_reading(output: str, letter: str) -> None:
    other_option = OptionTarget(letter=letter, count=4, options=OPTION.options)
    other_box = BoxTarget(box=(0.5, 0.5, 0.9, 0.9), image_size=BOX.image_size)
    pairs: tuple[tuple[str, Target, Target], ...] = (
        ("option_letter", OPTION, other_option),
        ("option_text", OPTION, other_option),
        ("mmmu_official", OPTION, other_option),
        ("click_in_box", BOX, other_box),
        ("box_iou", BOX, other_box),
        ("numeric", NUMBER, NumberTarget(value="5", precision=1)),
        ("anls", TEXT, TextTarget(answers=("dog",))),
    )
    for name, one, two in pairs:
        first, second = SCORERS[name].score(output, one), SCORERS[name].score(output, two)
        if name == "anls" and not output.strip():
            continue
        assert first.answer == second.answer, name


@given(ANY_TEXT)
@settings(max_examples=100, deadline=None)
def test_an_unparsed_answer_of_a_default_rule_is_worth_nothing(output: str) -> None:
    for name, targets in TARGETS.items():
        for target in targets:
            score = SCORERS[name].score(output, target)
            if score.answer is None:
                assert (score.value, score.correct) == (0.0, False), name


@pytest.mark.parametrize(
    "fragment",
    [
        "[",
        "[1,",
        "[1 ",
        '{"a":[',
        "1,234",
        ",234",
        "9",
        "answer: ",
        "A or B or ",
        "x=1 ",
        " ",
        "\u0316\u0301",
        "\\boxed{",
    ],
)
def test_long_repetitive_output_takes_linear_time(fragment: str) -> None:
    # A quadratic pattern does not end within the patience of any runner at this length; no clock is read.
    output = fragment * (200_000 // len(fragment)) + "z"
    for name in (
        "click_in_box",
        "option_letter",
        "numeric",
        "anls",
        "exact",
        "contains",
        "mmmu_open",
        "mmmu_official",
        "blink_official",
        "seeclick_official",
        "refcoco_vlmevalkit",
    ):
        assert SCORERS[name].score(output, TARGETS[name][0]).value == 0.0


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_target_of_the_wrong_kind_is_a_mistake_of_the_track(name: str) -> None:
    wrong: Target = TEXT if isinstance(TARGETS[name][0], BoxTarget) else BOX
    with pytest.raises(TypeError):
        SCORERS[name].score("[1, 2, 3, 4]", wrong)
