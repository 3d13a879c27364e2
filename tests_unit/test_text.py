"""Views of an output: what is read as the final answer, and what folding changes."""

import unicodedata

import pytest
from hypothesis import given, strategies as st

from bakeoff.text import (
    collapse,
    final_answer,
    fold,
    fold_answer,
    last_boxed,
    thought,
    without_fences,
)


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        (None, ""),
        ("  B \n", "B"),
        ("<think>A</think>B", "B"),
        ("<THINK>A</Think>B", "B"),
        ("thought without its opening tag</think>B", "B"),
        ("<think>A</think>draft<think>C</think>B", "B"),
        ("<thinking>A</thinking><reasoning>C</reasoning>B", "B"),
        ("<think>A", ""),
        ("draft <think>A", "draft"),
        ("<think>A</think>draft<think>C", "draft"),
        ("<think> A </reasoning> B", "B"),  # a closing tag of another kind ends the thought too
        ("<reasoning>A <think>C</reasoning>B", "B"),
        ("<think>A</reasoning>draft<thinking>C", "draft"),
        ("[THINK]A[/THINK]B", "B"),
        ("\u25c1think\u25b7A\u25c1/think\u25b7B", "B"),
        ("<|channel>thought\nA<channel|>B", "B"),
        ("<|channel>thought\nA", ""),
        ("so <answer> B </answer> done", "B"),
        ("<answer>A</answer> no, <ANSWER>B</ANSWER>", "B"),
        ("<answer>B", "<answer>B"),  # not a complete pair
        ("</answer> B <answer>", "</answer> B <answer>"),
        ("<answer>B</answer> and </answer>", "B</answer> and"),
        ("<th\u0130nk>A", "<th\u0130nk>A"),  # only ASCII letters make a tag
    ],
)
def test_final_answer_is_what_follows_the_thoughts(output: str | None, answer: str) -> None:
    assert final_answer(output) == answer


@pytest.mark.parametrize(
    ("output", "inner"),
    [
        (None, ""),
        ("B", ""),
        ("<think>A</think>B", "<think>A</think>"),
        ("A</think>B", "A</think>"),
        ("<think>A</think>draft<think>C", "<think>A</think><think>C"),
        ("<|channel>thought\nA<channel|>B", "<|channel>thought\nA<channel|>"),
    ],
)
def test_thought_is_what_the_answer_leaves_over(output: str | None, inner: str) -> None:
    assert thought(output) == inner
    assert len(inner) <= len(output or "")


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("\uff22", "B"),
        ("\uff11\uff0c\uff12", "1,2"),
        ("\uff08\uff23\uff09", "(C)"),
        ("\u22123", "-3"),
        ("1\u20132", "1-2"),
        ("A\u20114", "A-4"),
        ("10\u207b\u00b2", "10-2"),  # a raised minus is a minus too
        ("caf\u00e9", "caf\u00e9"),
    ],
)
def test_fold_makes_wide_forms_and_dashes_ordinary(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text(max_size=40))
def test_fold_is_nfkc_apart_from_dashes(text: str) -> None:
    plain = text.translate({0x2212: None, 0x2013: None, 0x2011: None})
    assert fold(plain) == unicodedata.normalize("NFKC", plain).replace("\u2212", "-").replace("\u2013", "-")


def test_fold_keeps_long_runs_of_marks_and_does_not_sort_them() -> None:
    # NFKC alone takes half a minute for this string.
    text = "\u0316\u0301" * 100_000
    assert len(fold(text)) == len(text)


def test_fold_answer_takes_the_final_answer_first() -> None:
    assert fold_answer("<think>\uff21</think>\uff22 ") == "B"


def test_collapse_leaves_single_blanks() -> None:
    assert collapse("  a \t\n b ") == "a b"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("```json\n[1]\n```", "[1]"),
        ("```json[1]```", "[1]"),
        ("```5, 6```", "5, 6"),  # numbers are no language
        ("```x=5, y=6```", "x=5, y=6"),  # nor are names of values
        ("[1, ```2]", "[1, 2]"),
    ],
)
def test_fences_become_blanks_with_their_language(text: str, rest: str) -> None:
    assert collapse(without_fences(text)) == rest


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("no box", None),
        (r"\boxed{5}", "5"),
        (r"\boxed{1} then \boxed{2}", "2"),
        (r"\boxed{\frac{1}{2}} cm", r"\frac{1}{2}"),
        (r"\boxed {x}", "x"),
        (r"\boxed{cut", "cut"),
    ],
)
def test_last_boxed_is_balanced(text: str, content: str | None) -> None:
    assert last_boxed(text) == content
