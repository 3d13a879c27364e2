import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cpuinfo
import psutil
import pytest

from bakeoff.environment import _processor, environment, git_state


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)  # noqa: S607 - git of PATH


def test_a_checkout_has_a_commit_and_is_dirty_once_something_changes(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-q", "-m", "one")
    clean = git_state(tmp_path)
    assert clean is not None
    assert len(clean["commit"]) == 40
    assert clean["dirty"] is False
    (tmp_path / "new.py").write_text("")
    assert git_state(tmp_path) == {"commit": clean["commit"], "dirty": True}


def test_what_is_no_checkout_has_no_commit_even_inside_one(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "sub").mkdir()
    assert git_state(tmp_path / "sub") is None


def test_a_broken_checkout_is_not_known_rather_than_an_error(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere")
    assert git_state(tmp_path) is None


@pytest.mark.parametrize(
    ("battery", "word"),
    [
        (None, None),
        (SimpleNamespace(power_plugged=True), "mains"),
        (SimpleNamespace(power_plugged=False), "battery"),
        (SimpleNamespace(power_plugged=None), None),
    ],
)
def test_power_is_told_where_it_can_be_read(monkeypatch: pytest.MonkeyPatch, battery: Any, word: str | None) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", lambda: battery, raising=False)
    assert environment().get("power") == word


def test_the_environment_is_plain_json_without_a_host_or_a_home() -> None:
    found = environment()
    text = json.dumps(found)
    assert json.loads(text) == found
    assert str(Path.home()) + "/" not in text


def test_the_processor_is_the_one_that_cpuinfo_names(tmp_path: Path) -> None:
    named = cpuinfo.get_cpu_info()["brand_raw"]
    assert _processor() == named
    assert _processor(tmp_path / "none") == named
    (tmp_path / "arm").write_text("processor\t: 0\nBogoMIPS\t: 48.00\n")
    assert _processor(tmp_path / "arm") == named
    (tmp_path / "x86").write_text("processor\t: 0\nmodel name\t: A Chip @ 3 GHz \nmodel\t: 7\n")
    assert _processor(tmp_path / "x86") == "A Chip @ 3 GHz"
