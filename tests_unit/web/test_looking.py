"""What the pages are told: progress, scores so far, logs, pictures, arms, tracks, estimates."""

import json
import random
from pathlib import Path

import msgspec
import pytest

from bakeoff.models import resolve
from bakeoff.records import Session, to_line
from bakeoff.stats import interval
from bakeoff.tracks import TRACKS
from bakeoff.web.arms import arm_rows, describe, typed_arm
from bakeoff.web.asked import Start
from bakeoff.web.choices import missing_samples, track_rows
from bakeoff.web.estimate import estimate, this_machine
from bakeoff.web.index import RunRow
from bakeoff.web.logs import MOST_BYTES, read_log
from bakeoff.web.pictures import find_sample, media_type, read_picture
from bakeoff.web.place import Place
from bakeoff.web.problems import Refusal
from bakeoff.web.running import LEAST, so_far
from bakeoff.web.watch import Watch
from tests_unit.commands.calibration import records, write_run
from tests_unit.web.conftest import calibration, make_place


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8, 0.97])
@pytest.mark.parametrize("each", [1, 3])
def test_the_interval_so_far_is_that_of_the_statistics(share: float, each: int) -> None:
    draw = random.Random(f"{share}/{each}")  # noqa: S311 - scores to repeat
    clusters = {str(n): [float(draw.random() < share) for _ in range(each)] for n in range(200)}
    scores = [score for cluster in clusters.values() for score in cluster]
    names = [name for name, cluster in clusters.items() for _ in cluster]
    found, known = so_far(clusters), interval(scores, clusters=names)
    assert found.mean == pytest.approx(known.value)
    assert found.ci95 == pytest.approx((known.low, known.high), abs=0.004)


def test_few_samples_get_no_interval_and_none_no_score() -> None:
    assert so_far({}).mean is None
    assert so_far({str(n): [1.0] for n in range(LEAST - 1)}).ci95 is None
    found = so_far({str(n): [1.0] for n in range(LEAST)})
    assert found.ci95 is not None
    assert found.ci95[1] == pytest.approx(1.0)
    assert found.ci95[0] < 0.9
    assert so_far({"a": [0.5], "b": [1.0]}).right is None


def test_a_journal_is_read_on_and_a_torn_line_waits(place: Place) -> None:
    lines = records()[:40]
    run = write_run(place.reports / "r", {"a": []})
    watch, path = Watch(run.path), run.journal_path("a")
    with path.open("ab") as journal:
        journal.write(to_line(Session(event="start", at="2026-11-30T09:00:00+00:00")).encode() + b"\n")
        for number, record in enumerate(lines[:31]):
            timed = msgspec.structs.replace(record, started_at=f"2026-11-30T09:00:{number:02}+00:00")
            journal.write(to_line(timed).encode() + b"\n")
        journal.write(to_line(lines[31]).encode()[:50])
    (arm,) = watch.look()
    assert (arm.state, arm.answered, arm.selected, arm.errors) == ("going", 31, 265, 0)
    assert arm.per_s == pytest.approx(1.0)
    assert arm.eta_s == pytest.approx(265 - 31)
    assert arm.tracks[0].score.ci95 is not None
    assert arm.last is not None
    assert arm.last.sample == lines[30].sample_id
    with path.open("ab") as journal:
        journal.write(to_line(lines[31]).encode()[50:] + b"\n" + b"not a line\n")
    assert watch.look()[0].answered == 32
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    assert watch.look()[0].answered == 0


def test_a_run_that_is_not_there_yet_has_no_arms(place: Place) -> None:
    assert Watch(place.reports / "none").look() == ()


