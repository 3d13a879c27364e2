"""What stands beside the scores: constant answers, published values, notes of metrics, the highest of a column."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from bakeoff.records import Record, Sample
from bakeoff.report import build, summarize
from bakeoff.report.constant import baseline_table, floors
from bakeoff.report.grid import score_grid
from bakeoff.report.notes import flag_texts, metric_notes
from bakeoff.report.published import published_table, references
from bakeoff.report.reading import prepared_samples, read_run
from bakeoff.report.results import Results, TrackResult
from bakeoff.report.sections import beside_scores
from bakeoff.runs import RunDirectory, TrackManifest
from bakeoff.tracks import TRACKS, Published, samples_of
from bakeoff.tracks.calibration import scorer_of
from bakeoff.tracks.track import Protocol, images_then_text
from tests_unit.report.synthetic import TRACK, RunMaker

Answered = Callable[..., list[Record]]


@pytest.fixture
def benchmark_track(samples: tuple[Sample, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy track with what a benchmark has: a protocol, constant outputs, a published value."""
    del samples
    track = msgspec.structs.replace(
        TRACKS[TRACK],
        protocols=(Protocol(name="default", render=images_then_text, max_tokens=64, scorer=scorer_of),),
        constants=("A", "B"),
        published=(
            Published(
                metric="accuracy",
                value=0.805,
                model="Toy-3B",
                protocol="not published",
                source="somebody",
                date="2026-08-17",
            ),
            Published(
                metric="micro",
                value=0.5,
                model="Toy-3B",
                protocol="not published",
                source="somebody",
                date="2026-08-17",
                group="family:boxes",
                note="<b>other</b> boxes",
            ),
        ),
    )
    monkeypatch.setitem(TRACKS, TRACK, track)


@pytest.fixture
def run(benchmark_track: None, maker: RunMaker, answered: Answered) -> RunDirectory:
    del benchmark_track
    maker.arm("good", answered(lambda position: position % 6 == 0))
    maker.arm("poor", answered(lambda position: position % 3 != 1), backend="gguf")
    return maker.write(margin=2.0)


@pytest.fixture
def results(run: RunDirectory) -> Results:
    return summarize(read_run(run))


def test_every_constant_output_is_scored_on_the_samples_of_the_run(results: Results) -> None:
    found = results.baselines[TRACK]
    assert list(found) == ["A", "B"]
    assert found["A"]["accuracy"].value == 0.0
    assert found["B"]["accuracy"].value == pytest.approx(1 / 3)
    assert found["B"]["accuracy"].n == 120
    assert floors(results)[TRACK].output == "B"
    assert ("Toy", "“B”", "accuracy", "33.3", "120") in baseline_table(results)[1]


def test_samples_that_nobody_selected_are_not_in_the_floor(
    benchmark_track: None, maker: RunMaker, answered: Answered
) -> None:
    del benchmark_track
    chosen = [sample.id for sample in maker.samples[:9]]
    maker.arm("good", answered()[:9], selected={TRACK: chosen})
    found = summarize(read_run(maker.write())).baselines[TRACK]
    assert {metric.n for metrics in found.values() for metric in metrics.values()} == {9}


