"""Prompts are made when they are asked for, once for as long as they are needed."""

import pytest

from bakeoff.plugin.prompts import Prompts
from bakeoff.records import Prompt


def test_no_prompt_is_made_before_it_is_asked_for() -> None:
    made: list[str] = []

    def make(name: str) -> Prompt:
        made.append(name)
        return Prompt(sample_id=name, messages=(), max_tokens=1, seed=0)

    prompts = Prompts(["b", "a"], make)
    assert list(prompts) == ["b", "a"]
    assert len(prompts) == 2
    assert made == []
    assert prompts["a"] is prompts["a"]
    assert made == ["a"]
    with pytest.raises(KeyError):
        prompts["c"]
