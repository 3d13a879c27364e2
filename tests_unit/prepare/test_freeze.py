"""What preparing leaves on disk, and how little it reads for it."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.errors import UsageProblem
from bakeoff.prepare.manifest import read_manifest
from bakeoff.tracks import load_samples
from tests_unit.doubles.data_hub import COMMIT
from tests_unit.prepare.pages import REPOSITORY, ROWS, Bench, dataset_rows


def test_samples_are_in_the_order_of_the_choice_and_images_are_the_original_bytes(bench: Bench) -> None:
    bench.prepare()
    samples = load_samples(bench.folder)
    assert [sample.id for sample in samples] == ["pages_q5", "pages_q4", "pages_q2", "pages_q1", "pages_q0"]
    rows = dataset_rows()
    for sample in samples:
        row = rows[int(sample.id.removeprefix("pages_q"))]
        wanted = [row[column]["bytes"] for column in ("image", "image_2") if row[column] is not None]
        assert [Path(image.path).read_bytes() for image in sample.images] == wanted
        assert all((image.width, image.height) == (72, 48) for image in sample.images)


def test_a_file_is_named_after_its_content_with_its_true_extension_and_stored_once(bench: Bench) -> None:
    bench.prepare()
    stored = {path.name: path.read_bytes() for path in (bench.folder / "images").iterdir()}
    for name, content in stored.items():
        kind = "png" if content.startswith(b"\x89PNG") else "jpg"
        assert name == f"{hashlib.sha256(content).hexdigest()[:16]}.{kind}"
    pages, second = 3, 2
    assert len(stored) == pages + second
    assert {name.rpartition(".")[2] for name in stored} == {"png", "jpg"}


def test_the_manifest_tells_what_was_read_and_what_was_left_out(bench: Bench) -> None:
    manifest = bench.prepare()
    assert manifest is not None
    assert manifest == read_manifest(bench.folder)
    (origin,) = manifest.origins
    assert (origin.repository, origin.revision, origin.commit) == (REPOSITORY, "f" * 40, "f" * 40)
    assert (origin.rows, origin.rows_taken) == (ROWS, 6)
    assert (manifest.size, manifest.rows_read, manifest.rows_taken, manifest.samples) == ("subset", ROWS, 6, 5)
    assert manifest.left_out == {"left out by the track's rule": 1}
    assert manifest.left_out_rows == ("val[3]: left out by the track's rule",)
    assert manifest.samples_sha256 == hashlib.sha256((bench.folder / "samples.jsonl").read_bytes()).hexdigest()
    assert (manifest.images, manifest.fetched_bytes) == (5, bench.hub.body_bytes - _listing_bytes(bench))


def test_groups_that_are_not_what_they_were_are_named(bench: Bench) -> None:
    bench.census = {"pictures": {"1": 2, "2": 15}}  # three of the five have one picture
    manifest = bench.prepare()
    assert manifest is not None
    assert manifest.unexpected == ("pages: pictures 1 has 3 samples, expected 2",)
    assert "warning: pages: pictures 1 has 3 samples, expected 2: the dataset changed" in "\n".join(bench.said)


def test_a_part_of_the_dataset_that_is_as_it_was_is_not_warned_of(bench: Bench) -> None:
    bench.census = {"pictures": {"1": 45, "2": 15}}
    manifest = bench.prepare()
    assert manifest is not None
    assert manifest.unexpected == ()
    assert "warning" not in "\n".join(bench.said)


def test_a_subset_costs_a_small_part_of_the_shards(bench: Bench) -> None:
    manifest = bench.prepare()
    assert manifest is not None
    shards = sum(path.stat().st_size for path in (bench.hub.root / REPOSITORY / "data").glob("validation-*"))
    assert manifest.shard_bytes == shards
    footers = 2 * 65_536
    assert manifest.fetched_bytes - footers < shards / 4
    assert any("6 of 60 rows; images of 6 rows are in 1 row group" in line for line in bench.said)


def test_shards_that_are_not_of_the_split_are_not_touched(bench: Bench) -> None:
    bench.prepare()
    assert not any("data/test" in request for request in bench.hub.requests)


def test_what_is_prepared_from_a_commit_is_not_asked_for_again(bench: Bench) -> None:
    manifest = bench.prepare()
    before = bench.files()
    bench.hub.forget()
    assert bench.prepare() == manifest
    assert bench.hub.requests == []
    assert "up to date" in bench.said[-1]
    assert "1 left out: left out by the track's rule" in bench.said[-1]
    assert bench.files() == before


@pytest.mark.parametrize("spoil", ["samples.jsonl", "manifest.json", "images"])
def test_what_was_changed_by_hand_is_prepared_again(bench: Bench, spoil: str) -> None:
    bench.prepare()
    before = bench.files()
    victim = bench.folder / spoil
    if victim.is_dir():
        victim = next(victim.iterdir())
    victim.write_bytes(b"{}")
    bench.prepare()
    assert "up to date" not in bench.said[-1]
    assert bench.files().keys() == before.keys()
    assert all(bench.files()[name] == before[name] for name in before if name != "manifest.json")


def test_a_branch_is_asked_for_again_and_costs_no_image(bench: Bench) -> None:
    bench.prepare(revisions=["pages=main"])
    before = bench.files()
    manifest = bench.prepare(revisions=["pages=main"])
    assert manifest is not None
    assert manifest.origins[0].commit == COMMIT
    assert any("images of 0 rows are in 0 row groups, 0 B" in line for line in bench.said)
    after = bench.files()
    assert {name: after[name] for name in after if name != "manifest.json"} == {
        name: before[name] for name in before if name != "manifest.json"
    }


def test_a_larger_size_reads_only_what_is_new(bench: Bench) -> None:
    bench.prepare("pages=10")
    bench.hub.forget()
    bench.prepare("pages=20")
    assert any("20 of 60 rows; images of 10 rows are in 1 row group" in line for line in bench.said)
    assert len(load_samples(bench.folder)) == 10 - 1 + 10


def test_a_stored_image_that_was_changed_is_fetched_again(bench: Bench) -> None:
    bench.prepare()
    before = bench.files()
    victim = next((bench.folder / "images").glob("*.jpg"))
    victim.write_bytes(b"changed")
    bench.prepare()
    assert any("images of 2 rows are in 1 row group" in line for line in bench.said)
    assert bench.files()[f"images/{victim.name}"] == before[f"images/{victim.name}"]


def test_less_does_not_replace_more_without_consent(bench: Bench) -> None:
    bench.prepare("pages=20")
    before = bench.files()
    with pytest.raises(UsageProblem, match=r"holds 20 rows, more than the 6 .*bakeoff prepare pages=subset --yes"):
        bench.prepare("pages=subset")
    assert bench.files() == before


def test_what_to_type_next_asks_for_the_same_revision(bench: Bench) -> None:
    revision = f"pages:{REPOSITORY}={'e' * 40}"
    bench.prepare("pages=20", revisions=[revision])
    with pytest.raises(UsageProblem, match=f"bakeoff prepare pages=subset --revision {revision} --yes"):
        bench.prepare("pages=subset", revisions=[revision])


def test_less_replaces_more_with_consent_and_takes_stale_images_away(bench: Bench) -> None:
    bench.prepare("pages=20")
    foreign = bench.folder / "images" / "notes.txt"
    foreign.write_text("mine", "utf-8")
    bench.prepare("pages=subset", yes=True)
    used = {Path(image.path).name for sample in load_samples(bench.folder) for image in sample.images}
    assert {path.name for path in (bench.folder / "images").iterdir()} == used | {"notes.txt"}


def test_samples_without_a_manifest_count_as_prepared(bench: Bench) -> None:
    bench.prepare("pages=20")
    (bench.folder / "manifest.json").unlink()
    with pytest.raises(UsageProblem, match="holds 19 rows"):
        bench.prepare("pages=2")


def test_a_track_without_images_needs_none(bench: Bench) -> None:
    bench.change(image_columns=())
    manifest = bench.prepare("pages=full")
    assert manifest is not None
    assert (manifest.samples, manifest.images) == (ROWS - 1, 0)


def test_lines_of_the_ledger_that_are_torn_are_fetched_again(bench: Bench) -> None:
    bench.prepare(revisions=["pages=main"])
    ledger = bench.folder / "images.jsonl"
    text = ledger.read_text("utf-8")
    ledger.write_text(text[:-20], "utf-8")
    bench.prepare(revisions=["pages=main"])
    assert any("images of 1 row are in 1 row group" in line for line in bench.said)
    assert sorted(ledger.read_text("utf-8").splitlines()) == sorted(text.splitlines())


def test_a_row_that_names_an_image_and_holds_none_is_not_dropped_silently(
    bench_of: Callable[..., Bench],
) -> None:
    rows = dataset_rows()
    rows[1]["image"] = {"bytes": None, "path": "page0.png"}
    bench = bench_of(rows)
    with pytest.raises(UsageProblem, match=r"1 row with an image that cannot be used:\n  val\[1\]: the row names"):
        bench.prepare()


def _listing_bytes(bench: Bench) -> int:
    folder = bench.hub.root / REPOSITORY
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    siblings = [{"rfilename": p.relative_to(folder).as_posix(), "size": p.stat().st_size} for p in files]
    return len(json.dumps({"id": REPOSITORY, "sha": COMMIT, "siblings": siblings}).encode())
