"""Runs go to the project of the tests, though pytest takes the folder behind an option for a place of tests."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.models import resolve
from tests_unit.plugin.conftest import BenchRun

Bench = Callable[..., BenchRun]
FEW = ("--limit", "2", "--parity", "off")


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a model outside the project; pytest finds no settings above it."""
    made = tmp_path_factory.mktemp("models") / "tiny"
    shutil.copytree(Path(resolve("tiny-bf16").location), made)
    return made


@pytest.mark.real_runtime
def test_a_models_folder_gets_no_reports(bench: Bench, elsewhere: Path) -> None:
    before = sorted(elsewhere.parent.rglob("*"))
    run = bench("--model", str(elsewhere), *FEW)
    assert run.code == 0, run.text
    assert len(run.records) == 2  # in reports/ of the project
    assert sorted(elsewhere.parent.rglob("*")) == before
    assert f"write --model={elsewhere}" in run.text


@pytest.mark.parametrize("words", [("--model={}",), ("test_calibration.py", "--model", "{}")])
def test_where_pytest_finds_its_settings_nothing_is_told(bench: Bench, elsewhere: Path, words: tuple[str, ...]) -> None:
    run = bench(*(word.format(elsewhere) for word in words), "--collect-only")
    assert f"-> {run.folder / 'reports'}" in run.text
    assert "place of tests" not in run.text


def test_settings_of_another_project_are_told(bench: Bench, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "pytest.ini").write_text("[pytest]\n", "utf-8")
    first = bench("--model", "fake:oracle", *FEW, "--run-dir", str(other / "reports" / "main"))
    assert first.code == 0, first.text
    gate = ("--max-drop", "calibration=50", "--undecided", "pass")
    run = bench("--model", "fake:oracle", *FEW, "--baseline", str(other / "reports" / "main"), *gate)
    assert f"read {other / 'pytest.ini'} instead of {run.folder / 'tox.ini'}: write --baseline=" in run.text
    assert len(run.runs) == 1
    assert sorted(path.name for path in (other / "reports").iterdir()) == ["main"]


def test_a_folder_without_settings_takes_its_own_reports(bench: Bench, pytester: pytest.Pytester) -> None:
    (pytester.path / "tox.ini").unlink()
    run = bench("--model", "fake:oracle", *FEW)
    assert len(run.runs) == 1


def test_tests_of_a_project_elsewhere_report_there(bench: Bench, pytester: pytest.Pytester) -> None:
    project, here = pytester.path, pytester.mkdir("here")
    pytester.chdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        run = bench("--model", "fake:oracle", *FEW, str(project / "test_calibration.py"))
    assert run.code == 0, run.text
    assert len(run.runs) == 1
    assert not (here / "reports").exists()
