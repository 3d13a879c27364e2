"""What docs/exporting.md tells people to type does what it says, on a real export."""

import contextlib
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bakeoff.cli import app
from bakeoff.runs import RunDirectory

PAGE = Path(__file__).parents[2] / "docs" / "exporting.md"
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
EXAMPLE = """\
- dataset: {id: openai/gsm8k, task_id: main}
  value: 61.2
  notes: accuracy in percent, n 1319
"""


@pytest.fixture
def exported(mixed: RunDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the commands of the page write."""
    folder = tmp_path / "typed"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for form, out in (("parquet", "records.parquet"), ("csv", "records.csv"), ("inspect", "logs")):
        done = CliRunner().invoke(app, ["export", str(mixed.path), "--format", form, "-o", out], catch_exceptions=False)
        assert done.exit_code == 0
    card = folder / "card" / "gguf-q8" / ".eval_results" / "gsm8k.yaml"
    card.parent.mkdir(parents=True)
    card.write_text(EXAMPLE, "utf-8")
    return folder


def _run(snippet: str) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(snippet, "snippet", "exec"), {})  # noqa: S102 - the snippet is ours
    return said.getvalue()


def test_every_snippet_runs_and_shows_something_of_the_run(exported: Path) -> None:
    assert exported.is_dir()
    table, csv, logs, card = SNIPPETS
    assert "BackendDied" in _run(table)
    read = "print(records['score'].dtype, (records['output'] == 'NA').sum(), records['error_type'].count())"
    assert _run(csv + read) == "float64 1 1\n"
    assert "gguf/tiny-gguf toy {'accuracy'" in _run(logs)
    assert "openai/gsm8k main 61.2" in _run(card)


def test_every_option_exists() -> None:
    used = {
        option
        for line in PAGE.read_text("utf-8").splitlines()
        if line.startswith("uv run bakeoff export")
        for option in re.findall(r" (--?[a-z][a-z-]*)", line)
    }
    command = [sys.executable, "-m", "bakeoff", "export", "--help"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert used >= {"--format", "--source", "-o"}
    assert used <= set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", told))


def test_the_command_of_inspect_exists() -> None:
    assert "inspect view --log-dir" in PAGE.read_text("utf-8")
    assert shutil.which("inspect", path=str(Path(sys.executable).parent)) is not None
