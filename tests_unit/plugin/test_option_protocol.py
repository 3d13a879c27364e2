"""`--protocol`: one way of asking for all arms, or with `native` each arm in the form its family was trained for."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image as Pillow

from bakeoff.hub import file_sha256
from bakeoff.records import BoxTarget, Image, Sample, to_line
from tests_unit.plugin.conftest import BenchRun

Bench = Callable[..., BenchRun]


@pytest.fixture
def regions(pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One prepared region of refcoco, the left half of a picture, and a module that runs it."""
    folder = tmp_path / "data" / "refcoco"
    folder.mkdir(parents=True)
    Pillow.new("RGB", (560, 280), "white").save(folder / "a.png")
    image = Image(path="a.png", sha256=file_sha256(folder / "a.png"), width=560, height=280)
    target = BoxTarget(box=(0.0, 0.0, 0.5, 1.0), image_size=(560, 280))
    groups = {"split": "refcoco_testA"}
    words = ("left", "the left half")
    sample = Sample(
        id="r1", track="refcoco", question="left", target=target, images=(image,), options=words, groups=groups
    )
    (folder / "samples.jsonl").write_text(to_line(sample) + "\n", "ascii")
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path / "data"))
    pytester.makepyfile(test_refcoco='TRACK = "refcoco"\ndef test_sample(case): case.check()\n')


def says(folder: Path, name: str, text: str) -> str:
    """Write a model called `name` that always says `text`, and return what to type for it."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"default": text}), "utf-8")
    return f"fake:{path}"


@pytest.mark.usefixtures("regions")
def test_native_asks_and_reads_each_arm_in_the_form_of_its_family(
    bench: Bench, tmp_path: Path, mode: tuple[str, ...]
) -> None:
    pixels = says(tmp_path, "Qwen2.5-VL-3B", '[{"bbox_2d": [0, 0, 280, 280], "label": "left"}]')
    fractions = says(tmp_path, "LFM2.5-VL-3B", '[{"label": "left", "bbox": [0.0, 0.0, 0.5, 1.0]}]')
    run = bench("--model", f"{pixels},{fractions}", "-k", "refcoco", "--protocol", "refcoco:native", *mode)
    assert run.code == 0, run.text
    found = {arm: next(iter(run.journal(arm).records.values())) for arm in run.run.manifest().arms}
    asked = {arm: (record.protocol, record.correct) for arm, record in found.items()}
    families = {arm: "qwen2.5-vl" if "Qwen" in arm else "lfm2-vl" for arm in found}
    assert asked == {arm: (f"native-{family}", True) for arm, family in families.items()}
    assert len({record.prompt_sha256 for record in found.values()}) == len(families)
    assert len({record.scorer for record in found.values()}) == len(families)
    frame = run.results["validity"]["frame"]
    assert (frame["state"], frame["required"]) == ("same", False)


@pytest.mark.usefixtures("regions")
def test_a_frame_that_no_source_gives_is_reported_as_assumed(bench: Bench, tmp_path: Path) -> None:
    unknown = says(tmp_path, "mystery", "[0, 0, 500, 1000]")
    run = bench("--model", unknown, "-k", "refcoco", "--protocol", "native")
    assert run.code == 0, run.text
    (record,) = run.records.values()
    assert (record.protocol, record.correct) == ("native-default", True)
    frame = run.results["validity"]["frame"]
    assert (frame["state"], frame["required"]) == ("not checked", True)
    assert "no source gives the coordinate frame of" in frame["reason"]
    assert "mystery.json on refcoco (family default)" in frame["reason"]
    assert "it is assumed" in (run.run.path / "report.md").read_text("utf-8")


@pytest.mark.usefixtures("regions")
def test_native_runs_are_resumed_and_repeated(bench: Bench, tmp_path: Path) -> None:
    pixels = says(tmp_path, "Qwen2.5-VL-3B", '[{"bbox_2d": [0, 0, 280, 280], "label": "left"}]')
    first = bench("--model", pixels, "-k", "refcoco", "--protocol", "native", "--run-dir", "reports/r")
    again = bench("-k", "refcoco", "--resume=reports/r")
    assert (first.code, again.code) == (0, 0), again.text
    assert again.run.manifest().tracks["refcoco"].protocol == "native"


@pytest.mark.usefixtures("regions")
def test_every_expression_is_asked_and_answered(bench: Bench) -> None:
    run = bench("--model", "fake:oracle", "-k", "refcoco", "--protocol", "refcoco:all")
    assert run.code == 0, run.text
    assert {name: record.correct for name, record in run.records.items()} == {"r1": True, "r1.1": True}


def test_a_track_without_places_has_no_native_protocol(bench: Bench) -> None:
    run = bench("--model", "fake:echo", "--limit", "2", "--protocol", "calibration:native")
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "track calibration has no protocol 'native'; it has default" in run.text
    run = bench("--model", "fake:echo", "--limit", "2", "--protocol", "native")
    assert run.code == 0
    assert {record.protocol for record in run.records.values()} == {"default"}


@pytest.fixture
def blink(pytester: pytest.Pytester) -> None:
    """A module of a track that is not prepared and has other protocols than the track asked for."""
    pytester.makepyfile(test_blink='TRACK = "blink"\ndef test_sample(case): case.check()\n')


@pytest.mark.usefixtures("regions", "blink")
@pytest.mark.parametrize("chosen", [("-k", "refcoco"), ("-m", "refcoco"), ("-k", "not blink and not calibration")])
def test_a_protocol_of_all_tracks_is_asked_only_of_those_that_are_selected(
    bench: Bench, chosen: tuple[str, str], mode: tuple[str, ...]
) -> None:
    run = bench("--model", "fake:oracle", "--protocol", "all", *chosen, "--run-dir", "reports/r", *mode)
    assert run.code == 0, run.text
    assert set(run.records) == {"r1", "r1.1"}
    again = bench("--resume=reports/r", *mode)
    assert again.code == 0, again.text
    assert len(again.records) == len(run.records)


@pytest.mark.usefixtures("regions", "blink")
@pytest.mark.parametrize("chosen", [(), ("-k", "refcoco or calibration"), ("-k", "not blink")])
def test_a_track_without_the_protocol_ends_the_run_and_tells_what_to_type(
    bench: Bench, chosen: tuple[str, ...], mode: tuple[str, ...]
) -> None:
    run = bench("--model", "fake:oracle", "--limit", "2", "--protocol", "all", *chosen, *mode)
    assert run.code == pytest.ExitCode.USAGE_ERROR
    assert "has no protocol 'all'; it has default" in run.text
    assert "Name the tracks that are meant: --protocol refcoco:all" in run.text
