from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import pytest

from bakeoff.errors import UsageProblem
from bakeoff.records import Record, Sample
from bakeoff.report.merging import merge_runs
from bakeoff.report.reading import read_run
from bakeoff.runs import RunDirectory
from bakeoff.validity.audit import Audit, write_audit
from bakeoff.validity.controls import Controls, TrackControl, write_controls
from bakeoff.validity.probes import Probe, write_probe
from bakeoff.validity.retold import RetoldArm, write_retold
from tests_unit.commands.conftest import Cli
from tests_unit.report.synthetic import FINGERPRINT, TRACK, RunMaker

Answered = Callable[..., list[Record]]
Two = Callable[..., tuple[Path, Path]]
NOTHING: Mapping[str, str] = MappingProxyType({})


@pytest.fixture
def two(tmp_path: Path, samples: tuple[Sample, ...], answered: Answered) -> Two:
    """Two runs with one arm each, the second one wrong on every tenth sample; arguments change the second arm."""

    def make(name: str = "two", record: Mapping[str, str] = NOTHING, **changes: Any) -> tuple[Path, Path]:
        first = RunMaker(tmp_path / "first", samples).arm("one", answered()).write(margin=10.0)
        records = [msgspec.structs.replace(r, **record) for r in answered(lambda i: i % 10 == 0)]
        second = RunMaker(tmp_path / "second", samples).arm(name, records, **changes).write(margin=10.0)
        return first.path, second.path

    return make


def test_arms_of_two_runs_stand_in_one_table_with_a_verdict(cli: Cli, two: Two) -> None:
    done = cli("compare", *two())
    assert done.exit_code == 0, done.exception
    words = " ".join(done.stdout.split())
    assert "two is worse than one on Toy" in words
    assert "Flipped 12 of 120: text differs 12." in words
    assert "badge: " in done.stdout


def test_arms_of_one_name_are_told_apart_by_their_run(cli: Cli, two: Two) -> None:
    words = " ".join(cli("compare", *two("one")).stdout.split())
    assert "one@second is worse than one@first on Toy" in words


def test_what_differs_between_the_runs_is_the_reason_for_no_verdict(cli: Cli, two: Two) -> None:
    other = {**FINGERPRINT, f"tracks.{TRACK}.samples_sha256": "b" * 64}
    done = cli("compare", *two(fingerprint=other))
    assert "no verdict for two against one on toy: samples_sha256 is bbbbbbbbbb for two" in done.stdout


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({"prompt_sha256": "q"}, "the text or images asked differ on 120 of 120 samples"),
        ({"scorer_version": "2"}, "the scorer or its version differ on 120 of 120 samples"),
    ],
)
def test_other_prompts_or_scorers_in_the_records_are_not_compared(
    cli: Cli, two: Two, record: dict[str, str], says: str
) -> None:
    assert says in cli("compare", *two(record=record)).stdout


def test_a_smaller_selection_is_compared_on_what_both_were_meant_to_answer(
    cli: Cli, tmp_path: Path, samples: tuple[Sample, ...], answered: Answered
) -> None:
    chosen = {TRACK: [sample.id for sample in samples[:90]]}
    first = RunMaker(tmp_path / "first", samples).arm("one", answered()).write(margin=20.0)
    second = RunMaker(tmp_path / "second", samples).arm("two", answered()[:90], selected=chosen).write()
    words = " ".join(cli("compare", first.path, second.path).stdout.split())
    assert "90 pairs" in words
    assert "score the same" in words


def test_reports_of_the_comparison_go_where_asked_and_the_runs_stay_as_they_are(
    cli: Cli, two: Two, tmp_path: Path
) -> None:
    paths = two()
    before = [sorted((p, p.read_bytes()) for p in path.rglob("*") if p.is_file()) for path in paths]
    done = cli("compare", *paths, "--margin", 3, "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert "margin ±3 pp" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert [sorted((p, p.read_bytes()) for p in path.rglob("*") if p.is_file()) for path in paths] == before
    assert read_run(RunDirectory(paths[0])).margin_pp == 10.0


def test_probes_go_with_their_arms(two: Two) -> None:
    paths = two("one")
    for path in paths:
        write_probe(RunDirectory(path), Probe(arm="one", model=path.name, backend="mlx"))
    merged = merge_runs([read_run(RunDirectory(path)) for path in paths])
    assert {arm: probe.model for arm, probe in merged.probes.items()} == {
        "one@first": "first",
        "one@second": "second",
    }
    assert all(arm == probe.arm for arm, probe in merged.probes.items())


def test_runs_of_one_name_in_two_folders_keep_their_arms_apart(
    cli: Cli, tmp_path: Path, samples: tuple[Sample, ...], answered: Answered
) -> None:
    paths = [RunMaker(tmp_path / place / "main", samples).arm("one", answered()).write().path for place in "ab"]
    assert "one@main-2" in cli("compare", *paths).stdout


@pytest.mark.parametrize(
    ("count", "says"), [(1, "one arm in all: nothing to compare"), (2, "is named twice; name different runs")]
)
def test_nothing_to_compare_is_said(cli: Cli, two: Two, count: int, says: str) -> None:
    done = cli("compare", *[two()[0]] * count)
    assert isinstance(done.exception, UsageProblem)
    assert says in str(done.exception)


def test_a_run_is_not_overwritten_with_the_reports(cli: Cli, two: Two) -> None:
    first, second = two()
    done = cli("compare", first, second, "-o", second)
    assert isinstance(done.exception, UsageProblem)


def test_audits_controls_and_second_looks_stay_with_their_arms_across_runs(two: Two) -> None:
    paths = two("one")
    for path, flips in zip(paths, (0, 9), strict=True):
        write_audit(RunDirectory(path), Audit(arm="one", n=24, concurrency=4, flips=flips))
        found = TrackControl(n=24, score=0.8, controls={}, unmoved={}, lift=flips / 24, error=0.01)
        write_controls(RunDirectory(path), Controls(arm="one", tracks={TRACK: found}))
        write_retold(RunDirectory(path), RetoldArm(arm="one", answers={}))
    merged = merge_runs([read_run(RunDirectory(path)) for path in paths])
    assert {arm: audit.flips for arm, audit in merged.audits.items()} == {"one@first": 0, "one@second": 9}
    assert {arm: audit.arm for arm, audit in merged.audits.items()} == {name: name for name in merged.arms}
    assert merged.controls["one@second"].tracks[TRACK].lift == 9 / 24
    assert merged.controls["one@first"].arm == "one@first"
    assert {arm: retold.arm for arm, retold in merged.retold.items()} == {name: name for name in merged.arms}
