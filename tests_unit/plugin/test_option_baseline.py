import json
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from tests_unit.plugin.conftest import BenchRun, calibration, writer

Bench = Callable[..., BenchRun]
Script = Callable[..., str]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the run lies that tests are held against, and its model."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(scope="module")
def right(kept: Path) -> str:
    """A model that is right everywhere."""
    return writer(kept)()


@pytest.fixture
def stored(bench: Bench, kept: Path, right: str, pytester: pytest.Pytester) -> str:
    """A finished run of `right`, made by the first test that wants it; returns the directory of a copy."""
    made = kept / "main"
    if not made.exists():
        assert bench("--model", right, "--run-dir", str(made)).code == 0
    return str(shutil.copytree(made, pytester.path / "stored" / "main"))


def gates(run: BenchRun) -> dict[str, str]:
    return {gate["gate"].partition(" for ")[0]: gate["outcome"] for gate in run.results["gates"]}


def edit_records(directory: str, **fields: object) -> None:
    (path,) = Path(directory).glob("records/*.jsonl")
    lines = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    edited = [{**line, **fields} if line["type"] == "record" else line for line in lines]
    path.write_text("".join(json.dumps(line) + "\n" for line in edited), "ascii")


def test_an_equal_run_passes_and_a_worse_one_fails(
    bench: Bench, script: Script, right: str, stored: str, mode: tuple[str, ...]
) -> None:
    same = bench("--model", right, "--baseline", stored, "--max-drop", "calibration=5", "--run-dir", "a/a", *mode)
    assert same.code == 0
    assert ": pass: accuracy +0.0 points" in same.text
    name = script(wrong=tuple(s.id for s in calibration()[::3]))
    worse = bench("--model", name, "--baseline", stored, "--max-drop", "calibration=5", *mode)
    assert worse.code == 1
    assert "gate max-drop calibration=5 for" in worse.text
    assert ": fail: accuracy -" in worse.text
    assert gates(worse)["max-drop calibration=5"] == "fail"


@pytest.mark.parametrize(("choice", "code"), [("fail", 1), ("pass", 0)])
def test_too_few_pairs_for_the_margin_decide_nothing(
    bench: Bench, right: str, stored: str, choice: str, code: int
) -> None:
    limit = ("--limit", "50")
    run = bench("--model", right, *limit, "--baseline", stored, "--max-drop", "calibration=1", "--undecided", choice)
    assert run.code == code
    assert gates(run)["max-drop calibration=1"] == "not enough data"
    assert "50 pairs; at most 1 may be lost" in run.text


def test_a_family_alone_can_be_held(bench: Bench, script: Script, stored: str) -> None:
    name = script(wrong=tuple(s.id for s in calibration() if s.groups["family"] == "reading"))
    gate = ("--baseline", stored, "--max-drop", "calibration:family:reading=5", "--max-drop", "calibration:micro=50")
    run = bench("--model", name, *gate)
    assert gates(run)["max-drop calibration:family:reading=5"] == "fail"
    assert gates(run)["max-drop calibration:micro=50"] == "pass"


def test_another_name_is_held_against_the_only_arm_of_the_baseline(bench: Bench, script: Script, stored: str) -> None:
    run = bench("--model", script("other"), "--baseline", stored, "--max-drop", "calibration=5")
    assert run.code == 0
    assert "against fake-" in run.text
    assert "scripted.json of main" in run.text


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"prompt_sha256": "0" * 64}, "what was asked differs on {n} of {n} samples"),
        ({"scorer_version": "0"}, "the scorer or its version differs on {n} of {n} samples; rescore the baseline"),
    ],
)
def test_other_prompts_or_scorers_are_refused_with_the_reason(
    bench: Bench, right: str, stored: str, fields: dict[str, object], says: str
) -> None:
    edit_records(stored, **fields)
    run = bench("--model", right, "--baseline", stored, "--max-drop", "calibration=5")
    assert run.code == 1
    assert gates(run)["max-drop calibration=5"] == "not enough data"
    assert says.format(n=len(calibration())) in run.text


def test_other_samples_are_refused_with_the_reason(bench: Bench, right: str, stored: str) -> None:
    path = Path(stored, "run.json")
    manifest = json.loads(path.read_text("utf-8"))
    (arm,) = manifest["arms"].values()
    arm["fingerprint"]["tracks.calibration.samples_sha256"] = "0" * 64
    path.write_text(json.dumps(manifest), "utf-8")
    run = bench("--model", right, "--baseline", stored, "--max-drop", "calibration=5")
    assert gates(run)["max-drop calibration=5"] == "not enough data"
    assert "samples_sha256 was 0000000000 and is now" in run.text


