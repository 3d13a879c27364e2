"""The check of image reuse, from records to the terminal."""

from collections.abc import Callable

import msgspec

from bakeoff.records import Record
from bakeoff.report import build
from bakeoff.report.terminal import terminal_table
from bakeoff.runs import RunDirectory
from tests_unit.report.synthetic import RunMaker

Answered = Callable[..., list[Record]]


def asked_for_reuse(run: RunDirectory) -> RunDirectory:
    manifest = run.manifest()
    arms = {name: msgspec.structs.replace(arm, settings={"image_reuse": True}) for name, arm in manifest.arms.items()}
    run.write_manifest(msgspec.structs.replace(manifest, arms=arms))
    return run


def test_reuse_that_never_worked_is_told_and_does_not_stand_against_a_comparison(
    maker: RunMaker, answered: Answered
) -> None:
    results = build(asked_for_reuse(maker.arm("one", answered(image_tokens=64, cached_tokens=0)).write()))
    check = results.validity.reuse
    assert (check.state, check.required) == ("differs", False)
    assert results.validity.badge == "comparable"
    assert "Image reuse: one was to read each image once" in terminal_table(results)


def test_reuse_that_worked_is_counted_and_not_printed(maker: RunMaker, answered: Answered) -> None:
    results = build(asked_for_reuse(maker.arm("one", answered(image_tokens=64, cached_tokens=70)).write()))
    check = results.validity.reuse
    assert check.state == "same"
    assert "needed one reading of an image for 80 of 80 later questions" in check.reason
    assert "Image reuse" not in terminal_table(results)


def test_a_run_that_did_not_ask_for_reuse_is_not_checked(maker: RunMaker, answered: Answered) -> None:
    results = build(maker.arm("one", answered(image_tokens=64, cached_tokens=0)).write())
    assert results.validity.reuse.state == "not checked"
