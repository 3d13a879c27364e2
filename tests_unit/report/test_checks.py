"""The checks above the verdicts and the badge that sums them up."""

from collections.abc import Callable

import msgspec
import pytest

from bakeoff.records import Record
from bakeoff.report import build, numbers
from tests_unit.report.synthetic import FINGERPRINT, TRACK, RunMaker

Answered = Callable[..., list[Record]]


def test_checks_that_nobody_made_count_as_differences(maker: RunMaker, answered: Answered) -> None:
    validity = build(maker.arm("one", answered()).arm("two", answered()).write()).validity
    assert (validity.parity.state, validity.budget.state, validity.audit.state) == ("not checked",) * 3
    assert validity.badge == "differs"
    assert validity.reasons == ("Parity probe: not checked", "Prompt tokens: not counted by two arms")


def test_when_no_verdict_survives_the_run_is_not_comparable(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered()).arm("two", answered(), fingerprint={**FINGERPRINT, "seed": 1})
    validity = build(maker.write()).validity
    assert validity.badge == "not comparable"
    assert validity.reasons[0] == "seed is 1 for two and 0 for one"
    assert validity.sampling.state == "differs"


def test_one_arm_has_nothing_to_compare(maker: RunMaker, answered: Answered) -> None:
    validity = build(maker.arm("one", answered()).write()).validity
    assert (validity.badge, validity.reasons) == ("comparable", ("one arm: nothing to compare",))


def test_truncation_is_bounded_by_all_wrong_and_all_right(maker: RunMaker, answered: Answered) -> None:
    cut = [msgspec.structs.replace(r, status="truncated", score=0.0, correct=False) for r in answered()[:12]]
    validity = build(maker.arm("one", [*cut, *answered()[12:]]).write()).validity
    found = validity.truncation.arms["one"][TRACK]
    assert (found.truncated, found.n) == (12, 120)
    assert found.rate == pytest.approx(0.1)
    assert found.worst == pytest.approx(0.9)
    assert found.best == pytest.approx(1.0)
    assert validity.truncation.state == "differs"
    assert "12 of 120 answers of one" in validity.truncation.reason


def test_thinking_that_was_switched_off_and_seen_is_a_difference(maker: RunMaker, answered: Answered) -> None:
    asked = {**FINGERPRINT, "thinking": "off"}
    maker.arm("one", answered(), fingerprint=asked).arm("two", answered(thinking=True), fingerprint=asked)
    mode = build(maker.write()).validity.mode
    assert (mode.state, mode.reason) == ("differs", "two did not do what was asked")
    assert (mode.arms["two"].asked, mode.arms["two"].thinking, mode.arms["one"].plain) == ("off", 120, 120)


def test_tokens_of_thoughts_and_of_answers_are_counted_apart(maker: RunMaker, answered: Answered) -> None:
    thinks = answered(thinking=True, completion_tokens=50, thinking_tokens=40)
    maker.arm("one", thinks).arm("two", thinks)
    mode = build(maker.write()).validity.mode
    assert (mode.arms["one"].thinking_tokens, mode.arms["one"].answer_tokens) == (40 * 120, 10 * 120)
    each = f"{numbers.count(4800)} thinking and {numbers.count(1200)} answering"
    assert mode.reason == f"every output in the mode asked for; tokens: one {each}, two {each}"


def test_without_counts_nothing_is_said_of_tokens(maker: RunMaker, answered: Answered) -> None:
    mode = build(maker.arm("one", answered()).arm("two", answered()).write()).validity.mode
    assert (mode.arms["one"].thinking_tokens, mode.arms["one"].answer_tokens) == (None, None)
    assert mode.reason == "every output in the mode asked for"


def test_thinking_that_no_runtime_reports_is_not_checked(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered(thinking=None)).arm("two", answered(thinking=None))
    assert build(maker.write()).validity.mode.state == "not checked"


def test_prompts_that_differ_are_counted(maker: RunMaker, answered: Answered) -> None:
    other = [msgspec.structs.replace(found, prompt_sha256="d" * 64) for found in answered()[:3]]
    maker.arm("one", answered()).arm("two", [*other, *answered()[3:]])
    prompt = build(maker.write()).validity.prompt
    assert (prompt.state, prompt.reason) == ("differs", "the text or images asked differ on 3 of 120 samples")


def test_weights_without_a_hash_are_named(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).arm("two", answered()).write()
    manifest = run.manifest()
    nameless = msgspec.structs.replace(manifest.arms["two"], identity={"runtime": "1.0"})
    run.write_manifest(msgspec.structs.replace(manifest, arms={**manifest.arms, "two": nameless}))
    identity = build(run).validity.identity
    assert (identity.state, identity.reason) == ("not checked", "no hash of the weights of two")
    assert identity.arms["two"] is None


@pytest.mark.parametrize(
    ("counts", "state", "words"),
    [
        ((None, None), "not checked", "not counted by two arms"),
        ((96, None), "not checked", "not counted by two arms"),
        ((96, 96), "same", "as many on 120 samples"),
        ((96, 97), "differs", "counts differ on 120 of 120 samples"),
    ],
)
def test_prompt_tokens_are_compared_sample_by_sample(
    maker: RunMaker, answered: Answered, *, counts: tuple[int | None, int | None], state: str, words: str
) -> None:
    for name, count in zip(("one", "two"), counts, strict=True):
        maker.arm(name, [msgspec.structs.replace(r, prompt_tokens=count) for r in answered()])
    check = build(maker.write()).validity.budget
    assert check.state == state
    assert words in check.reason


def test_one_sample_with_other_tokens_is_named_with_both_counts(maker: RunMaker, answered: Answered) -> None:
    same = [msgspec.structs.replace(r, prompt_tokens=96) for r in answered()]
    odd = [msgspec.structs.replace(same[0], prompt_tokens=102), *same[1:]]
    check = build(maker.arm("one", same).arm("two", odd).write()).validity.budget
    assert check.state == "differs"
    assert f"most on {same[0].sample_id}: 96 tokens in one, 102 in two" in check.reason
