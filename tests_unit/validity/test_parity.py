"""What probes say: equal ones nothing, different ones one sentence with the cause."""

import msgspec
import pytest

from bakeoff.traces import Token
from bakeoff.validity.findings import gaps
from bakeoff.validity.pair_checks import check_pair
from bakeoff.validity.parity import judge
from bakeoff.validity.probe_set import PROBES
from bakeoff.validity.probes import ClassAgreement, Probe, ProbeAnswer


def token(logprob: float = -0.1, *, other: float = -3.0, number: int = 7) -> Token:
    return Token(id=number, logprob=logprob, top=((number, logprob), (number + 1, other)))


def a_probe(arm: str, **changed: ProbeAnswer) -> Probe:
    """An arm that answers every probe alike; images take 66 tokens, tiled ones 700."""
    answers = {}
    for probe in PROBES:
        images = tuple((width, height) for _, width, height in probe.pictures)
        each = 700 if probe.size.startswith(("tiled", "huge")) else 66
        answers[probe.id] = ProbeAnswer(
            size=probe.size,
            prompt_sha256=probe.id,
            max_tokens=probe.max_tokens,
            images=images,
            text="said",
            finish_reason="length",
            completion_tokens=probe.max_tokens,
            prompt_tokens=20 + each * len(images),
            image_tokens=each * len(images),
            rendered=f"user {'<image>' * len(images)} {probe.text}",
            text_ids=(1, 2, *(-1,) * len(images)),
            bos=1,
            tokens=(token(-0.1 if probe.id != "square-other" else -0.2),),
        )
    return Probe(arm=arm, model=arm, backend="fake", answers={**answers, **changed})


def changed(probe: Probe, sizes: tuple[str, ...], **fields: object) -> Probe:
    answers = {
        name: msgspec.structs.replace(answer, **fields) if answer.size in sizes else answer
        for name, answer in probe.answers.items()
    }
    return msgspec.structs.replace(probe, answers=answers)


IMAGES = tuple({probe.size for probe in PROBES if probe.pictures})
UNTILED = tuple(size for size in IMAGES if not size.startswith(("tiled", "huge")))
TILED = tuple(size for size in IMAGES if size not in UNTILED)


def test_equal_probes_have_no_findings() -> None:
    probes = {"a": a_probe("a"), "b": a_probe("b")}
    found = judge(probes, ("a", "b"))
    assert (found.state, found.findings) == ("same", ())
    assert f"{len(PROBES)} probes agree" in found.reason


def test_an_arm_without_a_probe_is_not_checked() -> None:
    found = judge({"a": a_probe("a")}, ("a", "b"))
    assert (found.state, found.reason) == ("not checked", "b not probed")


def test_one_more_token_after_untiled_images_is_a_thumbnail_marker() -> None:
    b = a_probe("b")
    answers = {
        name: msgspec.structs.replace(answer, image_tokens=(answer.image_tokens or 0) + len(answer.images))
        if answer.size in UNTILED
        else answer
        for name, answer in b.answers.items()
    }
    (finding,) = check_pair(a_probe("a"), msgspec.structs.replace(b, answers=answers))
    assert finding.kind == "thumbnail marker"
    assert "b puts one extra token after each image that is not tiled (66 and 67 on «square»" in finding.sentence


def test_far_fewer_tokens_for_large_images_are_missing_tiles() -> None:
    b = changed(a_probe("b"), TILED, image_tokens=256)
    (finding,) = check_pair(a_probe("a"), b)
    assert finding.kind == "image tokens"
    assert "b shrinks what a cuts into tiles" in finding.sentence


def test_log_probabilities_that_differ_on_tiles_alone_are_resampling_with_the_sizes() -> None:
    b = changed(a_probe("b"), ("tiled, odd ratio", "huge"), tokens=(token(-1.1),))
    (finding,) = check_pair(a_probe("a"), b)
    assert finding.kind == "tiles"
    assert "tiled, odd ratio (" in finding.sentence
    assert "untiled" in finding.sentence
    assert "tiles are resampled differently" in finding.sentence