def test_no_floor_is_claimed_for_samples_that_are_not_here(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(TRACKS, TRACK, msgspec.structs.replace(TRACKS[TRACK], folder=lambda: tmp_path / "nowhere"))
    results = summarize(read_run(run))
    assert results.baselines == {}
    assert floors(results) == {}
    assert not baseline_table(results)[1]


def test_a_score_that_reaches_down_to_a_constant_answer_says_so(results: Results) -> None:
    rows = {row.arm: row.cells[0] for row in score_grid(results, beside_scores(results)).rows}
    assert [flag.text for flag in rows["poor"].flags] == ["not shown to beat a constant answer"]
    assert rows["good"].flags == ()


def test_the_highest_of_a_column_is_marked_when_all_have_its_samples(
    results: Results, benchmark_track: None, maker: RunMaker, answered: Answered
) -> None:
    del benchmark_track
    assert [row.cells[0].is_highest for row in score_grid(results).rows] == [True, False]
    maker.arm("short", answered()[:60])
    partial = summarize(read_run(maker.write()))
    assert [row.cells[0].is_highest for row in score_grid(partial).rows if row.arm == "short"] == [False]


def test_a_published_value_comes_with_source_date_protocol_and_what_differs(results: Results) -> None:
    found = references(results)[TRACK]
    assert (found.shown, found.model, found.is_same_metric) == ("80.5", "Toy-3B", True)
    heads, rows = published_table(results)
    told = [dict(zip(heads, row, strict=True)) for row in rows]
    assert told[0]["Source"] == "somebody; 2026-08-17"
    assert told[0]["Their protocol"] == "not published"
    assert told[0]["What differs"] == "nothing stated"
    assert told[1]["What differs"] == "<b>other</b> boxes"
    assert [row["Track"] for row in told] == ["Toy (accuracy)", "Toy, family boxes (micro)"]


def test_page_and_markdown_show_floor_published_value_and_notes_as_text(run: RunDirectory) -> None:
    build(run)
    page, markdown = ((run.path / name).read_text("utf-8") for name in ("report.html", "report.md"))
    for text in ("Constant answer", "always “B”", "Published", "80.5", "somebody", "highest"):
        assert text in page
        assert text in markdown
    assert "<b>other</b>" not in page
    assert "&lt;b&gt;other" in page
    assert "<b>" not in markdown.replace("\\<b\\>", "")


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (("mixture:refcoco/val", "mixture:refcocog/val"), "holds refcoco/val, refcocog/val, which mixes"),
        (("labels:Relative_Reflectance 2025-09",), "labels as of Relative_Reflectance 2025-09"),
        (("missing:web", "missing:mobile"), "no sample of web, mobile"),
        (("few_samples",), "few samples"),
        (("of a later version",), "of a later version"),
    ],
)
def test_flags_are_told_in_words(flags: tuple[str, ...], text: str) -> None:
    (found,) = flag_texts(flags)
    assert text in found


def test_a_note_names_the_arm_that_it_is_true_of(results: Results) -> None:
    arm = results.arms["poor"]
    metrics = {"accuracy": msgspec.structs.replace(arm.tracks[TRACK].metrics["accuracy"], flags=("mixture:x",))}
    tracks = {TRACK: msgspec.structs.replace(arm.tracks[TRACK], metrics=metrics)}
    changed = msgspec.structs.replace(
        results, arms={**results.arms, "poor": msgspec.structs.replace(arm, tracks=tracks)}
    )
    assert any("(poor)" in note for _, note in metric_notes(changed))


def test_what_is_to_be_said_of_several_tracks_is_said_once(results: Results) -> None:
    def noted(track: TrackResult, title: str, flag: str) -> TrackResult:
        metrics = {"accuracy": msgspec.structs.replace(track.metrics["accuracy"], flags=("few_samples", flag))}
        return msgspec.structs.replace(track, title=title, metrics=metrics)

    arm = results.arms["poor"]
    of_track = arm.tracks[TRACK]
    tracks = {"one": noted(of_track, "One", "labels:new"), "two": noted(of_track, "Two", "missing:web")}
    alone = msgspec.structs.replace(results, arms={"poor": msgspec.structs.replace(arm, tracks=tracks)})
    assert metric_notes(alone) == (
        ("One, Two", "few samples: the interval is rough"),
        ("One", "accuracy: labels as of new"),
        ("Two", "accuracy: no sample of web"),
    )


def test_samples_of_a_protocol_that_asks_more_than_once_are_found(
    maker: RunMaker, answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RefCOCO's protocol `all` asks each expression of a region under an id of its own."""
    every = TRACKS["refcoco"].protocol("all")
    lines = tuple(
        msgspec.structs.replace(sample, track="refcoco", options=("the left one", "the red one"))
        for sample in maker.samples[:2]
    )
    monkeypatch.setitem(TRACKS, "refcoco", msgspec.structs.replace(TRACKS["refcoco"], load=lambda: lines))
    maker.arm("arm", answered()[:1])
    run = read_run(maker.write())
    asked = TrackManifest(
        version="1",
        dataset="d",
        revision="1",
        protocol="all",
        max_tokens=64,
        full=2,
        prepared=2,
        samples_sha256="a" * 64,
    )
    manifest = msgspec.structs.replace(run.manifest, tracks={"refcoco": asked})
    found = prepared_samples(msgspec.structs.replace(run, manifest=manifest), "refcoco")
    assert list(found) == [sample.id for sample in samples_of(TRACKS["refcoco"], every)]
    assert len(found) == 4
    assert {sample.question for sample in found.values()} == {"the left one", "the red one"}
