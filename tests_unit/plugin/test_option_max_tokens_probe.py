import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.paths import tiny_dir
from bakeoff.plugin.choosing import chooses_sample
from tests_unit.plugin.conftest import BenchRun, calibration

Bench = Callable[..., BenchRun]
Script = Callable[..., str]


def test_a_probed_budget_is_twice_the_longest_answer_and_is_recorded(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    talker = script("talker", answers={sample.id: "word " * 150 for sample in calibration()})
    run = bench("--model", talker, "--limit", "4", "--max-tokens", "probe", *mode)
    assert run.code == 0, run.text
    assert "the longest of 4 answers takes 150 tokens" in run.text
    manifest = run.run.manifest()
    assert manifest.tracks["calibration"].max_tokens == 300
    assert manifest.options["max_tokens"] == ["calibration:300"]
    assert manifest.options["budget_probe"]["calibration"]["longest"] == 150


def test_a_budget_that_is_enough_stays(bench: Bench, script: Script) -> None:
    run = bench("--model", script("brief"), "--limit", "4", "--max-tokens", "probe")
    assert run.code == 0, run.text
    assert "which is enough" in run.text
    plain = bench("--model", script("brief"), "--limit", "4", "--run-dir", "other/plain")
    assert plain.code == 0
    assert "probe" not in str(plain.text)


def test_a_resumed_run_takes_the_number_over(bench: Bench, script: Script) -> None:
    name = script("talker", answers={sample.id: "word " * 150 for sample in calibration()})
    first = bench("--model", name, "--limit", "2", "--max-tokens", "probe", "--run-dir", "reports/r")
    again = bench("--resume=reports/r", "--limit", "2")
    assert (first.code, again.code) == (0, 0), again.text
    assert again.run.manifest().tracks["calibration"].max_tokens == 300


def test_only_what_is_asked_is_measured(
    bench: Bench, script: Script, pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the samples that `-k` chooses, and of no other track that is prepared."""
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path / "data"))
    shutil.copytree(tiny_dir(), tmp_path / "data" / "tiny")
    (tmp_path / "data" / "tasks").mkdir()
    case = {"id": "mine", "prompt": "Say yes.", "scorer": "exact", "expected": "yes"}
    (tmp_path / "data" / "tasks" / "mine.json").write_text(json.dumps(case), "utf-8")
    pytester.makepyfile(test_custom='TRACK = "custom"\ndef test_sample(case): case.check()\n')
    chosen = [sample.id for sample in calibration()][:3]
    talker = script("talker", answers=dict.fromkeys(chosen, "word " * 20))
    run = bench("--model", talker, "-k", " or ".join(chosen), "--max-tokens", "probe")
    assert run.code == 0, run.text
    assert set(run.run.manifest().options["budget_probe"]) == {"calibration"}
    assert "the longest of 3 answers takes 20 tokens" in run.text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], {"blink", "mmmu"}),
        (["-k", "mmmu"], {"mmmu"}),
        (["-k", "not mmmu"], {"blink"}),
        (["-m", "blink"], {"blink"}),
        (["-k", "arm and 2"], {"mmmu"}),
        (["-k", "ARM-two or (blink and 1)"], {"blink"}),
        (["-k", "(not"], {"blink", "mmmu"}),
    ],
)
def test_samples_are_chosen_before_they_are_items_as_pytest_chooses_items(
    pytester: pytest.Pytester, arguments: list[str], expected: set[str]
) -> None:
    config = pytester.parseconfig(*arguments)
    found = {
        track for track, sample in (("blink", "arm-1"), ("mmmu", "arm-2")) if chooses_sample(config, track, sample)
    }
    assert found == expected