def test_log_probabilities_that_differ_on_every_image_are_the_vision_side() -> None:
    (finding,) = check_pair(a_probe("a"), changed(a_probe("b"), IMAGES, tokens=(token(-1.1),)))
    assert finding.kind == "vision"


def test_a_small_gap_without_images_is_another_precision_and_not_serious() -> None:
    b = changed(a_probe("b"), ("no image", *IMAGES), tokens=(token(-0.15),))
    findings = check_pair(a_probe("a"), b)
    assert [(finding.kind, finding.serious) for finding in findings] == [("precision", False)]


def test_another_template_is_shown_where_it_differs_and_ends_the_search() -> None:
    b = a_probe("b")
    answers = {
        name: msgspec.structs.replace(answer, rendered=f"human {answer.rendered}", tokens=(token(-3.0),))
        for name, answer in b.answers.items()
    }
    (finding,) = check_pair(a_probe("a"), msgspec.structs.replace(b, answers=answers))
    assert finding.kind == "template"
    assert "'user  Name three colours.'" in finding.sentence


def test_marks_around_an_image_are_the_runtimes_own_affair() -> None:
    b = a_probe("b")
    answers = {
        name: msgspec.structs.replace(
            answer, rendered=(answer.rendered or "").replace("<image>", "<|vision_start|><image><|vision_end|>")
        )
        for name, answer in b.answers.items()
    }
    assert check_pair(a_probe("a"), msgspec.structs.replace(b, answers=answers)) == ()


def test_two_beginnings_are_found_in_the_arm_and_between_arms() -> None:
    b = changed(a_probe("b"), ("no image", *IMAGES), bos=2)
    kinds = [finding.kind for finding in judge({"a": a_probe("a"), "b": b}, ("a", "b")).findings]
    assert kinds == ["bos", "bos"]


def agreement(size: str, delta: float) -> ClassAgreement:
    return ClassAgreement(size=size, continuations=1, tokens=8, same_top=8, tops=8, delta=delta, worst=delta, kl=delta)


def test_an_arm_that_leaves_the_reference_on_tiles_is_named_with_the_size() -> None:
    classes = (agreement("square", 0.001), agreement("tiled, odd ratio", 0.7))
    probe = msgspec.structs.replace(a_probe("a"), agreements={"reference": classes})
    (finding,) = judge({"a": probe}, ("a",)).findings
    assert finding.kind == "reference"
    assert "tiled, odd ratio (0.70); size square agrees" in finding.sentence


@pytest.mark.parametrize(
    ("deltas", "wrong"),
    [
        ({"square": 0.02, "wide": 0.036, "tall": 0.03, "tiled, odd ratio": 0.11}, ()),  # a 4-bit arm: noise everywhere
        ({"square": 0.001, "wide": 0.002, "tiled, odd ratio": 0.05}, ()),  # too small to matter
        ({"square": 0.001, "wide": 0.002, "tiled, odd ratio": 6.4}, ("tiled, odd ratio",)),
        ({"square": 2.1, "wide": 2.6, "tall": 1.9}, ("square", "wide", "tall")),  # nothing to compare with
    ],
)
def test_a_class_is_named_when_it_leaves_the_reference_farther_than_precision_alone_does(
    deltas: dict[str, float], wrong: tuple[str, ...]
) -> None:
    classes = tuple(agreement(size, delta) for size, delta in deltas.items())
    probe = msgspec.structs.replace(a_probe("q"), agreements={"reference": classes})
    findings = [finding for finding in judge({"q": probe}, ("q",)).findings if finding.kind == "reference"]
    assert len(findings) == bool(wrong)
    for size in wrong:
        assert f"{size} ({deltas[size]:.2f})" in findings[0].sentence


def test_gaps_end_after_the_first_token_that_differs() -> None:
    a = (token(), token(number=10), token(number=20))
    b = (token(), token(number=11), token(-2.0, number=20))
    assert gaps(a, b)[0] == pytest.approx(0.0)
    assert len(gaps(a, b)) == 2
