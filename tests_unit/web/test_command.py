"""From an order to an argument list that pytest and bakeoff take as it was meant."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from bakeoff.errors import UsageProblem
from bakeoff.runs import RunDirectory
from bakeoff.web.asked import Start
from bakeoff.web.command import BAKEOFF, PYTEST, prepare_command, resume_command, run_command
from bakeoff.web.place import Place, find_place
from bakeoff.web.problems import Refusal
from tests_unit.commands.calibration import records, write_run

RUN = Path("reports/r")


def order(**fields: object) -> Start:
    return msgspec.convert({"models": ["fake:echo"], "tracks": ["calibration"], **fields}, Start)


def options(asked: Start, place: Place) -> list[str]:
    command = run_command(asked, place, place.reports / "r")
    assert command.argv[: len(PYTEST)] == PYTEST
    assert command.argv[-2:] == ("-v", "--color=no")
    return list(command.argv[len(PYTEST) : -2])


def test_the_default_choice_is_the_shortest_command(place: Place) -> None:
    asked = order(models=["tiny-bf16", "tiny-gguf-bf16"])
    assert options(asked, place) == ["tests_bench/test_calibration.py", "--run-dir=reports/r"]


def test_every_field_becomes_the_option_of_its_name(place: Place) -> None:
    write_run(place.reports / "main", {"a": records()[:4]})
    asked = order(
        models=["fake:echo", "mlx:a/b@main,fake:oracle"], limit=5, limits={"calibration": 7, "docvqa": 3},
        protocols={"calibration": "default"}, temperature=0.0, top_k=1, top_p=0.9, min_p=0.1, repetition_penalty=1.1,
        seed=7, thinking="off", max_tokens=32, concurrency=2, parity="strict", audit=3, controls=True, margin=1.5,
        min_score=["calibration=0.5"], max_drop=["calibration=2"], baseline="main", max_truncated=2.0, max_errors=1,
        undecided="pass",
    )  # fmt: skip
    assert options(asked, place)[1:] == [
        "--model=fake:echo,mlx:a/b@main,fake:oracle", "--limit=5", "--limit=calibration:7",
        "--protocol=calibration:default",
        "--temperature=0", "--top-k=1", "--top-p=0.9", "--min-p=0.1", "--repetition-penalty=1.1", "--seed=7",
        "--thinking=off", "--max-tokens=32", "--concurrency=2", "--parity=strict", "--audit=3", "--margin=1.5",
        "--max-truncated=2", "--max-errors=1", "--undecided=pass", "--controls", "--min-score=calibration=0.5",
        "--max-drop=calibration=2", "--baseline=reports/main", "--run-dir=reports/r",
    ]  # fmt: skip


def test_pytest_knows_every_option_that_can_be_asked_for() -> None:
    known = subprocess.run([*PYTEST, "--help"], capture_output=True, text=True, check=True).stdout
    fields = set(Start.__struct_fields__) - {"models", "tracks", "limits", "protocols", "prepare"}
    for field in (*fields, "model", "protocol", "run_dir", "resume"):
        assert f"--{field.replace('_', '-')}" in known, field


def test_a_name_that_looks_like_an_option_stays_a_value(place: Place) -> None:
    with pytest.raises(UsageProblem, match="unknown model '--co'"):
        run_command(order(models=["--co"]), place, RUN)
    assert "--model=mlx:--co" in options(order(models=["mlx:--co"]), place)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tracks": ["nothing"]}, "no track 'nothing'"),
        ({"protocols": {"calibration": "x"}}, "no protocol 'x': default"),
        ({"baseline": "gone", "max_drop": ["calibration=1"]}, "no run 'gone'"),
    ],
)
def test_what_is_not_there_is_refused(place: Place, fields: dict[str, object], message: str) -> None:
    with pytest.raises(Refusal, match=message):
        run_command(order(**fields), place, RUN)


def test_what_is_typed_is_what_is_run(place: Place) -> None:
    command = run_command(order(models=["mlx:/a b/c'd"]), place, place.reports / "r")
    assert shlex.split(command.typed) == ["uv", "run", "pytest", *command.argv[len(PYTEST) :]]
    prepare = prepare_command({"docvqa": 200, "gsm8k": 5})
    assert prepare.argv == (*BAKEOFF, "prepare", "docvqa=200", "gsm8k=5")
    assert prepare.typed == "uv run bakeoff prepare docvqa=200 gsm8k=5"


def test_a_run_is_resumed_with_its_own_options_and_gates(place: Place) -> None:
    run = write_run(
        place.reports / "r", {"a": records()[:4]}, min_score=["calibration=0.5"], max_errors=2, undecided="pass"
    )
    command = resume_command(RunDirectory(run.path), place)
    assert command.argv[len(PYTEST) :] == (
        "tests_bench/test_calibration.py", "--resume=reports/r", "--min-score=calibration=0.5", "--max-errors=2",
        "--undecided=pass", "-v", "--color=no",
    )  # fmt: skip


def test_benchmarks_are_found_by_what_they_say_without_importing_them(place: Place) -> None:
    (place.bench / "test_odd.py").write_text("raise SystemExit\nTRACK = 'odd'\n", "utf-8")
    (place.bench / "test_none.py").write_text("x = 1\n", "utf-8")
    assert set(place.modules()) == {"calibration", "custom", "odd"}


def test_a_folder_without_benchmarks_says_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="bakeoff ui --bench"):
        find_place(tmp_path / "none", None)


def test_the_command_line_has_the_app_and_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    del capsys
    said = subprocess.run([sys.executable, "-m", "bakeoff", "ui", "--help"], capture_output=True, text=True, check=True)
    for word in ("--host", "--port", "--no-open", "--token", "--certificate", "Example"):
        assert word in said.stdout
    taken = subprocess.run(
        [sys.executable, "-m", "bakeoff", "ui", "--certificate", "x"], capture_output=True, text=True, check=False
    )
    assert (taken.returncode, "--certificate and --key" in taken.stderr) == (4, True), json.dumps(taken.stderr)