def test_errors_that_could_turn_the_outcome_leave_it_open(bench: Bench, script: Script, stored: str) -> None:
    failing = [s.id for s in calibration()[::30]]
    gate = ("--baseline", stored, "--max-drop", "calibration=5", "--max-errors", "20")
    run = bench("--model", script(fail=failing), *gate)
    assert gates(run)["max-drop calibration=5"] == "not enough data"
    assert "the unanswered samples could turn it" in run.text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--max-drop", "calibration=2"), "add --baseline DIR"),
        (("--baseline", "."), "add --max-drop TRACK=PP"),
        (("--baseline", ".", "--max-drop", "calibration=2"), "is not a run directory: it has no run.json"),
        (("--baseline", ".", "--max-drop", "calibration=-2"), "write --max-drop TRACK=PP"),
        (("--baseline", ".", "--max-drop", "beauty=2"), "there is no track 'beauty'"),
        (("--margin", "200"), "--margin 200.0: must lie between 0 and 100"),
    ],
)
def test_what_cannot_be_held_is_refused_before_anything_runs(
    bench: Bench, arguments: tuple[str, ...], says: str
) -> None:
    run = bench("--model", "fake:echo", *arguments)
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert says in run.text
    assert not run.runs


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--min-score", "calibration=1"), "min-score calibration=1 can never pass"),
        (("--min-score", "calibration=0"), "min-score calibration=0 always passes"),
        (("--margin", "0"), "--margin 0: no two arms can be called the same"),
    ],
)
def test_gates_that_decide_nothing_are_warned_of(
    bench: Bench, script: Script, arguments: tuple[str, ...], says: str
) -> None:
    run = bench("--model", script(), "--limit", "5", *arguments)
    assert f"warning: {says}" in run.text


def test_a_margin_that_was_typed_is_the_one_of_the_report_and_survives_resuming(bench: Bench, script: Script) -> None:
    first = bench("--model", script("one"), "--limit", "5", "--margin", "7")
    assert first.results["options"]["margin"] == 7.0
    again = bench(f"--resume={first.run.path}", "--model", f"{script('one')},{script('two')}")
    assert again.results["comparisons"][0]["margin_pp"] == 7.0


def test_every_gate_that_was_asked_for_is_a_testcase_of_the_junit_file(
    bench: Bench, script: Script, stored: str, mode: tuple[str, ...]
) -> None:
    name = script(wrong=tuple(s.id for s in calibration()[::3]))
    asked = ("--min-score", "calibration=0.3", "--baseline", stored, "--max-drop", "calibration=5", "--max-errors", "0")
    run = bench("--model", name, *asked, "--junitxml", "out.xml", *mode)
    root = ET.parse(run.folder / "out.xml").getroot()  # noqa: S314 - our own file
    cases = {case.get("name", ""): case for case in root.iter("testcase") if case.get("classname") == "gates"}
    named = {name.partition(" for ")[0]: case.find("failure") for name, case in cases.items()}
    assert named.keys() == {"min-score calibration=0.3", "max-drop calibration=5", "max-errors 0"}
    assert {gate for gate, failure in named.items() if failure is not None} == {"max-drop calibration=5"}
    suite = next(root.iter("testsuite"))
    assert suite.get("failures") == "1"
    assert gates(run)["max-truncated 1"] == "pass"  # holds without being asked for, so it is no testcase
    assert suite.get("tests") == str(len(calibration()) + 3)


@pytest.mark.parametrize(("choice", "failures"), [("fail", "1"), ("pass", "0")])
def test_an_undecided_gate_fails_its_testcase_as_asked(
    bench: Bench, script: Script, choice: str, failures: str
) -> None:
    asked = ("--limit", "5", "--min-score", "calibration=0.9", "--undecided", choice)
    run = bench("--model", script(), *asked, "--junitxml", "out.xml")
    suite = next(ET.parse(run.folder / "out.xml").getroot().iter("testsuite"))  # noqa: S314 - our own file
    assert suite.get("failures") == failures


def test_a_gate_that_nobody_asked_for_is_a_testcase_when_it_fails(bench: Bench, script: Script) -> None:
    everything = [sample.id for sample in calibration()]
    run = bench("--model", script(length=everything), "--limit", "4", "--junitxml", "out.xml")
    cases = ET.parse(run.folder / "out.xml").getroot().iter("testcase")  # noqa: S314 - our own file
    failed = [case.get("name", "") for case in cases if case.find("failure") is not None]
    assert [name.partition(" for ")[0] for name in failed] == ["max-truncated 1"]
