"""Whatever goes wrong on the way: the data of before stays usable, the message helps, and a rerun goes on."""

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import filelock
import msgspec
import pyarrow as pa
import pytest
from huggingface_hub import constants

from bakeoff import files
from bakeoff.errors import DataMissing, UsageProblem
from bakeoff.prepare import Link, images
from bakeoff.prepare.problems import NothingWorks
from bakeoff.tracks import load_samples
from tests_unit.doubles.data_hub import COMMIT, ERRORS
from tests_unit.prepare.pages import REPOSITORY, ROWS, SCHEMA, Bench, dataset_rows, picture

WANTED = "pages=30"


@pytest.fixture
def ready(bench: Bench) -> Bench:
    """A bench with 4 rows prepared, about to take 30."""
    bench.prepare("pages=4")
    bench.hub.forget()
    return bench


def requests_of_a_preparation(bench: Bench) -> int:
    count = len(bench.hub.requests)
    bench.hub.forget()
    return count


def assert_usable(bench: Bench, before: dict[str, bytes]) -> None:
    now = bench.files()
    assert {name: now[name] for name in before if name != "images.jsonl"} == {
        name: before[name] for name in before if name != "images.jsonl"
    }
    load_samples.cache_clear()
    assert all(Path(i.path).is_file() for sample in load_samples(bench.folder) for i in sample.images)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("404", "the hub has no dataset org/Pages, or hides it from this account"),
        ("gone", "has no revision .*--revision TRACK=SHA"),
        ("401", "refuses the access token .*HF_TOKEN"),
        ("gated", "org/Pages is gated: accept its terms at .*HF_TOKEN"),
        ("403", "forbids reading org/Pages"),
        ("400", "the hub answers 400 for org/Pages@"),
        ("no entry", "lists a file that the hub does not have"),
    ],
)
def test_a_refusal_at_any_request_keeps_what_was_there_and_a_rerun_goes_on(
    ready: Bench, fault: str, message: str
) -> None:
    before = ready.files()
    number = 0
    while (problem := problem_at(ready, number, fault)) is not None:
        assert re.search(message, str(problem))
        assert_usable(ready, before)
        number += 1
    assert number == len(ready.hub.requests)
    assert number >= 7, "listing, card, two footers, rows and images are requests of their own"
    load_samples.cache_clear()
    assert len(load_samples(ready.folder)) == 29


def problem_at(bench: Bench, number: int, fault: str) -> DataMissing | None:
    """Prepare while one request meets a fault, and return what comes of it."""
    bench.hub.forget()
    bench.hub.faults[number] = fault
    try:
        bench.prepare(WANTED)
    except DataMissing as problem:
        return problem
    return None


@pytest.mark.parametrize(
    ("fault", "note"),
    [
        ("500", "the hub answers 500; trying again (attempt 2 of 6, in 1 s)"),
        ("429", "the hub answers 429; trying again (attempt 2 of 6, in 7 s)"),
        ("cut", "the connection broke"),
    ],
)
def test_a_passing_failure_at_any_request_is_tried_again_and_told(bench: Bench, fault: str, note: str) -> None:
    bench.prepare(WANTED)
    wanted = bench.files()["samples.jsonl"]
    for number in range(requests_of_a_preparation(bench)):
        other = Bench(bench.hub, bench.folder.with_name(f"{fault}-{number}"))
        bench.hub.forget()
        bench.hub.faults[number] = fault
        other.prepare(WANTED)
        assert other.files()["samples.jsonl"] == wanted
        assert any(note in line for line in other.said)
        assert len(other.waited) == 1


def test_what_came_before_a_cut_is_not_fetched_again(bench: Bench) -> None:
    bench.prepare(WANTED)
    total = requests_of_a_preparation(bench)
    other = Bench(bench.hub, bench.folder.with_name("other"))
    bench.hub.faults[total - 1] = "cut"
    whole = other.prepare(WANTED)
    assert bench.link is not None
    assert whole is not None
    assert whole.fetched_bytes == bench.link.fetched


