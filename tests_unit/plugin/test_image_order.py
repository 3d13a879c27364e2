"""The order in which samples are asked, and what is reused because of it, in whole runs."""

import itertools
import sys
from collections.abc import Callable

import pytest

from bakeoff.backends.llama.prompts import beginning_key
from bakeoff.models import resolve
from bakeoff.records import Prompt
from bakeoff.tracks import TRACKS
from bakeoff.validity.reuse import count_reuse
from tests_unit.plugin.conftest import BENCH, BenchRun, calibration

Bench = Callable[..., BenchRun]
Script = Callable[..., str]


def repeated() -> tuple[list[str], list[str]]:
    """Names of samples on two images, two questions each, with nothing before the image."""
    names: dict[str, list[str]] = {}
    for sample in calibration():
        if len(sample.images) == 1 and sample.system is None:
            names.setdefault(sample.cluster, []).append(sample.id)
    one, other = [found[:2] for found in names.values() if len(found) > 1][:2]
    return one, other


def order(run: BenchRun) -> list[str]:
    return [record.sample_id for record in run.journal().history]


def test_questions_on_an_image_follow_each_other_however_they_are_named(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    (a, b), (c, d) = repeated()
    model = script()
    arm = resolve(model).arm
    named = [f"test_calibration.py::test_sample[{arm}-{name}]" for name in (a, c, b, d)]
    run = bench("--model", model, *named, *mode)
    assert run.code == 0, run.text
    found = order(run)
    assert sorted(found) == sorted([a, b, c, d])
    assert found.index(a) < found.index(b)
    assert found.index(c) < found.index(d)
    if "-n2" not in mode:
        assert found == [a, b, c, d]


def test_a_whole_track_asks_about_each_image_in_one_go_and_about_equal_beginnings_in_one_go(
    bench: Bench, script: Script
) -> None:
    samples = {sample.id: sample for sample in calibration()}
    asked = [samples[name] for name in order(bench("--model", script()))]
    for keys in ([s.cluster for s in asked], [(s.cluster, s.system) for s in asked]):
        assert len(list(itertools.groupby(keys))) == len(set(keys)) < len(keys)


def test_last_failed_asks_nothing_but_what_failed(pytester: pytest.Pytester, script: Script) -> None:
    """What pytest takes out after all plugins were heard must not be asked ahead of the pytest loop."""
    pytester.makepyfile(test_calibration=BENCH)
    pytester.makeini("[pytest]\nstrict = true\n")
    samples = calibration()[:6]
    model = script(fail=[samples[1].id, samples[4].id], delay_s=0)
    only = ("-k", " or ".join(sample.id for sample in samples))
    pytester.run(sys.executable, "-m", "pytest", "--model", model, *only, "--run-dir", "first")
    log = pytester.path / "asked.txt"
    spy = f"""
        from bakeoff.backends.fake import backend as fake
        answer = fake.FakeBackend.submit
        def submit(self, prompt):
            with open({str(log)!r}, "a") as file:
                file.write(prompt.sample_id + "\\n")
            return answer(self, prompt)
        fake.FakeBackend.submit = submit
    """
    pytester.makeconftest(spy)
    pytester.run(
        sys.executable, "-m", "pytest", "--model", model, *only, "--run-dir", "second", "--lf", "--parity", "off"
    )
    assert log.read_text("utf-8").split() == [samples[1].id, samples[4].id]


def shared() -> int:
    """How many grounding samples begin like another one that can be asked before."""
    protocol = TRACKS["calibration"].protocols[0]
    keys = [
        beginning_key(Prompt(sample_id=s.id, messages=protocol.render(s), max_tokens=1, seed=0))
        for s in calibration()
        if "grounding" in s.id
    ]
    return len(keys) - len(set(keys))


@pytest.mark.real_runtime
@pytest.mark.parametrize("workers", [(), ("-n2",)], ids=["alone", "n2"])
def test_a_run_reads_images_once_and_says_how_often(bench: Bench, workers: tuple[str, ...]) -> None:
    run = bench("--model", "tiny-gguf-bf16", "-k", "grounding", "--parity", "off", *workers)
    assert run.code == 0, run.text
    found = count_reuse("arm", run.records.values())
    assert found.reused == shared() > 10
    check = run.results["validity"]["reuse"]
    assert (check["state"], check["required"]) == ("same", False)
    assert f"{found.reused} of {found.later} later questions" in check["reason"]


@pytest.mark.real_runtime
def test_no_image_reuse_turns_it_off(bench: Bench) -> None:
    run = bench("--model", "tiny-gguf-bf16", "-k", "grounding", "--parity", "off", "--no-image-reuse")
    assert run.code == 0, run.text
    assert {record.cached_tokens for record in run.records.values()} == {0}
    assert run.results["validity"]["reuse"]["state"] == "not checked"


def test_a_worker_that_crashes_costs_nothing_but_the_question_it_had(
    bench: Bench, script: Script, pytester: pytest.Pytester
) -> None:
    samples = [sample for sample in calibration() if "grounding" in sample.id or "numbers" in sample.id]
    fatal = [sample.id for sample in samples][2::40]
    assert len(fatal) == 3
    pytester.makepyfile(
        test_calibration="import os\nTRACK = 'calibration'\ndef test_sample(case):\n"
        f"    if case.sample.id in {fatal!r}: os._exit(9)\n    case.check()\n"
    )
    run = bench("--model", script(), "-k", "grounding or numbers", "--parity", "off", "-n2")
    assert run.code == 1, run.text
    asked = order(run)
    assert sorted(asked) == sorted(sample.id for sample in samples if sample.id not in fatal)
    assert f"{len(fatal)} failed, {len(asked)} passed" in run.text
