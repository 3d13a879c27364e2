import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.commands.listing import show
from bakeoff.models import ALIASES, FORMS
from bakeoff.tracks import TRACKS
from tests_unit.bare import BARE
from tests_unit.plugin.conftest import BENCH

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def bakeoff(tmp_path: Path) -> Command:
    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "bakeoff", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def run_directory(tmp_path: Path) -> Path:
    """A small finished run of the fake model."""
    (tmp_path / "test_calibration.py").write_text(BENCH, "utf-8")
    arguments = ["--model", "fake:echo", "--limit", "4", "--run-dir", "run"]
    command = [sys.executable, "-m", "pytest", "-q", *BARE, *arguments]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    return tmp_path / "run"


def test_report_builds_the_same_bytes_again(bakeoff: Command, run_directory: Path) -> None:
    names = ("results.json", "report.html", "report.md")
    before = {name: (run_directory / name).read_bytes() for name in names}
    for name in names:
        (run_directory / name).unlink()
    done = bakeoff("report", str(run_directory))
    assert done.returncode == 0, done.stderr
    assert "fake-echo" in done.stdout
    assert {name: (run_directory / name).read_bytes() for name in names} == before


def test_a_folder_that_is_no_run_is_a_message_and_exit_code_4(bakeoff: Command, tmp_path: Path) -> None:
    done = bakeoff("report", str(tmp_path))
    assert done.returncode == 4
    assert done.stderr.strip() == f"bakeoff: {tmp_path} is not a run directory: it has no run.json"
    assert not (tmp_path / "run.lock").exists()


def test_a_manifest_that_is_not_json_is_named(bakeoff: Command, run_directory: Path) -> None:
    (run_directory / "run.json").write_text("{", "utf-8")
    done = bakeoff("report", str(run_directory))
    assert done.returncode == 4
    assert "run.json is not readable" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_manifest_of_a_later_version_is_refused(bakeoff: Command, run_directory: Path) -> None:
    path = run_directory / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "schema": 2}), "utf-8")
    done = bakeoff("report", str(run_directory))
    assert done.returncode == 4
    assert "has schema 2; this version reads schema 1" in done.stderr


def test_models_lists_every_alias(bakeoff: Command) -> None:
    done = bakeoff("models")
    assert done.returncode == 0
    assert sys.platform == "darwin" or "no: Core AI needs macOS" in " ".join(done.stdout.split())
    assert set(ALIASES) <= {line.split()[0] for line in done.stdout.splitlines() if line.strip()}


def test_models_lists_every_form_with_its_backend_and_whether_it_runs_here(bakeoff: Command) -> None:
    lines = [line.split() for line in bakeoff("models").stdout.splitlines()]
    rows = {words[0].split(":")[0]: words for words in lines if words and words[0].startswith(("mlx:", "openai:"))}
    assert rows["openai"][-1] == "yes"
    assert rows["mlx"][-4] == "mlx"


@pytest.mark.parametrize("columns", ["20", "400"])
def test_lists_in_a_pipe_are_whole_lines_whatever_the_width(
    bakeoff: Command, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    models = bakeoff("models").stdout.splitlines()
    assert [line.split("  ")[0] for line in models] == ["name", *ALIASES, *FORMS]
    assert not [line for line in models if not re.search("  (yes|no: .+|here)$", line)]
    tracks = bakeoff("tracks").stdout.splitlines()
    assert [line.split("  ")[0] for line in tracks] == ["track", *TRACKS]
    assert [line for line in tracks if line.endswith(f"  {TRACKS['screenspot'].dataset}")]


def test_lists_on_a_narrow_terminal_break_names_and_cut_none(capsys: pytest.CaptureFixture[str]) -> None:
    name = "an-alias-that-is-longer-than-the-terminal-is-wide"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout.isatty", lambda: True)
        patch.setenv("COLUMNS", "30")
        show(("name", "here"), [(name, "yes"), ("[@revision]", "no")])
    shown = capsys.readouterr().out
    assert name in "".join(line.split()[0] for line in shown.splitlines()[1:])
    assert "[@revision]" in shown
    assert "…" not in shown


def test_tracks_tells_what_is_prepared(bakeoff: Command) -> None:
    done = bakeoff("tracks")
    assert done.returncode == 0
    assert "calibration" in done.stdout


@pytest.mark.parametrize("command", ["report", "models", "tracks", "version", "compare", "plan", "replay", "rescore"])
def test_help_has_an_example(bakeoff: Command, command: str) -> None:
    assert f"Example: bakeoff {command}" in " ".join(bakeoff(command, "--help").stdout.split())