def test_a_stall_is_begun_anew_without_xet_and_says_so(bench: Bench) -> None:
    bench.hub.faults[6] = "stall"
    bench.prepare(WANTED, link=bench.new_link(stall_s=0.3))
    assert any("no byte for 0.3 s; trying again without xet over a new connection" in line for line in bench.said)
    assert os.environ["HF_HUB_DISABLE_XET"] == "1"
    assert constants.HF_HUB_DISABLE_XET is True
    assert len(load_samples(bench.folder)) == 29


def test_a_stall_of_one_request_does_not_break_those_beside_it(bench: Bench) -> None:
    bench.hub.faults = {5: "stall", 8: "stall"}
    bench.prepare(WANTED, link=bench.new_link(stall_s=0.3, workers=4))
    assert len([line for line in bench.said if "no byte for" in line]) == len(bench.waited) == 2
    assert len(load_samples(bench.folder)) == 29


@pytest.mark.parametrize("fault", ["500", "page"])
def test_a_hub_that_stays_out_of_order_is_given_up_after_bounded_attempts(ready: Bench, fault: str) -> None:
    before = ready.files()
    ready.hub.always = fault
    with pytest.raises(NothingWorks, match=r"gave no usable answer in 6 attempts(.|\n)*Check the network"):
        ready.prepare(WANTED)
    assert ready.waited == [1, 2, 4, 8, 16]
    assert_usable(ready, before)


def test_several_requests_at_a_time_come_to_the_same(bench: Bench) -> None:
    bench.prepare(WANTED)
    other = Bench(bench.hub, bench.folder.with_name("other"))
    bench.hub.forget()
    bench.hub.faults = {4: "500", 5: "cut", 6: "500", 9: "cut", 11: "500"}
    assert other.prepare(WANTED, link=other.new_link(workers=4)) is not None
    assert other.files()["samples.jsonl"] == bench.files()["samples.jsonl"]
    assert len(other.waited) == 5


@pytest.mark.parametrize("number", [5, 11])
def test_a_refusal_among_several_requests_ends_them_all(ready: Bench, number: int) -> None:
    before = ready.files()
    ready.hub.faults[number] = "gated"
    with pytest.raises(DataMissing, match="gated"):
        ready.prepare(WANTED, link=ready.new_link(workers=4))
    assert_usable(ready, before)
    assert ready.prepare(WANTED, link=ready.new_link(workers=4)) is not None


def test_a_part_that_is_longer_than_asked_for_is_fetched_anew(bench: Bench) -> None:
    bench.hub.faults = {2: "more", 5: "more"}
    bench.prepare(WANTED)
    assert len(bench.waited) == 2
    assert len(load_samples(bench.folder)) == 29


def test_the_hubs_wish_to_wait_is_followed_within_bounds(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ERRORS, "429", (429, {"Retry-After": "86400"}))
    bench.hub.faults[0] = "429"
    bench.prepare(WANTED)
    assert bench.waited == [300]


def test_an_endpoint_that_is_no_address_is_told(bench: Bench) -> None:
    for address in ("http://127.0.0.1:port", "hub.example", "ftp://127.0.0.1", "a b"):
        bench.hub.endpoint = address
        with pytest.raises(NothingWorks, match=rf"HF_ENDPOINT is no address .*'{re.escape(address)}'"):
            bench.prepare()
    assert bench.waited == []


def test_an_endpoint_that_is_set_to_nothing_is_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "")
    assert Link().endpoint == "https://huggingface.co"


def test_a_token_with_a_letter_that_no_token_has_is_told_at_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_\u00fcber")
    with pytest.raises(NothingWorks, match="HF_TOKEN holds a character that no token has"):
        bench.prepare()
    assert bench.waited == []


def test_a_folder_that_cannot_be_made_is_told(bench: Bench) -> None:
    bench.folder.write_text("a file", "utf-8")
    with pytest.raises(NothingWorks, match=r"pages cannot be written: .*BAKEOFF_DATA"):
        bench.prepare()


def test_a_hub_that_is_not_there_is_told_as_no_network(ready: Bench) -> None:
    before = ready.files()
    ready.hub.endpoint = "http://127.0.0.1:9"
    with pytest.raises(NothingWorks, match=r"http://127\.0\.0\.1:9 gave no usable answer"):
        ready.prepare(WANTED)
    assert ready.waited == [1]
    assert_usable(ready, before)


