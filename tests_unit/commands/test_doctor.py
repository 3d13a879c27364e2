import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bakeoff.commands.doctor import Doctor
from bakeoff.errors import UsageProblem

Script = Callable[..., str]


@pytest.fixture
def fake(tmp_path: Path) -> Script:
    def write(name: str, **traits: Any) -> str:
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps({"traits": traits}), "utf-8")
        return f"fake:{path}"

    return write


def examined(*names: str, budget: bool = False) -> tuple[bool, str]:
    said: list[str] = []
    is_well = Doctor(said.append, llama_server=None, budget=budget, limit=4).examine(names)
    return is_well, "\n".join(said)


def test_it_tells_machine_runtimes_prompts_and_that_arms_agree(fake: Script) -> None:
    is_well, text = examined(fake("one"), fake("two"))
    assert is_well
    assert "runtime   gguf: " in text
    assert "runtime   coreai: " in text
    assert "prompt as rendered: " in text
    assert "256x256 66" in text
    assert "probes agree" in text


def test_it_names_what_differs_in_plain_words(fake: Script) -> None:
    is_well, text = examined(fake("one"), fake("two", weights=1))
    assert not is_well
    assert "DIFFERS " in text
    assert "other weights" in text
    assert "no matched pair: they do not have the same base weights" in text


def test_it_measures_how_long_answers_get(fake: Script) -> None:
    _, text = examined(fake("one"), budget=True)
    assert "budget calibration: the longest of 4 answers takes" in text


def test_an_unknown_model_is_a_usage_problem() -> None:
    with pytest.raises(UsageProblem, match="unknown model"):
        examined("nonsense!")
