"""The multiple-choice, number and page tracks: rows that are not what the dataset is known to hold are refused."""

from collections.abc import Mapping
from typing import Any

import pytest

from bakeoff.errors import DataMissing
from bakeoff.records import Image, ImagePart, NumberTarget, OptionTarget, Sample, Text, TextTarget
from bakeoff.tracks import TRACKS, blink, gsm8k, mathvista, mmmu, pages
from bakeoff.tracks.baselines import answered
from bakeoff.tracks.source import Row

IMAGES = tuple(Image(path=f"{n}.png", sha256=f"{n}" * 64, width=8, height=8) for n in range(3))
Values = Mapping[str, Any]

BLINK: Values = {"prompt": " Which?\n(A) one\n(B) two ", "choices": ["one", "two"], "answer": "(B)"}
MATHVISTA: Values = {
    "pid": "3",
    "question": "How large?",
    "query": "Hint: at the end.\nQuestion: How large?",
    "choices": ["9", "18", "18"],
    "precision": None,
    "answer": "18",
    "question_type": "multi_choice",
    "answer_type": "text",
    "metadata": {"task": "geometry problem solving", "grade": "college"},
}
MMMU: Values = {
    "question": "Is <image 2> like <image 1>? See <image 2>.",
    "options": "['yes, it is', \"no's\"]",
    "answer": "B",
    "question_type": "multiple-choice",
}


def of_blink(split: str = "Jigsaw", **values: object) -> Sample:
    return blink.build(Row(split=split, index=5, values={**BLINK, **values}), IMAGES[:2])


def of_mathvista(**values: object) -> Sample:
    return mathvista.build(Row(split="testmini", index=2, values={**MATHVISTA, **values}), IMAGES[:1])


def of_mmmu(split: str = "Music", index: int = 1, **values: object) -> Sample:
    return mmmu.build(Row(split=split, index=index, values={**MMMU, **values}), IMAGES[:2])


def test_blink_row() -> None:
    found = of_blink()
    assert (found.id, found.question) == ("blink_Jigsaw_5", "Which?\n(A) one\n(B) two")
    assert found.target == OptionTarget(letter="B", count=2, options=("one", "two"))
    assert of_blink(choices=["(A) one", "(B) two"]).target == found.target


def test_blink_label_version_is_in_the_form_of_the_gold() -> None:
    assert of_blink().groups == {"task": "Jigsaw"}
    assert of_blink("Relative_Reflectance").groups["labels"] == "2024"
    new = of_blink("Relative_Reflectance", answer="B")
    assert new.groups["labels"] == "2025-09"
    found = blink.metrics([answered(new, TRACKS["blink"].protocol(None), "B")])
    assert "labels:Relative_Reflectance 2025-09" in found["micro"].flags
    assert found["macro"].value is None
    assert len([flag for flag in found["macro"].flags if flag.startswith("missing:")]) == 13


@pytest.mark.parametrize("answer", ["(C)", "two", "", "(B"])
def test_blink_gold_that_is_no_letter_of_a_choice_is_refused(answer: str) -> None:
    with pytest.raises(DataMissing, match="row 5 of Jigsaw: column answer"):
        of_blink(answer=answer)


def test_mathvista_gold_under_two_letters_is_the_first_and_either_is_right() -> None:
    found = of_mathvista()
    assert found.target == OptionTarget(letter="B", count=3, options=("9", "18", "18"))
    protocol = TRACKS["mathvista"].protocol("direct")
    assert [answered(found, protocol, letter).score for letter in "ABC"] == [0.0, 1.0, 1.0]


def test_mathvista_numbers_and_lists() -> None:
    free = {"question_type": "free_form", "choices": None}
    assert of_mathvista(**free, answer="7", answer_type="integer").target == NumberTarget(value="7")
    found = of_mathvista(**free, answer="1.2", answer_type="float", precision=1.0)
    assert found.target == NumberTarget(value="1.2", precision=1)
    found = of_mathvista(**free, answer="[2014, 2016]", answer_type="list")
    assert found.target == TextTarget(answers=("[2014, 2016]",))


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ({"answer": "12"}, "answer"),
        ({"choices": ["18"]}, "answer"),
        ({"question_type": "free_form", "answer_type": "integer", "answer": "many"}, "answer"),
        ({"question_type": "free_form", "answer_type": "float", "answer": "1.2"}, "precision"),
    ],
)
def test_mathvista_row_without_a_usable_gold_is_refused(values: dict[str, Any], column: str) -> None:
    with pytest.raises(DataMissing, match=f"row 2 of testmini: column {column}"):
        of_mathvista(**values)


def test_mathvista_direct_is_the_query_and_cot_asks_for_reasoning() -> None:
    direct, cot = (TRACKS["mathvista"].protocol(name) for name in ("direct", "cot"))
    (message,) = direct.render(of_mathvista())
    assert message.parts == (ImagePart(image=IMAGES[0]), Text(text=str(MATHVISTA["query"])))
    assert cot.max_tokens > direct.max_tokens > 32
    said = cot.render(of_mathvista())[0].parts[-1]
    assert isinstance(said, Text)
    assert said.text.endswith("Think step by step before answering.")