def test_a_hub_without_ranges_is_refused_before_the_whole_file_comes(bench: Bench) -> None:
    bench.hub.faults[2] = "page"
    with pytest.raises(NothingWorks, match="does not serve parts of files"):
        bench.prepare(WANTED)


def broken_off(whole: Bench) -> Bench:
    """Prepare in one folder, then in another one until the last request, which the hub refuses; return the other."""
    whole.prepare(WANTED)
    last = len(whole.hub.requests) - 1
    fresh = Bench(whole.hub, whole.folder.with_name("fresh"))
    whole.hub.forget()
    whole.hub.faults[last] = "403"
    with pytest.raises(DataMissing):
        fresh.prepare(WANTED)
    return fresh


def test_images_that_were_stored_before_a_failure_are_not_fetched_again(ready: Bench) -> None:
    fresh = broken_off(ready)
    assert not (fresh.folder / "samples.jsonl").exists()
    fresh.prepare(WANTED)
    assert any("30 of 60 rows; images of 10 rows are in 1 row group" in line for line in fresh.said)
    assert fresh.files()["samples.jsonl"] == ready.files()["samples.jsonl"]


def test_a_smaller_preparation_leaves_what_a_larger_one_had_stored(bench: Bench) -> None:
    fresh = broken_off(bench)
    stored = {path.name for path in (fresh.folder / "images").iterdir()}
    fresh.prepare("pages=2")
    assert {path.name for path in (fresh.folder / "images").iterdir()} == stored
    assert re.search(r"more images, of a larger .* are kept .*: bakeoff prepare pages=2 --yes", fresh.said[-1])
    fresh.prepare(WANTED)
    assert any("30 of 60 rows; images of 10 rows are in 1 row group" in line for line in fresh.said)
    assert "kept" not in fresh.said[-1]


def test_what_a_broken_off_preparation_left_goes_with_consent(bench: Bench) -> None:
    last = 8
    bench.hub.faults[last] = "403"
    with pytest.raises(DataMissing):
        bench.prepare(WANTED)
    manifest = bench.prepare("pages=2", yes=True)
    assert manifest is not None
    assert len(list((bench.folder / "images").iterdir())) == manifest.images


