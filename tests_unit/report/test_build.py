"""`build` from run directories as they come: whole, partial, empty, broken; and what it writes."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from bakeoff.errors import UsageProblem
from bakeoff.records import Record, Session
from bakeoff.report import build, terminal_table
from bakeoff.tracks import TRACKS
from tests_unit.report.synthetic import TRACK, RunMaker, failed, record

Answered = Callable[..., list[Record]]
FILES = ("results.json", "report.md", "report.html")

CONTRACT = {
    "": ("schema", "run", "created", "environment", "options", "arms", "comparisons", "validity", "gates"),
    "arm": ("model", "backend", "identity", "wall_s", "samples_per_s", "peak_memory_bytes", "tracks"),
    "track": (
        *("n", "selected", "full", "complete", "errors", "skipped", "truncated", "unparsed", "metrics", "groups"),
    ),
    "metric": ("value", "ci95", "n", "primary"),
    "group": ("n", "value", "ci95"),
    "comparison": (
        *("a", "b", "track", "metric", "n", "diff_pp", "ci95_pp", "p", "test", "verdict", "beyond_margin"),
        *("margin_pp", "sentence"),
    ),
    "validity": ("parity", "truncation", "budget", "mode", "identity", "audit", "badge", "reasons"),
    "gate": ("gate", "outcome", "detail"),
}


def _results(run: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run.path / "results.json").read_text("utf-8"))
    return found


def test_results_json_has_every_key_of_the_contract(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("mlx-bf16", answered(lambda i: i % 9 == 0)).arm("gguf-bf16", answered(), backend="gguf").write()
    (run.path / "gates.json").write_text('[{"gate": "--min-score toy=0.5", "outcome": "pass", "detail": "0.9"}]')
    build(run)
    results = _results(run)
    arm = results["arms"]["mlx-bf16"]
    track = arm["tracks"][TRACK]
    found = {
        "": results,
        "arm": arm,
        "track": track,
        "metric": track["metrics"]["accuracy"],
        "group": track["groups"]["family"]["boxes"],
        "comparison": results["comparisons"][0],
        "validity": results["validity"],
        "gate": results["gates"][0],
    }
    for place, keys in CONTRACT.items():
        assert set(keys) <= found[place].keys(), place
    assert results["schema"] == 1
    assert track["n"] == track["selected"] == track["full"] == 120
    assert track["complete"] is True
    assert [name for name, metric in track["metrics"].items() if metric["primary"]] == ["accuracy"]


def test_same_files_give_the_same_bytes(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("mlx-bf16", answered(lambda i: i % 5 == 0)).arm("gguf-bf16", answered(), backend="gguf").write()
    build(run)
    first = [(run.path / name).read_bytes() for name in FILES]
    build(run)
    assert [(run.path / name).read_bytes() for name in FILES] == first


def test_sentences_are_the_same_word_for_word_everywhere(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered(lambda i: i % 2 == 0)).arm("two", answered(), backend="gguf").write()
    results = build(run)
    sentence = results.comparisons[0].sentence
    assert sentence == "two is better than one on Toy by at least " + sentence.rpartition("at least ")[2]
    assert results.headline == sentence == _results(run)["headline"]
    assert sentence in " ".join(terminal_table(results).split())
    assert sentence in (run.path / "report.html").read_text("utf-8")
    assert sentence in (run.path / "report.md").read_text("utf-8")


def test_a_partial_run_is_named_one_and_gets_no_verdict(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).arm("two", answered()[:60], backend="gguf").write()
    results = build(run)
    track = results.arms["two"].tracks[TRACK]
    assert (track.n, track.selected, track.complete) == (60, 120, False)
    assert results.state == "partial: 180 of 240 samples answered"
    comparison = results.comparisons[0]
    assert (comparison.verdict, comparison.ci95_pp, comparison.n) == ("undecided", None, 60)
    assert "only 60 samples in common to both" in comparison.sentence
    assert "60 of 120 answered" in (run.path / "report.html").read_text("utf-8")


def test_an_arm_without_a_journal_has_no_numbers(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).arm("two", None, backend="gguf").write()
    results = build(run)
    arm = results.arms["two"]
    assert (arm.wall_s, arm.samples_per_s, arm.peak_memory_bytes) == (None, None, None)
    assert arm.tracks[TRACK].metrics == {}
    assert "two has no answer yet" in results.comparisons[0].sentence
    row = next(line for line in terminal_table(results).splitlines() if line.startswith("two"))
    assert "–" in row
    assert "0.0" not in row


def test_errors_are_counted_and_never_scored(maker: RunMaker, answered: Answered) -> None:
    whole = answered()
    run = maker.arm("one", [failed(sample) for sample in maker.samples]).arm("two", whole, backend="gguf").write()
    results = build(run)
    track = results.arms["one"].tracks[TRACK]
    assert (track.n, track.errors, track.complete, track.metrics) == (0, 120, False, {})
    assert results.state == "finished with errors: 120 of 240 samples have no answer"
    page = (run.path / "report.html").read_text("utf-8")
    assert "the runtime died" in page
    assert "BackendDied" in page


def test_the_last_record_of_a_sample_wins(maker: RunMaker, answered: Answered) -> None:
    again = record(maker.samples[0], right=True, at=90.0, attempt=2)
    run = maker.arm("one", [failed(maker.samples[0]), *answered()[1:], again]).write()
    track = build(run).arms["one"].tracks[TRACK]
    assert (track.n, track.errors, track.retried, track.complete) == (120, 0, 1, True)


def test_records_outside_the_selection_do_not_count(maker: RunMaker, answered: Answered) -> None:
    chosen = [sample.id for sample in maker.samples[:30]]
    track = build(maker.arm("one", answered(), selected={TRACK: chosen}).write()).arms["one"].tracks[TRACK]
    assert (track.n, track.selected, track.complete) == (30, 30, True)


def test_without_a_selection_file_nothing_is_called_complete(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).write()
    (run.path / "selection.json").unlink()
    results = build(run)
    track = results.arms["one"].tracks[TRACK]
    assert (track.n, track.selected, track.complete) == (120, None, False)
    assert results.state == "selection not recorded"


def test_a_track_of_another_version_is_named_without_metrics(
    maker: RunMaker, answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = maker.arm("one", answered()).arm("two", answered(), backend="gguf").write()
    monkeypatch.delitem(TRACKS, TRACK)
    results = build(run)
    track = results.arms["one"].tracks[TRACK]
    assert (track.title, track.is_known, track.n, track.metrics) == (TRACK, False, 120, {})
    assert results.comparisons == ()
    assert "this version does not know the track" in (run.path / "report.html").read_text("utf-8")


def test_a_run_without_arms_is_reported(maker: RunMaker) -> None:
    run = maker.write()
    results = build(run)
    assert results.headline == "This run has no arm."
    assert results.headline in terminal_table(results)


def test_a_family_that_is_missing_makes_the_macro_absent_and_the_mean_is_shown(
    maker: RunMaker, answered: Answered
) -> None:
    chosen = [sample.id for sample in maker.samples if sample.groups["family"] != "words"]
    one = [r for r in answered(lambda i: i % 3 == 0) if r.groups["family"] != "words"]
    run = maker.arm("one", one, selected={TRACK: chosen}).write()
    results = build(run)
    assert results.arms["one"].tracks[TRACK].metrics["accuracy"].value is None
    assert "accuracy needs all its groups" in (run.path / "report.html").read_text("utf-8")
    assert "Toy micro" in terminal_table(results)


def test_few_samples_are_counted_and_get_no_interval(maker: RunMaker, answered: Answered) -> None:
    chosen = [sample.id for sample in maker.samples if sample.groups["family"] == "words"][:20]
    run = maker.arm("one", answered(lambda i: i in {2, 5, 8}), selected={TRACK: chosen}).write()
    build(run)
    page = (run.path / "report.html").read_text("utf-8")
    assert "17 of 20" in page
    assert "too few for an interval" in page


def test_wall_time_is_that_of_the_sessions(maker: RunMaker, answered: Answered) -> None:
    start = Session(event="start", at="2026-11-30T08:59:00+00:00", loaded_s=2.5)
    arm = build(maker.arm("one", [start, *answered()]).write()).arms["one"]
    assert arm.wall_s == pytest.approx(119 * 0.5 + 0.6)
    assert arm.samples_per_s == pytest.approx(120 / (119 * 0.5 + 0.6))
    assert (arm.load_s, arm.sessions, arm.peak_memory_bytes) == (2.5, 1, 3_600_000_000)


def test_unreadable_gates_are_a_usage_problem_that_names_the_file(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("one", answered()).write()
    (run.path / "gates.json").write_text('[{"gate": 3}]')
    with pytest.raises(UsageProblem, match=r"gates\.json"):
        build(run)


def test_records_that_give_no_number_are_a_usage_problem(maker: RunMaker, answered: Answered) -> None:
    odd = [msgspec.structs.replace(found, groups={"family": "nobody"}) for found in answered()]
    with pytest.raises(UsageProblem, match="arm one on toy"):
        build(maker.arm("one", odd).write())


def test_the_method_tells_of_the_tracks_that_were_asked_and_not_of_all_that_are_prepared(
    maker: RunMaker, answered: Answered
) -> None:
    run = maker.arm("a", answered()).write()
    manifest = run.manifest()
    run.write_manifest(msgspec.structs.replace(manifest, tracks={**manifest.tracks, "blink": manifest.tracks[TRACK]}))
    build(run)
    page = (run.path / "report.html").read_text("utf-8")
    assert f"<h3>Track {TRACK}</h3>" in page
    assert "<h3>Track blink</h3>" not in page
