import pytest

from bakeoff.evaluate import Asking, TrackPlan, prompt_of
from bakeoff.records import Prompt, Sampling
from bakeoff.tracks import TRACKS, load_samples
from bakeoff.validity.audit import audit_arm, is_loop
from tests_unit.validity.conftest import Arms


def prompts(count: int) -> dict[str, Prompt]:
    track = TRACKS["calibration"]
    samples = load_samples(track.folder())[:count]
    plan = TrackPlan(track=track, protocol=track.protocols[0], max_tokens=64, samples=samples, prepared=len(samples))
    asking = Asking(sampling=Sampling(), seed=0, thinking="default")
    return {sample.id: prompt_of(sample, plan, asking) for sample in samples}


def test_an_arm_that_answers_alone_as_together_is_safe(arm: Arms) -> None:
    spec, backend = arm("calm")
    found = audit_arm(backend, spec.arm, prompts(8), 4)
    assert (found.n, found.flips, found.is_safe) == (8, 0, True)
    assert "0 of 8 answers change" in found.sentence


def test_mixed_up_batch_mates_are_counted_and_named(arm: Arms) -> None:
    spec, backend = arm("mixer", {"delay_s": 0.02}, mixes=True)
    found = audit_arm(backend, spec.arm, prompts(8), 4)
    assert not found.is_safe
    assert found.flips == 7  # all but the first, which has no company yet
    assert found.flipped[0] in found.sentence


def test_empty_answers_and_loops_are_counted_alone_and_together(arm: Arms) -> None:
    names = list(prompts(4))
    spec, backend = arm("loop", {"answers": {names[0]: "", names[1]: "the red the red " * 12}})
    found = audit_arm(backend, spec.arm, prompts(4), 2)
    assert (found.empty, found.repeated) == ((1, 1), (1, 1))


@pytest.mark.parametrize("text", ["no no no no no no no no no no", "ab" * 30, "so: " + "1, 2, " * 10])
def test_saying_one_thing_again_and_again_is_a_loop(text: str) -> None:
    assert is_loop(text)


@pytest.mark.parametrize("text", ["", "B", "[0.1, 0.2, 0.3, 0.4]", "a long answer that never repeats itself at all"])
def test_an_answer_is_not_a_loop(text: str) -> None:
    assert not is_loop(text)


def test_a_sample_that_fails_alone_is_left_out_and_stops_nobody(arm: Arms) -> None:
    names = list(prompts(4))
    spec, backend = arm("frail", {"fail": [names[1]]})
    found = audit_arm(backend, spec.arm, prompts(4), 2)
    assert (found.n, found.flips, found.failed, found.is_safe) == (3, 0, 0, True)
