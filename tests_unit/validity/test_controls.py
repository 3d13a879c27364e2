import json
from pathlib import Path

import msgspec
import pytest

from bakeoff.backends import Backend, Settings, open_backend
from bakeoff.evaluate import Asking, TrackPlan
from bakeoff.models import resolve
from bakeoff.records import Sampling
from bakeoff.tracks import TRACKS, load_samples
from bakeoff.tracks.baselines import oracle_output
from bakeoff.validity.controls import Controls, control_arm
from tests_unit.validity.conftest import Arms

TRACK = TRACKS["calibration"]
SAMPLES = load_samples(TRACK.folder())[:40]
PLAN = TrackPlan(track=TRACK, protocol=TRACK.protocols[0], max_tokens=64, samples=SAMPLES, prepared=len(SAMPLES))
ASKING = Asking(sampling=Sampling(), seed=0, thinking="default")


def controlled(backend: Backend, folder: Path) -> Controls:
    return control_arm(backend, "arm", {"calibration": PLAN}, ASKING, folder)


def test_an_arm_that_says_the_same_whatever_it_is_shown_ignores_its_images(arm: Arms, tmp_path: Path) -> None:
    """The script answers by sample id, so it is right and blind."""
    answers = {sample.id: oracle_output(sample, TRACK.protocols[0]) for sample in SAMPLES}
    _, backend = arm("blind", {"answers": answers})
    found = controlled(backend, tmp_path)
    track = found.tracks["calibration"]
    assert track.score == pytest.approx(1.0)
    assert track.lift == pytest.approx(0.0)
    assert track.is_blind
    assert (
        "ignores the images of calibration: another image leaves 100 % of its answers as they are"
        in (found.sentences()[0])
    )


def test_an_arm_that_needs_its_images_gains_from_them(tmp_path: Path) -> None:
    answers = {sample.id: oracle_output(sample, TRACK.protocols[0]) for sample in SAMPLES}
    script = tmp_path / "seeing.json"
    script.write_text(json.dumps({"answers": answers, "traits": {"sees": True}}), "utf-8")
    backend = open_backend(
        resolve(f"fake:{script}"), Settings(context_tokens=1, log_path=tmp_path / "log", progress=lambda _: None)
    )
    try:
        found = controlled(backend, tmp_path)
    finally:
        backend.close()
    track = found.tracks["calibration"]
    assert track.score == pytest.approx(1.0)
    assert track.lift > 0.5
    assert track.is_lifted
    assert not track.is_blind
    assert "points from the images of calibration" in found.sentences()[0]


def test_every_chosen_sample_is_asked_in_all_four_ways(arm: Arms, tmp_path: Path) -> None:
    """A grey image of a size is drawn again for the next sample of that size, while the first is being read."""
    _, backend = arm("any", {"delay_s": 0.001})
    assert controlled(backend, tmp_path).tracks["calibration"].n == 24


def test_where_all_samples_share_their_images_nothing_is_said_of_another_image(arm: Arms, tmp_path: Path) -> None:
    first = SAMPLES[0]
    alike = tuple(msgspec.structs.replace(first, id=f"same-{number}") for number in range(3))
    plan = msgspec.structs.replace(PLAN, samples=alike, prepared=len(alike))
    answers = {sample.id: oracle_output(sample, TRACK.protocols[0]) for sample in alike}
    _, backend = arm("alike", {"answers": answers})
    track = control_arm(backend, "arm", {"calibration": plan}, ASKING, tmp_path).tracks["calibration"]
    assert set(track.controls) == set(track.unmoved) == {"blank", "missing"}
    assert not track.is_blind
    assert "ignores the images" not in Controls(arm="arm", tracks={"calibration": track}).sentences()[0]
