"""Which pairs get a verdict, and why others do not."""

from collections.abc import Callable

import msgspec
import pytest

from bakeoff.records import Record
from bakeoff.report import build
from bakeoff.report.results import Comparison
from tests_unit.report.synthetic import FINGERPRINT, TRACK, RunMaker, failed

Answered = Callable[..., list[Record]]


def _only(maker: RunMaker, **options: float) -> Comparison:
    (comparison,) = build(maker.write(**options)).comparisons
    return comparison


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("sampling.temperature", 0.2, "sampling.temperature is 0.2 for two and 0.0 for one"),
        ("seed", 7, "seed is 7 for two and 0 for one"),
        ("thinking", "off", "thinking is off for two and default for one"),
        (f"tracks.{TRACK}.max_tokens", 32, "max_tokens is 32 for two and 64 for one"),
        (f"tracks.{TRACK}.protocol", "native", "protocol is native for two and default for one"),
        (f"tracks.{TRACK}.samples_sha256", "b" * 64, "samples_sha256 is bbbbbbbbbb for two and aaaaaaaaaa for one"),
        (f"tracks.{TRACK}.prompts_sha256", "b" * 64, "prompts_sha256 is bbbbbbbbbb for two and not recorded for one"),
    ],
)
def test_other_inputs_are_not_comparable_and_named(
    maker: RunMaker, answered: Answered, field: str, value: object, says: str
) -> None:
    maker.arm("one", answered()).arm("two", answered(), fingerprint={**FINGERPRINT, field: value})
    comparison = _only(maker)
    assert comparison.verdict == "not comparable"
    assert comparison.reason == says
    assert comparison.sentence == f"two gets no verdict against one on Toy: {says}."
    assert (comparison.diff_pp, comparison.ci95_pp, comparison.p) == (None, None, None)


def test_an_arm_that_was_never_started_is_called_so_and_differs_in_nothing(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).arm("two", None, fingerprint={}).write()
    manifest = run.manifest()
    silent = msgspec.structs.replace(manifest.arms["two"], identity={})
    run.write_manifest(msgspec.structs.replace(manifest, arms={**manifest.arms, "two": silent}))
    results = build(run)
    (comparison,) = results.comparisons
    assert (comparison.verdict, comparison.reason) == ("undecided", "two was not started")
    assert results.validity.badge == "not comparable"
    assert results.validity.reasons[0] == "two was not started"
    assert not [reason for reason in results.validity.reasons if "differ" in reason]


def test_inputs_of_another_track_do_not_matter(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered()).arm("two", answered(), fingerprint={**FINGERPRINT, "tracks.other.max_tokens": 8})
    assert _only(maker).verdict != "not comparable"


def test_other_weights_are_comparable(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered()).arm("two", answered(), fingerprint={**FINGERPRINT, "identity.weights": "c" * 64})
    assert _only(maker).verdict != "not comparable"


def test_cut_off_answers_above_the_limit_are_not_comparable(maker: RunMaker, answered: Answered) -> None:
    cut = [
        msgspec.structs.replace(found, status="truncated", finish_reason="length") if position < 5 else found
        for position, found in enumerate(answered())
    ]
    maker.arm("one", answered()).arm("two", cut)
    comparison = _only(maker)
    assert comparison.reason == "5 of 120 answers of two were cut off at 64 tokens"


def test_the_limit_for_cut_off_answers_is_an_option(maker: RunMaker, answered: Answered) -> None:
    cut = [msgspec.structs.replace(found, status="truncated") for found in answered()[:5]]
    maker.arm("one", answered()).arm("two", [*cut, *answered()[5:]])
    assert _only(maker, max_truncated=10).verdict != "not comparable"


@pytest.mark.parametrize(("missing", "has_verdict"), [(6, True), (7, False)])
def test_below_95_percent_common_samples_there_is_no_verdict(
    maker: RunMaker, answered: Answered, missing: int, *, has_verdict: bool
) -> None:
    broken = [failed(sample) for sample in maker.samples[:missing]]
    maker.arm("one", answered()).arm("two", [*broken, *answered()[missing:]])
    assert (_only(maker).ci95_pp is not None) is has_verdict


def test_identical_arms_are_the_same_only_with_enough_pairs(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered(lambda i: i % 4 == 0)).arm("two", answered(lambda i: i % 4 == 0))
    narrow = _only(maker, margin=2.0)
    assert (narrow.verdict, narrow.identical, narrow.diff_pp) == ("undecided", 120, 0.0)
    wide = _only(maker, margin=10.0)
    assert (wide.verdict, wide.margin_pp) == ("same", 10.0)
    assert wide.sentence == "two and one score the same on Toy, to within 10 points."


def test_lost_and_gained_are_seen_from_the_first_arm(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered(lambda i: i == 1)).arm("two", answered(lambda i: i in {3, 5}))
    comparison = _only(maker)
    assert (comparison.a, comparison.b) == ("two", "one")
    assert (comparison.lost, comparison.gained) == (2, 1)
    assert comparison.diff_pp == pytest.approx(-100 / 120)


def test_other_runtime_at_the_same_precision_comes_first(maker: RunMaker, answered: Answered) -> None:
    maker.arm("bf16", answered()).arm("4bit", answered()).arm("gguf-bf16", answered(), backend="gguf")
    pairs = [(c.a, c.b, c.relation) for c in build(maker.write()).comparisons]
    assert pairs == [
        ("gguf-bf16", "bf16", "other runtime"),
        ("4bit", "bf16", "same runtime"),
        ("gguf-bf16", "4bit", "other"),
    ]


def test_p_agrees_with_the_interval(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered()).arm("two", answered(lambda i: i % 10 == 0))
    comparison = _only(maker)
    assert comparison.ci95_pp is not None
    assert comparison.p is not None
    assert (comparison.p < 0.05) is (comparison.ci95_pp[1] < 0)
