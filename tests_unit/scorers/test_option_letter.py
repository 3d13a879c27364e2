"""Reading the letter of an option: the nine steps, each with what it takes and what it must not take."""

import pytest

from bakeoff.records import OptionTarget
from bakeoff.scorers.option_letter import option_letter, option_text, read_letter

PRICES = ("$6", "$7", "$8", "$9")
ANIMALS = ("cat", "dog", "bird", "fish")
NUMBERS = ("1", "2", "2.5", "12")
NINE = tuple(f"o{number}" for number in range(1, 10))


@pytest.mark.parametrize(
    ("output", "options", "letter"),
    [
        # 1: a letter remains without its wrappers
        ("b", PRICES, "B"),
        ("**B.**", PRICES, "B"),
        ("```text\nB\n```", PRICES, "B"),
        (r"$\boxed{\text{B}}$", PRICES, "B"),
        ("E", PRICES, None),
        ("I", NINE, "I"),
        ("\u300cb\u300d", PRICES, "B"),
        ("\u300ab\u300b", PRICES, "B"),
        ("\u00abb\u00bb", PRICES, "B"),
        ("<b>", PRICES, "B"),
        ('"b', PRICES, "B"),  # cut in the middle
        # 2: an option's text remains
        ("$7", PRICES, "B"),
        ("7", PRICES, None),
        ("Dog!", ANIMALS, "B"),
        ("2.5", NUMBERS, "C"),
        ("2.0", NUMBERS, None),
        ("ph", ("pH", "Ph"), None),
        ("Ph", ("pH", "Ph"), "B"),
        ("18", ("9", "18", "18"), "B"),
        ("5'", ('5"', "5'"), "B"),
        # 3: the last boxed expression
        (r"x = 6, so \boxed{B. \$7}", PRICES, "B"),
        (r"A first. \boxed{$7}", PRICES, "B"),
        (r"\boxed{A} is wrong; \boxed{C}", PRICES, "C"),
        (r"\boxed{B - dog}, so C fails", PRICES, "B"),
        (r"\boxed{\text{(B) } 7}, so C fails", PRICES, "B"),
        # 4: the last declaration
        ("The answer is **(B)**. A is too small.", PRICES, "B"),
        ("The answer is A. No: the correct answer is C.", PRICES, "C"),
        ('{"answer": "B", "reason": "A is wrong"}', PRICES, "B"),
        ("The answer is b.", PRICES, "B"),
        ("The answer is a dog", ANIMALS, "B"),
        ("The answer is A dog", ANIMALS, "B"),
        ("The answer is A or B", PRICES, None),
        ("Answer: B, I think", NINE, "B"),
        ("The answer is B not A", PRICES, "B"),  # only "A" and "I" are words too
        ("I pick B over A", PRICES, "B"),
        ("The answer is B or c", PRICES, None),
        ("The answer is (B) or (C", PRICES, None),
        ('{"answer": ["A", "B"]}', PRICES, None),
        ('{"answer": "A dog"}', ANIMALS, "B"),  # an article is one in quotes, too
        ('{"answer": "a dog"}', ANIMALS, "B"),
        ("\u7b54\u6848\u662fA\u6216\u8005B", PRICES, None),
        ("The answer is \u3010b\u3011. A is too small", PRICES, "B"),
        ("I'd go with (C) here", PRICES, "C"),
        ("B is the best answer, not C", PRICES, "B"),
        ("\u7b54\u6848\u662f\uff08B\uff09\u3002", PRICES, "B"),
        # 5: a leading label
        ("b) dog", ANIMALS, "B"),
        ("b)dog", PRICES, "B"),
        ("b:dog", PRICES, "B"),
        ("**B**\nC is too large", PRICES, "B"),
        ("\u3010b\u3011 barks", ANIMALS, "B"),
        ("A - cat\nB - dog", ANIMALS, "B"),  # a list; its last line names B
        ("B - dog", ANIMALS, "B"),
        ("B\n\nIt barks.", ANIMALS, "B"),
        ("B. C", ("D", "C"), "B"),
        ("A None fits.", ("None fits.", "Both fit."), "A"),
        ("B a*", ("b*", "a*"), "B"),
        ("(A) (b)", ("(b)", "(a)"), "A"),  # its own text, and no other label
        ("B. Path A: up", ("Path A: down", "Path A: up"), "B"),
        ("B dog", ANIMALS, "B"),
        ("A. cat\nB. dog\n\nI choose B", ANIMALS, "B"),
        ("A. B. C.", ANIMALS, None),
        ("**A.** cat\n**B.** dog\n\nSo it is B", ANIMALS, "B"),
        ("a) cat\nb) dog\nc) bird", ANIMALS, None),
        ("b\nc", ANIMALS, None),
        # 6: an option's text comes first
        ("dog, since it barks", ANIMALS, "B"),
        ("dogs", ANIMALS, None),
        ("the Dog is there", ANIMALS, "B"),
        ("(1), not (2)", ("(1)", "(2)"), "A"),  # these brackets do not belong together
        ("quarter\n past eight, not half", ("half", "quarter past"), "B"),
        ("12.5 cm", NUMBERS, None),
        ("120 cm", NUMBERS, None),
        ("140\u00b0C", ("135\u00b0", "140\u00b0"), None),
        # 7: letters and connectors, refusals
        ("C C C", PRICES, "C"),
        ("CCC", PRICES, "C"),
        ("AC", PRICES, None),
        ("A, B", PRICES, None),
        ("either A or B", PRICES, None),
        ("Sorry, I cannot choose between (A) and (B).", PRICES, None),
        # 8: letters in brackets or alone
        ("(A) fails, so (B)", PRICES, "B"),
        ("option B looks right", PRICES, "B"),
        ("option a looks right", PRICES, None),
        ("A dog is there.", ANIMALS, "B"),
        ("B's value", PRICES, None),
        ("Point B looks closer", PRICES, "B"),
        ("C dog", ANIMALS, "C"),
        ("Point A looks closer", PRICES, "A"),  # no article
        ("{'choice': 'B'}", PRICES, "B"),
        ("A is too small, B is too large, C fits", PRICES, "C"),
        ("(A) fails; it ends in (C), (D)", ANIMALS[:3], "C"),  # D is no letter here
        ("It may be (A). It ends in (A) or (B).", PRICES, None),
        ("Both (A) and (C) fit.\n\nI take (C).", PRICES, "C"),
        # 9: one option's text occurs
        ("It is a dog.", ANIMALS, "B"),
        ("a dog or a cat", ANIMALS, None),
        ("It is 5' long", ('5"', "5'"), None),  # only the marks tell these apart
        ("There are 2 of them", NUMBERS, "B"),
        ("It is 2.5 cm long", NUMBERS, "C"),
        ("It is -1", NUMBERS, None),
        ("I see a quarter past.", ("quarter", "quarter past"), "B"),
        ("\u4e24\u53ea\u732b\u662f\u7ea2\u8272\u7684", ("\u7ea2\u8272", "\u84dd\u8272"), "A"),
        ("It is a triangle", ("a", "b"), None),
        ("It must be b", ("c", "b"), "B"),
        # nothing
        ("", PRICES, None),
        (" \n", PRICES, None),
        ("<think>The answer is B", PRICES, None),
    ],
)
def test_first_step_that_decides_wins(output: str, options: tuple[str, ...], letter: str | None) -> None:
    assert read_letter(output, len(options), options) == letter


def test_a_letter_beyond_the_options_is_no_letter() -> None:
    assert read_letter("The answer is C", 2) is None
    assert read_letter("The answer is C", 3) == "C"


def test_letters_are_read_without_the_texts_of_options() -> None:
    score = option_letter("(b) the second", OptionTarget(letter="B", count=2))
    assert (score.value, score.correct, score.answer) == (1.0, True, "B")


def test_a_wrong_letter_is_an_answer_and_no_letter_is_none() -> None:
    target = OptionTarget(letter="B", count=4, options=ANIMALS)
    assert (option_letter("A", target).value, option_letter("A", target).answer) == (0.0, "A")
    assert option_letter("no idea", target).answer is None


def test_option_text_credits_the_same_text_under_another_letter() -> None:
    target = OptionTarget(letter="C", count=4, options=("9", "12", "18", "18"))
    assert option_text("D", target).value == 1.0
    assert option_letter("D", target).value == 0.0
    assert option_text("B", target).value == 0.0
