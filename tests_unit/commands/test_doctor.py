import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bakeoff.commands.doctor import Doctor
from bakeoff.errors import UsageProblem
from bakeoff.validity.telling import untold

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
    is_well = Doctor(said.append, untold, llama_server=None, budget=budget, limit=4).examine(names)
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


def test_how_far_it_is_goes_to_the_standard_error_and_the_findings_do_not(fake: Script, tmp_path: Path) -> None:
    fake("one")
    fake("two")
    command = [sys.executable, "-m", "bakeoff", "doctor", "--model=fake:one.json,fake:two.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    told = done.stderr.splitlines()
    assert [line for line in told if line.startswith("arm ")] == [
        "arm 1 of 2: fake-one.json",
        "arm 2 of 2: fake-two.json",
    ]
    total = re.search("probing fake-one.json: ([0-9]+) short prompts", done.stdout)
    assert total is not None
    assert f"fake-one.json: {total[1]} of {total[1]} probes answered" in told
    assert f"fake-two.json: {total[1]} of {total[1]} probes answered" in told
    assert len([line for line in told if line.startswith("fake-one.json: ") and line.endswith("probes answered")]) == 4
    assert [line for line in told if line.startswith("fake-two.json: ") and line.endswith("given answers read")]
    assert "parity " in done.stdout
    assert "answered" not in done.stdout
