"""The benchmarks of the suite: limits decide as they say, and the synthetic data is what the tracks expect."""

import importlib
from pathlib import Path

import pytest

from bakeoff.engine import Answer
from bakeoff.evaluate import Asking, TrackPlan, prompt_of, record_of
from bakeoff.records import Output, Sampling
from bakeoff.tracks import TRACKS, load_samples
from bakeoff.tracks.baselines import oracle_output
from tools.bench.__main__ import BENCHMARKS, main
from tools.bench.figures import Figure, tell
from tools.bench.workload import ALL, sizes, write_data


@pytest.mark.parametrize(
    ("value", "is_at_least", "is_kept"), [(1.0, False, True), (3.0, False, False), (3.0, True, True)]
)
def test_a_figure_is_held_against_its_limit(value: float, is_at_least: bool, is_kept: bool) -> None:  # noqa: FBT001 -- from the table above
    figure = Figure(what="x", value=value, unit="s", limit=2.0, is_at_least=is_at_least)
    assert figure.is_kept == is_kept
    assert ("missed" in figure.line) != is_kept


def test_the_figure_that_stands_for_all_comes_last(capsys: pytest.CaptureFixture[str]) -> None:
    missed = Figure(what="x", value=3.0, unit="s", limit=2.0)
    told = Figure(what="x", value=3.0, unit="s", limit=2.0, is_told_only=True)
    assert not tell([missed], "overhead: 3 s")
    assert tell([told], "overhead: 3 s")
    assert capsys.readouterr().out.splitlines()[-1] == "overhead: 3 s"


def test_a_missed_limit_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[bool] = []

    def benchmark(*, smoke: bool) -> bool:
        asked.append(smoke)
        return smoke

    monkeypatch.setitem(BENCHMARKS, "loop", benchmark)
    assert main(["loop"]) == 1
    assert "limits missed: loop" in capsys.readouterr().out
    assert main(["loop", "--smoke"]) == 0
    assert asked == [False, True]


def test_a_name_that_is_none_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing"]) == 2
    assert "overhead" in capsys.readouterr().err


def test_all_tracks_together_have_the_size_of_the_real_ones() -> None:
    assert sum(sizes(ALL).values()) == ALL
    assert sum(sizes(1000).values()) == 1000


def test_synthetic_samples_are_answered_scored_and_averaged_by_their_real_tracks(tmp_path: Path) -> None:
    write_data(tmp_path, 200)
    asking = Asking(sampling=Sampling(), seed=0, thinking="default")
    for name, count in sizes(200).items():
        track, samples = TRACKS[name], load_samples(tmp_path / name)
        protocol = track.protocols[0]
        plan = TrackPlan(track=track, protocol=protocol, max_tokens=8, samples=samples, prepared=len(samples))
        records = [
            record_of(
                sample,
                plan,
                prompt_of(sample, plan, asking),
                Answer(output=Output(text=oracle_output(sample, protocol), finish_reason="stop"), attempts=1),
                attempts_before=0,
                started_at="",
            )
            for sample in samples
        ]
        assert len(records) == count
        assert all(record.correct for record in records), name
        assert any(metric.primary for metric in track.metrics(records).values())


@pytest.mark.parametrize("runtime", ["mlx", "gguf"])
def test_the_reuse_benchmarks_measure_a_ratio(runtime: str) -> None:
    try:
        module = importlib.import_module(f"tools.bench.reuse_{runtime}")
    except ModuleNotFoundError:
        pytest.skip(f"tools/bench/reuse_{runtime}.py is not there")
    assert callable(module.measure)
