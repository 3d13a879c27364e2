"""Scores for a model card, read back by the hub's own client and held against the published fields."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml  # type: ignore[import-untyped]  # its stubs are no dependency of this project
from huggingface_hub import EvalResultEntry, parse_eval_result_entries

from bakeoff.errors import UsageProblem
from bakeoff.export import Wishes, write_hub
from bakeoff.export.hub import dataset_of
from bakeoff.records import Record, Sample
from bakeoff.report import build
from bakeoff.runs import RunDirectory
from bakeoff.scorers import SCORERS
from bakeoff.tracks import TRACKS, Protocol, images_then_text
from bakeoff.tracks.source import Source, Split
from tests_unit.report.synthetic import RunMaker, failed

Answered = Callable[..., list[Record]]
REVISION = "5503434ddd753f426f4b38109466949a1217c2bb"

FIELDS = {
    "dataset": {"id": str, "task_id": str, "revision": str},
    "source": {"url": str, "name": str, "user": str, "org": str},
}
"""What https://huggingface.co/docs/hub/eval-results names; the other fields are plain."""


@pytest.fixture
def on_hub(samples: tuple[Sample, ...], monkeypatch: pytest.MonkeyPatch) -> tuple[Sample, ...]:
    """The toy track as if its samples came from one dataset of the hub."""
    split = Split(label="t", repository="owner/toy", config="main", split="test", revision=REVISION, rows=len(samples))
    source = Source(
        splits=(split,),
        columns={},
        image_columns=(),
        default="full",
        choose=lambda rows, _: [*rows],
        build=lambda *_: None,
    )
    ask = {"render": images_then_text, "max_tokens": 64, "scorer": lambda _: SCORERS["exact"]}
    protocols = tuple(Protocol(name=name, **ask) for name in ("default", "short"))  # type: ignore[arg-type] # one dict
    monkeypatch.setitem(TRACKS, "toy", msgspec.structs.replace(TRACKS["toy"], source=source, protocols=protocols))
    return samples


@pytest.fixture
def whole(maker: RunMaker, on_hub: tuple[Sample, ...], answered: Answered) -> RunDirectory:
    """A complete run of the whole split."""
    del on_hub
    return maker.arm("tiny-bf16", answered(lambda i: i % 9 == 0)).write()


def _of_toy(run: RunDirectory, **changes: Any) -> RunDirectory:
    manifest = run.manifest()
    toy = msgspec.structs.replace(manifest.tracks["toy"], **changes)
    run.write_manifest(msgspec.structs.replace(manifest, tracks={"toy": toy}))
    return run


def _read(path: Path) -> EvalResultEntry:
    (entry,) = parse_eval_result_entries(yaml.safe_load(path.read_text("utf-8")))
    return entry


def test_the_client_of_the_hub_reads_what_was_measured(whole: RunDirectory, tmp_path: Path) -> None:
    wishes = Wishes(source="https://example.org/run")
    (path,) = write_hub(_of_toy(whole, revision=REVISION), tmp_path, wishes).paths
    assert path == tmp_path / "tiny-bf16" / ".eval_results" / "toy.yaml"
    entry = _read(path)
    accuracy = build(whole).arms["tiny-bf16"].tracks["toy"].metrics["accuracy"].value
    assert accuracy is not None
    assert entry.value == pytest.approx(100 * accuracy, abs=0.005)
    assert (entry.dataset_id, entry.task_id, entry.dataset_revision) == ("owner/toy", "main", REVISION)
    assert (entry.date, entry.source_url) == ("2026-11-30", "https://example.org/run")
    assert entry.verify_token is None


def test_the_file_holds_published_fields_only(whole: RunDirectory, tmp_path: Path) -> None:
    (path,) = write_hub(whole, tmp_path, Wishes(source="https://example.org/run")).paths
    (entry,) = yaml.safe_load(path.read_text("utf-8"))
    assert set(entry) <= {"dataset", "value", "date", "source", "notes"}
    assert isinstance(entry["value"], float)
    assert isinstance(entry["date"], str)
    for name, fields in FIELDS.items():
        assert {key: type(value) for key, value in entry[name].items()}.items() <= fields.items()


def test_notes_name_the_conditions(whole: RunDirectory, tmp_path: Path) -> None:
    notes = _read(write_hub(whole, tmp_path, Wishes()).paths[0]).notes or ""
    for told in ("accuracy in percent, n 120", "95% interval", "protocol default, 64 tokens", "temperature 0.0", "mlx"):
        assert told in notes
    assert "weights sha256" in notes
    assert "self-reported" in notes
    assert "SUBSET" not in notes


def test_without_an_address_there_is_no_source(whole: RunDirectory, tmp_path: Path) -> None:
    assert _read(write_hub(whole, tmp_path, Wishes()).paths[0]).source_url is None


def test_an_address_that_is_none_is_refused(whole: RunDirectory, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="--source here: write an address"):
        write_hub(whole, tmp_path, Wishes(source="here"))


def test_the_task_can_be_named(whole: RunDirectory, tmp_path: Path) -> None:
    assert _read(write_hub(whole, tmp_path, Wishes(tasks={"toy": "toy_hard"})).paths[0]).task_id == "toy_hard"


def test_a_subset_is_refused(whole: RunDirectory, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match=r"a subset, 120 of 5349 samples\. Run all of it, or .* --subset"):
        write_hub(_of_toy(whole, full=5349), tmp_path, Wishes())
    assert not list(tmp_path.rglob("*.yaml"))


def test_a_subset_that_is_wanted_is_named_first(whole: RunDirectory, tmp_path: Path) -> None:
    (path,) = write_hub(_of_toy(whole, full=5349), tmp_path, Wishes(allows_subset=True)).paths
    assert (_read(path).notes or "").startswith("SUBSET: 120 of 5349 samples;")


def test_another_protocol_is_refused(whole: RunDirectory, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="protocol short is not the default one, default"):
        write_hub(_of_toy(whole, protocol="short"), tmp_path, Wishes())


def test_another_version_of_the_track_is_refused(whole: RunDirectory, tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="made by version 0 of the track; today's is 1"):
        write_hub(_of_toy(whole, version="0"), tmp_path, Wishes())


def test_an_arm_with_errors_is_left_out_and_the_other_is_written(
    maker: RunMaker, on_hub: tuple[Sample, ...], answered: Answered, tmp_path: Path
) -> None:
    broken = [*answered()[:-1], failed(on_hub[-1])]
    run = maker.arm("whole", answered()).arm("broken", broken).write()
    written = write_hub(run, tmp_path, Wishes(allows_subset=True))
    assert [path.parts[-3] for path in written.paths] == ["whole"]
    (reason,) = written.refused
    assert reason.startswith("broken on toy: 1 of 120 samples have no answer. Go on with: pytest tests_bench --resume")


def test_samples_that_are_no_dataset_of_the_hub_are_refused(
    maker: RunMaker, answered: Answered, tmp_path: Path
) -> None:
    with pytest.raises(UsageProblem, match="not one dataset of the hub"):
        write_hub(maker.arm("one", answered()).write(), tmp_path, Wishes())


def test_the_same_files_give_the_same_bytes(whole: RunDirectory, tmp_path: Path) -> None:
    first, second = (write_hub(whole, tmp_path / name, Wishes()).paths[0] for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("name", [name for name, track in TRACKS.items() if track.source is not None])
def test_a_track_of_the_hub_names_its_dataset_or_is_several(name: str) -> None:
    dataset = dataset_of(TRACKS[name])
    assert dataset is None if name == "refcoco" else dataset is not None and "/" in dataset[0]
