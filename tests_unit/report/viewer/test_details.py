"""What the viewer is told of one sample, and of a whole run."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.records import Record
from bakeoff.report import build
from bakeoff.report.reading import read_run
from bakeoff.report.tables import first_pairs, forests
from bakeoff.report.viewer import write_viewer
from bakeoff.runs import RunDirectory
from bakeoff.tracks import TRACKS
from tests_unit.report.synthetic import TRACK, RunMaker, failed
from tests_unit.report.viewer.data import asked, items_of, read_data, with_protocol

Answered = Callable[..., list[Record]]


def _items(run: RunDirectory) -> dict[str, Any]:
    write_viewer(run.path / "samples", read_run(run))
    folder = run.path / "samples" / TRACK
    return dict(zip(read_data(folder / "index.js")["ids"], items_of(folder), strict=True))


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_sample_tells_question_target_answers_and_where_they_point(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered(lambda i: i < 3)).arm("two", answered())
    items = _items(maker.write())
    box = items["toy-boxes-000"]
    assert (box["question"], box["target"], box["box"]) == (
        "Where is the rectangle?",
        "x 4 to 28, y 4 to 20 px",
        [[4.0, 4.0, 24.0, 16.0], None],
    )
    assert "where" in box["answers"][0]
    assert box["answers"][0]["output"][1] == box["answers"][0]["answer"]
    assert box["answers"][1]["line"].startswith("score 1.00, center 1.00, iou 0.99, rule box_iou, 11 tokens")
    assert box["answers"][1]["cells"] == [
        "–",
        "–",
        "–",
        "11",
        "–",
        "–",
        "100\u202fms",
        "–",
        "500\u202fms",
        "600\u202fms",
    ]
    choice = items["toy-choices-000"]
    assert (choice["target"], choice["box"]) == ("B: green", None)
    assert choice["answers"][0]["output"] == ["It is ", "A", "."]


def test_the_pair_it_opens_with_is_the_first_row_of_each_track(maker: RunMaker, answered: Answered) -> None:
    maker.arm("tiny-bf16", answered(lambda i: i < 3)).arm("tiny-4bit", answered())
    run = maker.arm("tiny-gguf-bf16", answered(), backend="gguf").write()
    results = build(run)
    (track,) = read_data(run.path / "samples" / "index.js")["tracks"]
    first = forests(results, 2.0)[0].groups[0][1][0]
    arms = list(results.arms)
    assert [arms[number] for number in track["pair"]] == [first.a, first.b] == ["tiny-gguf-bf16", "tiny-bf16"]


def test_a_first_row_with_nothing_in_common_is_passed_over(maker: RunMaker, answered: Answered) -> None:
    maker.arm("tiny-bf16", answered()).arm("tiny-gguf-bf16", [], backend="gguf")
    assert first_pairs(build(maker.arm("tiny-4bit", answered()).write())) == {TRACK: ("tiny-4bit", "tiny-bf16")}


def test_one_arm_has_no_pair(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).write()
    build(run)
    (track,) = read_data(run.path / "samples" / "index.js")["tracks"]
    assert "pair" not in track


def test_the_prompt_is_shown_only_when_it_is_the_one_that_was_sent(
    maker: RunMaker, answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_protocol(monkeypatch)
    sent = [asked(r, s) for r, s in zip(answered(), maker.samples, strict=True)]
    maker.arm("one", sent).arm("two", answered()).arm("three", sent)
    prompts = _items(maker.write())["toy-words-000"]["prompts"]
    assert [prompt["arms"] for prompt in prompts] == [[0, 2], [1]]
    assert prompts[0]["turns"] == [["user", [1, "What does it say?"]]]
    assert prompts[1]["note"].startswith("not shown")
    assert "turns" not in prompts[1]


def test_what_was_changed_in_an_image_stands_beside_the_answer(maker: RunMaker, answered: Answered) -> None:
    told = [msgspec.structs.replace(r, image_changes=("transparency on white",)) for r in answered()]
    first = _items(maker.arm("one", told).arm("two", answered()).write())["toy-words-000"]["answers"]
    assert [", image: transparency on white" in answer["line"] for answer in first] == [True, False]


def test_a_protocol_that_is_not_known_is_said(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered(protocol="of-tomorrow"))
    prompt = _items(maker.write())["toy-words-000"]["prompts"][0]
    assert (prompt["protocol"], prompt["note"]) == ("of-tomorrow", "not shown: this version does not know the protocol")


def test_an_error_has_its_message_and_no_score(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", [failed(maker.samples[0], "the runtime died"), *answered()[1:]])
    found = _items(maker.write())[maker.samples[0].id]["answers"][0]
    assert found == {"error": "BackendDied: the runtime died", "line": ""}


def test_an_arm_without_a_record_has_none(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", answered()).arm("two", answered()[:5]).arm("three", None)
    assert [found is None for found in _items(maker.write())[maker.samples[9].id]["answers"]] == [False, True, True]


def test_what_cannot_be_seen_is_spelled_out(maker: RunMaker, answered: Answered) -> None:
    records = answered()
    records[0] = msgspec.structs.replace(records[0], output="a\x00\u202eb\ud800\u2028", answer=None)
    maker.arm("one", records)
    found = _items(maker.write())[records[0].sample_id]["answers"][0]
    assert found["output"] == ["a␀⟨U+202E⟩b⟨U+D800⟩⟨U+2028⟩", "", ""]


def test_without_prepared_samples_the_outputs_stay(
    maker: RunMaker, answered: Answered, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = maker.arm("one", answered()).write()
    elsewhere = msgspec.structs.replace(TRACKS[TRACK], folder=lambda: tmp_path / "nothing")
    monkeypatch.setitem(TRACKS, TRACK, elsewhere)
    found = _items(run)["toy-boxes-000"]
    assert (found["question"], found["target"]) == (None, None)
    assert "not prepared here" in found["note"]
    assert "not prepared here" in found["pictures"][0]["missing"]
    assert "bbox_2d" in found["answers"][0]["output"][0]


def test_a_sample_that_is_no_longer_what_was_asked_is_left_out(maker: RunMaker, answered: Answered) -> None:
    maker.arm("one", [msgspec.structs.replace(r, image_sha256=("e" * 64,)) for r in answered()])
    found = _items(maker.write())["toy-words-000"]
    assert (found["question"], found["target"]) == (None, None)
    assert "not the one that was asked" in found["note"]


def test_images_that_are_gone_leave_the_text(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).write()
    shutil.rmtree(TRACKS[TRACK].folder() / "images")
    found = _items(run)["toy-words-000"]
    assert found["question"] == "What does it say?"
    assert found["pictures"][0]["missing"] == "image not found at ../../data/toy/images/000.png"


def test_the_same_files_give_the_same_bytes(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered(lambda i: i % 4 == 0)).arm("two", answered()).write()
    build(run)
    first = _bytes(run.path / "samples")
    build(run)
    assert _bytes(run.path / "samples") == first
    shutil.rmtree(run.path / "samples")
    build(run)
    assert _bytes(run.path / "samples") == first
    assert len(first) == 3 + 40


def test_the_run_file_names_arms_tracks_causes_and_images(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).arm("two", answered(), backend="gguf").write()
    build(run)
    found = read_data(run.path / "samples" / "index.js")
    assert [(arm["name"], arm["mark"]) for arm in found["arms"]] == [("one", "mlx"), ("two", "gguf")]
    assert found["tracks"] == [{"name": TRACK, "title": "Toy", "folder": TRACK, "n": 120, "pair": [1, 0]}]
    assert found["images"]["text"] == "40 of 40 images copied beside the page"
    assert found["causes"][0][0] == "prompt differs"


def test_a_run_without_a_record_has_an_index_and_nothing_else(maker: RunMaker) -> None:
    run = maker.arm("one", None).write()
    build(run)
    assert [path.name for path in (run.path / "samples").rglob("*")] == ["index.js"]
    assert read_data(run.path / "samples" / "index.js")["tracks"] == []
