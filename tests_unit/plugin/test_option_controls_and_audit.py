from collections.abc import Callable

from tests_unit.plugin.conftest import BenchRun

Bench = Callable[..., BenchRun]
Script = Callable[..., str]


def test_controls_are_printed_kept_and_stand_in_the_report(bench: Bench, script: Script) -> None:
    run = bench("--model", script("blind"), "--limit", "12", "--controls")
    assert run.code == 0
    assert "controls: " in run.text
    assert "ignores the images of calibration" in run.text
    controls = run.results["validity"]["controls"]
    assert controls["state"] == "differs"
    (track,) = next(iter(controls["arms"].values())).values()
    assert (track["n"], track["unmoved"]["swapped"]) == (12, 1.0)
    assert "ignores the images of calibration" in (run.run.path / "report.html").read_text("utf-8")
    assert len(run.records) == 12


def test_controls_of_workers_are_asked_by_the_controller(bench: Bench, script: Script) -> None:
    run = bench("--model", script("blind"), "--limit", "8", "--controls", "-n2")
    assert run.code == 0
    assert run.results["validity"]["controls"]["state"] == "differs"


def test_an_audit_that_fails_is_said_and_the_run_goes_on_one_at_a_time(bench: Bench, script: Script) -> None:
    mixer = script("mixer", delay_s=0.02, traits={"mixes": True})
    run = bench("--model", mixer, "--limit", "12", "--audit", "8", "--concurrency", "4", "--parity", "off")
    assert "audit: " in run.text
    assert "asked one at a time from here on" in run.text
    audit = run.results["validity"]["audit"]
    assert audit["state"] == "differs"
    assert {record.correct for record in run.records.values()} == {True}


def test_an_audit_that_passes_is_a_check_of_the_report(bench: Bench, script: Script) -> None:
    run = bench("--model", script("calm"), "--limit", "8", "--audit", "6")
    assert run.code == 0
    audit = run.results["validity"]["audit"]
    assert audit["state"] == "same"
    (found,) = audit["arms"].values()
    assert (found["n"], found["flips"], found["dropped"]) == (6, 0, False)


def test_without_the_options_nothing_more_is_asked(bench: Bench, script: Script) -> None:
    run = bench("--model", script("one"), "--limit", "2")
    validity = run.results["validity"]
    assert (validity["audit"]["state"], validity["controls"]["state"]) == ("not checked", "not checked")
    assert not (run.run.path / "audit").exists()
    assert not (run.run.path / "controls").exists()


def test_workers_that_disturb_each_other_are_refused(bench: Bench, script: Script) -> None:
    mixer = script("mixer", delay_s=0.02, traits={"mixes": True})
    run = bench("--model", mixer, "--limit", "8", "--audit", "8", "--parity", "off", "-n2")
    assert run.code == 4
    assert "Leave -n out to ask one at a time" in run.text


def test_a_resumed_run_asks_an_arm_that_joins_it_what_the_first_was_asked(bench: Bench, script: Script) -> None:
    first = bench("--model", script("one"), "--limit", "4", "--controls", "--audit", "3", "--run-dir", "reports/r")
    assert first.code == 0
    again = bench("--resume=reports/r", "--model", f"{script('one')},{script('two')}")
    validity = again.results["validity"]
    assert set(validity["controls"]["arms"]) == set(validity["audit"]["arms"]) == set(again.results["arms"])
    assert len(again.results["arms"]) == 2
    assert (again.results["options"]["controls"], again.results["options"]["audit"]) == (True, 3)
