import pytest

from bakeoff.families import FAMILIES
from bakeoff.text import final_answer
from bakeoff.thinking import THINKING, marks_in, prompt_mode


@pytest.mark.parametrize("text", ["<think>hm</think> B", "hm</THINK> B", "<seed:think>x", "◁think▷x", "[THINK]x"])
def test_any_mark_is_thinking_aloud(text: str) -> None:
    assert THINKING.search(text)
    assert marks_in(text)


@pytest.mark.parametrize("text", ["I think B", "<thinker>", "think", "<b>thinking</b>", ""])
def test_words_are_not_marks(text: str) -> None:
    assert marks_in(text) == ()


def test_every_family_that_thinks_is_known() -> None:
    for family in FAMILIES.values():
        for opening, closing in family.thinking:
            assert marks_in(f"{opening} hm {closing}") == (opening.lower(), closing.lower())
            assert final_answer(f"{opening} hm {closing}B") == "B"


@pytest.mark.parametrize(
    ("end", "mode"),
    [
        ("<|assistant|>\n<think>\n", "on"),
        ("<|assistant|>\n<think>\n\n</think>\n\n", "off"),
        ("<|assistant|>\n", None),
        ("Put thoughts between <think> and </think>. <|assistant|>", None),
        ("Say <think> first. <|assistant|>", None),
    ],
)
def test_the_end_of_a_prompt_opens_a_thought_closes_an_empty_one_or_leaves_it_open(end: str, mode: str | None) -> None:
    assert prompt_mode(f"<|user|> hello {end}") == mode
