"""`bakeoff explain` asks what flipped once more, and the report has causes where it had none."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bakeoff.errors import UsageProblem
from bakeoff.report.causes import CAUSES
from bakeoff.runs import RunDirectory
from bakeoff.tracks import TRACKS, load_samples
from bakeoff.tracks.baselines import oracle_output
from bakeoff.validity.retold import read_retold
from tests_unit.commands.conftest import Cli

BENCH = 'TRACK = "calibration"\ndef test_sample(case): case.check()\n'


def script(folder: Path, name: str, **more: Any) -> str:
    protocol = TRACKS["calibration"].protocols[0]
    samples = load_samples(TRACKS["calibration"].folder())
    answers = {s.id: oracle_output(s, protocol) for s in samples} | more.pop("answers", {})
    (folder / f"{name}.json").write_text(json.dumps({"answers": answers, **more}), "utf-8")
    return f"fake:{folder / name}.json"


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """Two arms, of which the second has some of twelve samples wrong."""
    (tmp_path / "test_calibration.py").write_text(BENCH, "utf-8")
    first = script(tmp_path, "right")
    ids = [sample.id for sample in load_samples(TRACKS["calibration"].folder())]
    second = script(tmp_path, "wrong", answers=dict.fromkeys(ids[::3], "nothing to see"))
    words = ["test_calibration.py", "-q", "--limit", "12", "--run-dir", "run", "--model", f"{first},{second}"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    return RunDirectory(tmp_path / "run")


def _code(cause: str) -> str:
    """Return the letter that the viewer's files have for a cause."""
    return "0123456789abcdefghijklmnopqrstuvwxyz"[list(CAUSES).index(cause)]


def causes(run: RunDirectory) -> dict[str, int]:
    (comparison,) = json.loads((run.path / "results.json").read_text("utf-8"))["comparisons"]
    return dict(comparison["causes"]["causes"])


def test_flips_get_a_cause_that_the_files_alone_do_not_show(run: RunDirectory, cli: Cli) -> None:
    before = causes(run)
    flips = before["text differs"]
    assert before == {"text differs": flips}
    done = cli("explain", run.path)
    assert done.exit_code == 0, done.exception
    assert causes(run) == {"model": flips}  # scripted arms are sure of every word
    assert f"{flips} flipped samples asked again, {flips} answered to the letter as before" in done.stdout
    assert f"{flips} flipped: model {flips}" in done.stdout
    assert {len(arm.answers) for arm in read_retold(run).values()} == {flips}
    (index,) = (run.path / "samples").glob("*/index.js")
    assert index.read_text("utf-8").count(f'"0-1": "{_code("model") * flips}"'.replace(" ", "")) == 1
    assert "| Model |" in (run.path / "report.md").read_text("utf-8")


def test_an_arm_with_other_weights_than_in_the_run_explains_nothing(run: RunDirectory, cli: Cli) -> None:
    script(run.path.parent, "wrong", traits={"weights": 3})
    done = cli("explain", run.path)
    assert isinstance(done.exception, UsageProblem)
    assert "had the weights_sha256" in str(done.exception)
    assert "text differs" in causes(run)
    run.lock()  # nobody holds it any more
    run.unlock()


def test_a_run_without_flips_has_nothing_to_ask(run: RunDirectory, cli: Cli) -> None:
    for journal in run.path.glob("records/*wrong*.jsonl"):
        journal.unlink()
    done = cli("explain", run.path)
    assert done.exit_code == 0, done.exception
    assert "there is nothing to ask again" in done.stdout
    assert not (run.path / "retold").exists()
