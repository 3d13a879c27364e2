"""A backend is added by one file and one word in a table: the one in docs/adding.md, in a copy of the suite."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bakeoff.backends import BACKENDS, Facts

CHECKOUT = Path(__file__).parents[2]
ARM = "echo:a/b"


def told(suite: Path, *words: str) -> str:
    """What a command in the copy says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    command = [sys.executable, *words]  # pytest-benchmark rests in what looks like a worker
    done = subprocess.run(command, cwd=suite, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the suite with the documented backend in it."""
    place = tmp_path_factory.mktemp("checkout")
    for name in ("bakeoff", "tests_bench"):
        shutil.copytree(CHECKOUT / name, place / name)
    (place / "data").mkdir()
    (place / "data" / "tiny").symlink_to(CHECKOUT / "data" / "tiny")
    (code,) = re.findall(
        r"```python\n(\"\"\"Echo.*?)```", (CHECKOUT / "docs" / "adding.md").read_text("utf-8"), re.DOTALL
    )
    (place / "bakeoff" / "backends" / "echo.py").write_text(code, "utf-8")
    table = place / "bakeoff" / "backends" / "__init__.py"
    before = table.read_text("utf-8")
    after = before.replace('"litert", "fake")', '"litert", "fake", "echo")')
    assert sum(a != b for a, b in zip(before.splitlines(), after.splitlines(), strict=True)) == 1
    table.write_text(after, "utf-8")
    return place


@pytest.fixture(scope="module")
def run(suite: Path) -> Path:
    """The directory of a run of the new arm."""
    told(suite, "-m", "pytest", "tests_bench/test_calibration.py", f"--model={ARM}", "--limit=4", "--run-dir=run")
    return suite / "run"


def results(path: Path) -> Any:
    return json.loads((path / "results.json").read_text("utf-8"))


def test_it_is_listed_with_its_form_and_its_aliases(suite: Path) -> None:
    lines = told(suite, "-m", "bakeoff", "models").splitlines()
    assert [line.split()[:2] for line in lines if line.startswith("echo:")] == [
        [ARM, "echo"],
        ["echo:<folder", "or"],
    ]


def test_it_answers_and_the_report_calls_it_by_its_title(run: Path) -> None:
    (arm,) = results(run)["arms"].values()
    assert arm["backend"] == "echo"
    assert arm["tracks"]["calibration"]["n"] == 4
    page = (run / "report.html").read_text("utf-8")
    assert "Echo runtime" in page.partition('class="legend"')[2].partition("</p>")[0]
    assert 'class="shape ring"' in page


def test_it_is_timed(suite: Path) -> None:
    told(suite, "-m", "pytest", "tests_bench/test_speed.py", f"--model={ARM}", "-k", "load or text", "--run-dir=speed")
    passes = json.loads((suite / "speed" / "speed.json").read_text("utf-8"))["passes"]
    assert {(found["arm"], found["setting"], found["error"]) for found in passes} == {
        ("echo-b", "load", None),
        ("echo-b", "text", None),
    }
    assert all(found["values"] for found in passes)
    assert "Echo runtime" in (suite / "speed" / "report.html").read_text("utf-8")


def test_the_launcher_offers_it(suite: Path) -> None:
    code = "from bakeoff.web.arms import arm_rows; print(*((row.family, row.reason) for row in arm_rows()), sep='\\n')"
    assert "('Echo runtime', None)" in told(suite, "-c", code).splitlines()


def test_the_doctor_counts_it_among_the_runtimes(suite: Path) -> None:
    assert "runtime   echo: ready" in told(suite, "-m", "bakeoff", "doctor", f"--model={ARM}")


@pytest.mark.parametrize("facts", BACKENDS.values(), ids=lambda facts: facts.name)
def test_every_alias_and_no_other_backends_name_is_read(facts: Facts) -> None:
    for alias in (*facts.embedded, *facts.aliases):
        spec = facts.read_name(alias)
        assert spec is not None
        assert (spec.backend, spec.is_tiny) == (facts.name, alias in facts.embedded)
        assert not [other.name for other in BACKENDS.values() if other is not facts and other.read_name(alias)]
