"""What a runtime cannot be asked is skipped with its reason: no score, no error, and the run is whole without it."""

import xml.etree.ElementTree as ET
from collections.abc import Callable

from bakeoff.runs import is_complete
from tests_unit.plugin.conftest import BenchRun, calibration

Bench = Callable[..., BenchRun]
Script = Callable[..., str]

PAIRS = [sample.id for sample in calibration() if len(sample.images) == 2]
SINGLE = [sample.id for sample in calibration() if len(sample.images) == 1]
FEW = " or ".join([*PAIRS[:2], *SINGLE[:3]])


def test_a_sample_with_too_many_images_has_no_record_and_the_run_is_whole(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    run = bench("--model", script(traits={"max_images": 1}), "-k", FEW, *mode)
    assert run.code == 0, run.text
    assert sorted(run.records) == sorted(SINGLE[:3])
    assert {skip.reason for skip in run.journal().skipped.values()} == {
        "it shows 2 images and this backend takes 1 a prompt"
    }
    (arm,) = run.results["arms"].values()
    track = arm["tracks"]["calibration"]
    assert (track["n"], track["selected"], track["skipped"], track["errors"]) == (3, 5, 2, 0)
    assert track["complete"] is True
    assert run.results["state"] == "finished; 2 of 5 samples skipped"
    run.result.assert_outcomes(passed=3, skipped=2)


def test_the_same_arm_without_a_limit_answers_them(bench: Bench, script: Script) -> None:
    run = bench("--model", script(), "-k", FEW)
    assert sorted(run.records) == sorted([*PAIRS[:2], *SINGLE[:3]])
    (arm,) = run.results["arms"].values()
    assert arm["tracks"]["calibration"]["skipped"] == 0


def test_a_resumed_run_has_nothing_left_to_ask(bench: Bench, script: Script) -> None:
    name = script(traits={"max_images": 1})
    first = bench("--model", name, "-k", FEW, "--run-dir", "reports/run")
    assert is_complete(first.run)
    again = bench("--model", name, "-k", FEW, "--resume=reports/run")
    assert again.code == 0
    again.result.stdout.fnmatch_lines(["*resumed: 5 samples already recorded*"])
    assert len(again.journal().history) == 3


def test_the_reason_is_told_and_junit_has_it(bench: Bench, script: Script) -> None:
    run = bench("--model", script(traits={"max_images": 1}), "-k", FEW, "-rs", "--junitxml", "out.xml")
    run.result.stdout.fnmatch_lines(["*it shows 2 images and this backend takes 1 a prompt*"])
    run.result.stdout.fnmatch_lines(["*: 2 samples skipped, which its runtime cannot be asked"])
    skipped = ET.parse(run.folder / "out.xml").getroot().findall(".//testcase/skipped")  # noqa: S314 - our own file
    assert len(skipped) == 2


def test_the_audit_and_the_controls_leave_them_out(bench: Bench, script: Script) -> None:
    name = script(traits={"max_images": 1})
    run = bench("--model", name, "-k", FEW, "--audit", "5", "--controls", "--concurrency", "2")
    assert run.code == 0, run.text
    run.result.stdout.fnmatch_lines(["*0 of 3 answers change*"])


def test_nothing_but_skipped_samples_is_no_failure(bench: Bench, script: Script) -> None:
    run = bench("--model", script(traits={"max_images": 1}), "-k", PAIRS[0])
    assert run.code == 0
    assert run.results["state"] == "finished; 1 of 1 samples skipped"