def test_a_log_is_read_on_with_levels_and_without_control_characters(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("$ uv run pytest\nt.py::a[x] PASSED\n\x1b[31mt.py::b FAILED\x1b[0m\nparity: no\nhalf", "utf-8")
    part = read_log(path, None)
    assert [(line.level, line.text) for line in part.lines] == [
        ("step", "$ uv run pytest"), ("info", "t.py::a[x] PASSED"), ("error", "t.py::b FAILED"),
        ("warning", "parity: no"),
    ]  # fmt: skip
    more = path.read_text("utf-8") + " done\nbakeoff: a on b -> c\nbakeoff: no such thing\n"
    told = "bakeoff: tiny-bf16 1/60 so far errors=0 cut=0 unparsed=0"
    path.write_text(f"{more}{told}\n", "utf-8")
    assert [(line.level, line.text) for line in read_log(path, part.end).lines] == [
        ("info", "half done"), ("info", "bakeoff: a on b -> c"), ("error", "bakeoff: no such thing"), ("info", told),
    ]  # fmt: skip
    assert read_log(tmp_path / "none", 5).lines == ()


def test_a_log_that_has_no_further_line_yields_none_and_not_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("one\n\ntwo\n", "utf-8")
    part = read_log(path, None)
    assert [line.text for line in part.lines] == ["one", "", "two"]
    assert read_log(path, part.end).lines == ()
    path.write_text("one\n\ntwo\nthr", "utf-8")
    assert read_log(path, part.end).lines == ()


def test_a_long_log_is_read_from_its_end_and_says_what_it_skips(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("".join(f"line {n}\n" for n in range(20_000)), "utf-8")
    part = read_log(path, None)
    assert part.lines[-1].text == "line 19999"
    assert part.end - part.skipped <= MOST_BYTES
    text = path.read_text("utf-8").encode()
    assert text[part.skipped :].startswith(part.lines[0].text.encode() + b"\n")
    path.write_text("new\n", "utf-8")
    assert [line.text for line in read_log(path, part.end).lines] == ["new"]
    path.write_text("x" * (MOST_BYTES + 10), "utf-8")
    assert read_log(path, 0).end == MOST_BYTES


def test_a_picture_is_found_by_its_sample_and_hash() -> None:
    sample = calibration()[0]
    content, kind = read_picture("calibration", sample.id, sample.images[0].sha256)
    assert (kind, content) == ("image/png", Path(sample.images[0].path).read_bytes())
    shown = find_sample("calibration", sample.id)
    assert shown is not None
    assert shown.question == sample.question
    for track, name, digest in (("x", sample.id, "0"), ("calibration", "x", "0"), ("calibration", sample.id, "0")):
        with pytest.raises(Refusal, match="has no such picture"):
            read_picture(track, name, digest)
    assert media_type(b"<svg xmlns='http://www.w3.org/2000/svg'/>") is None


def test_a_picture_outside_of_its_track_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    folder = tmp_path / "data" / "docvqa"
    folder.mkdir(parents=True)
    line = {"id": "a", "images": [{"path": "../../secret.png", "sha256": "1"}], "question": "?"}
    (folder / "samples.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path / "data"))
    with pytest.raises(Refusal, match="is not below"):
        read_picture("docvqa", "a", "1")


def test_arms_say_where_their_weights_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    rows = {row.name: row for row in arm_rows()}
    assert rows["tiny-bf16"].place == "embedded"
    assert (rows["tiny-bf16"].bytes or 0) > 1_000_000
    assert rows["8bit"].place == rows["gguf-q8"].place == "absent"
    for repository, files in {
        "LiquidAI/LFM2.5-VL-3B-MLX-8bit": {"model.safetensors": 70, "config.json": 7},
        "LiquidAI/LFM2.5-VL-3B-GGUF": {
            "LFM2.5-VL-3B-Q8_0.gguf": 50,
            "mmproj-LFM2.5-VL-3B-Q8_0.gguf": 5,
            "LFM2.5-VL-3B-Q4_0.gguf": 9,
        },
    }.items():
        snapshot = tmp_path / f"models--{repository.replace('/', '--')}" / "snapshots" / ("a" * 40)
        snapshot.mkdir(parents=True)
        for name, size in files.items():
            (snapshot / name).write_bytes(b"x" * size)
    rows = {row.name: row for row in arm_rows()}
    assert (rows["8bit"].place, rows["8bit"].bytes) == ("cache", 77)
    assert (rows["gguf-q8"].place, rows["gguf-q8"].bytes) == ("cache", 55)
    assert (rows["gguf-q4"].place, rows["gguf-q5"].place) == ("cache", "absent")
    assert describe(resolve("mlx:./not/there/at/all")).place == "missing"
    arm, problem = typed_arm("tinny-bf16")
    assert arm is None
    assert "tiny-bf16" in problem


def test_an_arm_that_cannot_run_here_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bakeoff.web.arms.availability", lambda _: "Core AI needs macOS 27")
    assert {row.reason for row in arm_rows()} == {"Core AI needs macOS 27"}


def prepared(folder: Path, samples: int, taken: int, read: int) -> None:
    folder.mkdir(parents=True)
    (folder / "samples.jsonl").write_text("{}\n" * samples, "utf-8")
    manifest = {"rows_read": read, "rows_taken": taken, "image_bytes": samples * 1000, "samples": samples}
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")


def test_only_what_can_be_fetched_is_asked_to_be_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAKEOFF_DATA", str(tmp_path / "data"))
    place = make_place(tmp_path / "bench", ("calibration", "docvqa", "mmmu", "gsm8k", "custom"))
    prepared(tmp_path / "data" / "docvqa", 50, 50, 5349)
    prepared(tmp_path / "data" / "mmmu", 847, 900, 900)  # all there is: 53 rows make no sample
    rows = {row.name: row for row in track_rows(place)}
    assert list(rows) == [name for name in TRACKS if name in rows]
    assert (rows["docvqa"].prepared, rows["docvqa"].full, rows["docvqa"].sample_bytes) == (50, 5349, 1000.0)
    assert rows["mmmu"].is_all
    tracks = ("calibration", "docvqa", "mmmu", "gsm8k")

    def missing(**fields: object) -> dict[str, int]:
        return missing_samples(msgspec.convert({"tracks": tracks, **fields}, Start), place)

    assert missing(limit=200) == {"docvqa": 200, "gsm8k": 200}
    assert missing(limit=50) == {"gsm8k": 50}
    assert missing() == {"gsm8k": 1319}
    assert missing(limits={"docvqa": 10**6, "gsm8k": 3}) == {"docvqa": 5349, "gsm8k": 3}


def test_an_estimate_comes_from_runs_of_this_machine_alone(place: Place) -> None:
    def past(name: str, rate: float, machine: tuple[object, ...], *tracks: str) -> RunRow:
        return RunRow(
            run=name,
            created=name,
            status="complete",
            tracks=tracks,
            machine=machine,
            rates={"a": rate},
            loads={"a": 3.0},
        )

    here = this_machine()
    asked = Start(tracks=("calibration",), limit=100)
    tracks = track_rows(place)
    elsewhere = past("1", 1.0, ("m1", 8, 1), "calibration")
    assert estimate(asked, ("a",), tracks, [elsewhere], {}).seconds is None
    other_track = past("2", 4.0, here, "docvqa")
    assert estimate(asked, ("a",), tracks, [elsewhere, other_track], {}).seconds == pytest.approx(28.0)
    same = [past(str(n), rate, here, "calibration") for n, rate in ((3, 2.0), (4, 10.0), (5, 5.0))]
    found = estimate(asked, ("a",), tracks, [elsewhere, other_track, *same], {})
    assert (found.answers, found.runs) == (100, 3)
    assert found.seconds == pytest.approx(23.0)
    assert estimate(Start(tracks=("calibration",)), ("a",), tracks, same, {}).answers == 265
    assert estimate(Start(tracks=("calibration",)), ("a",), tracks, same, {"calibration": 1000}).answers == 1000
    both = estimate(asked, ("a", "b"), tracks, same, {})
    assert (both.answers, both.seconds, both.unknown) == (200, None, ("b",))