def test_a_full_disk_is_told_and_keeps_what_was_there(ready: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    before = ready.files()
    real = files.write_atomically

    def full(path: Path, content: bytes, **how: bool) -> None:
        if path.name.endswith(".jpg"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        real(path, content, **how)

    monkeypatch.setattr(images, "write_atomically", full)
    with pytest.raises(NothingWorks, match=r"the disk of .* is full(.|\n)*BAKEOFF_DATA"):
        ready.prepare(WANTED)
    assert_usable(ready, before)


def test_a_disk_that_is_too_small_is_told_before_the_download(ready: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bakeoff.prepare.checks.SPARE_BYTES", 10**18)
    with pytest.raises(NothingWorks, match=r"free, and up to .* of images are to come"):
        ready.prepare(WANTED)


def test_two_preparations_of_one_track_do_not_meet(ready: Bench) -> None:
    with filelock.FileLock(ready.folder / ".prepare.lock"), pytest.raises(UsageProblem, match="by another process"):
        ready.prepare(WANTED)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (picture(1)[:-2000], "corrupt image"),
        (picture(1, "JPEG")[:-1500], "corrupt image"),
        (b"GIF-not-at-all", "no image of a known format"),
        (b"", "holds no bytes"),
    ],
)
def test_a_corrupt_image_is_named_counted_and_never_dropped(
    bench_of: Callable[..., Bench], content: bytes, reason: str
) -> None:
    rows = dataset_rows()
    for index in (1, 7):
        rows[index]["image"] = {"bytes": content, "path": None}
    bench = bench_of(rows)
    with pytest.raises(DataMissing, match=rf"2 rows with an image(.|\n)*val\[1\]: .*{reason}(.|\n)*--skip-corrupt"):
        bench.prepare("pages=10")
    assert not (bench.folder / "samples.jsonl").exists()
    manifest = bench.prepare("pages=10", skip_corrupt=True)
    assert manifest is not None
    assert manifest.samples == 10 - 1 - 2
    assert sum(manifest.left_out.values()) == 3
    assert [row.partition(":")[0] for row in manifest.left_out_rows] == ["val[7]", "val[3]", "val[1]"]
    assert any("left out: val[7]" in line for line in bench.said)


def test_a_decompression_bomb_is_refused_unopened(
    bench_of: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 10_000)
    rows = dataset_rows()
    rows[2]["image"] = {"bytes": picture(3, size=(150, 90)), "path": None}
    with pytest.raises(DataMissing, match=r"val\[2\]: decompression bomb"):
        bench_of(rows).prepare("pages=10")


def test_a_missing_column_is_named_with_those_there_are(bench: Bench) -> None:
    bench.change(columns={"name": (str,), "reply": (list,)})
    with pytest.raises(DataMissing, match=r"column 'reply' is not in data/.*it has answers, image, image_2, name"):
        bench.prepare()


def test_a_value_of_another_type_is_named_by_column_and_row(bench_of: Callable[..., Bench]) -> None:
    rows = dataset_rows()
    rows[33]["answers"] = None
    with pytest.raises(DataMissing, match=r"column 'answers' holds null in row 33 of org/Pages.* where list"):
        bench_of(rows).prepare()


def test_an_image_column_that_is_none_is_named(bench_of: Callable[..., Bench]) -> None:
    schema = pa.schema([field if field.name != "image" else pa.field("image", pa.string()) for field in SCHEMA])
    rows: list[dict[str, Any]] = [{**row, "image": "page.png"} for row in dataset_rows()]
    with pytest.raises(DataMissing, match=r"column 'image' in .* should be images .* and is string"):
        bench_of(rows, schema).prepare()


def test_another_number_of_rows_is_an_error_at_the_pinned_revision(bench_of: Callable[..., Bench]) -> None:
    bench = bench_of(dataset_rows()[:50])
    with pytest.raises(DataMissing, match=rf"has 50 rows, and pages was written for {ROWS}(.|\n)*--revision pages:"):
        bench.prepare()
    assert bench.prepare(revisions=[f"pages:{REPOSITORY}={COMMIT}"]) is not None
    assert any("warning" in line and "has 50 rows" in line for line in bench.said)


def test_a_split_that_is_not_there_lists_the_files(bench: Bench) -> None:
    (split,) = bench.source.splits
    bench.change(splits=(msgspec.structs.replace(split, split="dev"),))
    with pytest.raises(DataMissing, match=r"no parquet files for split 'dev'.*data/test-00000-of-00001\.parquet"):
        bench.prepare()


def test_a_shard_that_is_not_parquet_is_named(bench_of: Callable[..., Bench]) -> None:
    bench = bench_of(dataset_rows())
    shard = bench.hub.root / REPOSITORY / "data/validation-00001-of-00002.parquet"
    shard.write_bytes(b"no parquet at all" * 100)
    with pytest.raises(DataMissing, match=r"validation-00001-of-00002\.parquet cannot be read as parquet"):
        bench.prepare()


def test_a_track_rule_that_fails_names_the_row(bench: Bench) -> None:
    def fail(*_: object) -> None:
        raise ValueError("not a number")

    bench.change(build=fail)
    with pytest.raises(DataMissing, match=r"row 5 of pages's val cannot become a sample: ValueError: not a number"):
        bench.prepare()
    bench.change(choose=fail)
    with pytest.raises(DataMissing, match="rows cannot be chosen: ValueError: not a number"):
        bench.prepare()


def test_an_interruption_keeps_what_was_there(ready: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    before = ready.files()
    real, calls = files.write_atomically, iter(range(100))

    def stop(path: Path, content: bytes, **how: bool) -> None:
        if next(calls) == 5:
            raise KeyboardInterrupt
        real(path, content, **how)

    monkeypatch.setattr(images, "write_atomically", stop)
    with pytest.raises(KeyboardInterrupt):
        ready.prepare(WANTED)
    assert_usable(ready, before)
    monkeypatch.undo()
    assert ready.prepare(WANTED) is not None
