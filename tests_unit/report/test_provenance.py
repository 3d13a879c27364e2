"""What made a run: nothing is told twice, and what was not set is not called unknown."""

from collections.abc import Callable

import msgspec
import pytest

from bakeoff.records import Record
from bakeoff.report import build
from bakeoff.report.provenance import about, about_arm, about_inputs, about_options, about_track, unset_last
from bakeoff.runs import TrackManifest
from tests_unit.report.synthetic import RunMaker


def test_an_option_that_nobody_gave_is_not_set() -> None:
    told = dict(about_options({"shard": None, "model": [], "temperature": 0.2, "controls": False, "limit": ["60"]}))
    assert told == {"shard": "not set", "model": "not set", "temperature": "0.2", "controls": "no", "limit": "60"}


def test_all_options_that_nobody_gave_share_one_line() -> None:
    told = about_options({"shard": None, "temperature": 0.2, "limit": []})
    assert unset_last(told) == (("temperature", "0.2"), ("not set", "shard, limit"))
    assert unset_last((("seed", "0"),)) == (("seed", "0"),)


def test_a_hash_of_contents_is_cut_and_a_commit_is_not() -> None:
    commit = "0897970a63d036a2fba855454e7e35e46f41534f"
    told = dict(about({"weights_sha256": "f454a327a0" + "2" * 54, "revision": commit, "note": "f454a327a0"}))
    assert told == {"weights_sha256": "f454a327a0…", "revision": commit, "note": "f454a327a0"}


def test_an_input_of_a_model_is_stated_or_not_and_a_setting_set_or_not() -> None:
    told = dict(about_inputs({"model.revision": None, "sampling.repetition_penalty": None, "seed": 0}))
    assert told == {"model.revision": "none stated", "sampling.repetition_penalty": "not set", "seed": "0"}


def test_what_a_machine_does_not_tell_is_not_known() -> None:
    assert about({"power": None, "packages": {"mlx": "0.32.4"}}) == (("power", "not known"), ("packages.mlx", "0.32.4"))


@pytest.mark.parametrize(
    ("identity", "backend", "said"),
    [
        ({"runtime": "mlx-vlm"}, "mlx", "MLX, mlx-vlm"),
        ({"runtime": "llama.cpp"}, "gguf", "llama.cpp"),
        ({}, "gguf", "llama.cpp"),
    ],
)
def test_the_runtime_of_an_arm_is_told_once(
    maker: RunMaker, answered: Callable[..., list[Record]], identity: dict[str, str], backend: str, said: str
) -> None:
    arm = build(maker.arm("one", answered(), backend=backend).write()).arms["one"]
    told = about_arm(msgspec.structs.replace(arm, identity=identity))
    assert [value for name, value in told if name == "runtime"] == [said]


def test_a_setting_that_the_identity_repeats_is_told_once(
    maker: RunMaker, answered: Callable[..., list[Record]]
) -> None:
    arm = build(maker.arm("one", answered()).write()).arms["one"]
    identity, settings = {"context_tokens": 3072, "revision": None}, {"context_tokens": 3072, "server": None}
    told = about_arm(msgspec.structs.replace(arm, identity=identity, settings=settings))
    assert told[2:] == (
        ("revision", "none stated"),
        ("settings.context_tokens", "3072"),
        ("settings.server", "not set"),
    )


def test_a_track_is_told_with_its_metric_and_the_numbers_that_places_are_asked_for() -> None:
    asked = TrackManifest(
        version="1",
        dataset="d",
        revision="c" * 40,
        protocol="pyautogui",
        max_tokens=8,
        full=0,
        prepared=5,
        samples_sha256="a" * 64,
    )
    told = dict(about_track("screenspot", asked))
    assert told["official metric"].startswith("share of clicks inside the gold box")
    assert (told["licence"], told["coordinates"], told["samples in the split"]) == ("Apache-2.0", "pixels", "5")
    assert "coordinates" not in dict(about_track("docvqa", asked))
    assert "licence" not in dict(about_track("of another version", asked))