def test_mathvista_without_a_query_is_asked_plainly() -> None:
    found = of_mathvista(query="")
    assert found.question == (
        "How large?\n(A) 9\n(B) 18\n(C) 18\nAnswer the question using a single word, number, or phrase."
    )


def test_mmmu_options_are_the_text_of_a_list_and_never_split_at_commas() -> None:
    assert of_mmmu().options == ("yes, it is", "no's")


def test_mmmu_images_stand_where_the_text_first_names_them() -> None:
    (message,) = TRACKS["mmmu"].protocol(None).render(of_mmmu())
    assert message.parts == (
        Text(text="Is "),
        ImagePart(image=IMAGES[1]),
        Text(text=" like "),
        ImagePart(image=IMAGES[0]),
        Text(
            text="? See <image 2>.\nA. yes, it is\nB. no's\n"
            "Answer with the option's letter from the given choices directly."
        ),
    )


def test_mmmu_images_in_options_stand_there_and_unnamed_ones_come_first() -> None:
    (message,) = TRACKS["mmmu"].protocol(None).render(of_mmmu(question="Which?", options="['<image 2>', 'none']"))
    assert [part.image.path if isinstance(part, ImagePart) else part.text for part in message.parts] == [
        "0.png",
        "Which?\nA. ",
        "1.png",
        "\nB. none\nAnswer with the option's letter from the given choices directly.",
    ]


def test_mmmu_open_questions_are_a_group_of_their_own() -> None:
    found = of_mmmu(question_type="open", options="[]", answer="['12', 'twelve']", question="<image 1> How many?")
    assert found.target == TextTarget(answers=("12", "twelve"))
    assert found.groups["question_type"] == "open"
    records = [answered(sample, TRACKS["mmmu"].protocol(None), "12") for sample in (found, of_mmmu(index=2))]
    metrics = mmmu.metrics(records)
    assert {name: metric.value for name, metric in metrics.items()} == {
        "accuracy": 0.5,
        "mc": 0.0,
        "open": 1.0,
        "official_expected": 0.75,  # the authors draw one of two letters
        "official_guessed": 0.5,
    }


def test_mmmu_records_whether_corrected_golds_are_the_new_ones() -> None:
    assert of_mmmu("Design", 14).groups["labels"] == "2026-07"
    assert of_mmmu("Design", 14, answer="A").groups["labels"] == "before 2026-07"
    assert "labels" not in of_mmmu("Design", 15).groups


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ({"options": "yes, no"}, "options"),
        ({"options": "'yes'"}, "options"),
        ({"answer": "C"}, "answer"),
        ({"question": "<image 3>"}, "question"),
    ],
)
def test_mmmu_row_that_is_not_as_known_is_refused(values: dict[str, Any], column: str) -> None:
    with pytest.raises(DataMissing, match=f"row 1 of Music: column {column}"):
        of_mmmu(**values)


def of_gsm8k(answer: str) -> Sample:
    return gsm8k.build(Row(split="test", index=12, values={"question": " How many? ", "answer": answer}), ())


def test_gsm8k_gold_stands_after_the_mark() -> None:
    found = of_gsm8k("She has 3.\nThat is 1,000.\n#### 1,000")
    assert (found.id, found.question, found.groups) == ("gsm8k_test_0012", "How many?", {"steps": "2"})
    assert found.target == NumberTarget(value="1000")
    protocol = TRACKS["gsm8k"].protocol(None)
    assert answered(found, protocol, "3 boxes, so \\boxed{1,000} apples.").score == 1.0
    assert answered(found, protocol, "\\boxed{1000.5}").score == 0.0


@pytest.mark.parametrize("answer", ["18", "#### many", ""])
def test_gsm8k_row_without_a_number_is_refused(answer: str) -> None:
    with pytest.raises(DataMissing, match="row 12 of test: column answer"):
        of_gsm8k(answer)


def of_page(**values: object) -> Sample | None:
    row = {"questionId": "9", "question": "When?", "question_types": ["form", "layout"], "answers": ["1997 ", ""]}
    return pages.builder("docvqa", "question_types")(Row(split="v", index=0, values={**row, **values}), IMAGES[:1])


def test_page_golds_stay_as_written_and_the_first_type_counts() -> None:
    found = of_page()
    assert found is not None
    assert (found.id, found.groups, found.target) == ("docvqa_val_9", {"type": "form"}, TextTarget(answers=("1997 ",)))
    untyped = of_page(question_types=None)
    assert untyped is not None
    assert untyped.groups == {"type": "other"}


def test_page_without_answers_is_left_out_and_a_test_split_refused() -> None:
    assert of_page(answers=["", " "]) is None
    with pytest.raises(DataMissing, match="cannot be scored"):
        of_page(answers=None)
