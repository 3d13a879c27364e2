"""Data files: safe in a script, cut into pages by number and size, without leftovers."""

import json
from pathlib import Path

import pytest

from bakeoff.report.viewer import files
from bakeoff.report.viewer.files import DataFiles, folder_names, in_pages, script_json
from tests_unit.report.viewer.data import read_data

HOSTILE = "</script><script>alert(1)</script><!-- `${x}` | \u2028 \u2029 \u202e \x00 \ud800 &amp; ]]> '\""


def test_hostile_text_is_ascii_without_markup_and_comes_back_whole() -> None:
    text = script_json({"output": HOSTILE})
    assert text.isascii()
    assert not set("<>&\n\r") & set(text)
    assert json.loads(text) == {"output": HOSTILE}


def test_numbers_that_json_lacks_are_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        script_json(float("nan"))


def test_pages_end_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_ITEMS", 3)
    starts = in_pages(DataFiles(tmp_path), "toy", ({"n": n} for n in range(7)))
    assert starts == [0, 3, 6]
    pages = [read_data(tmp_path / "toy" / f"page-{number:03}.js") for number in range(3)]
    assert [[item["n"] for item in page["items"]] for page in pages] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [(page["kind"], page["folder"], page["page"]) for page in pages] == [("page", "toy", n) for n in range(3)]


def test_pages_end_by_size_and_a_large_item_has_a_page_of_its_own(tmp_path: Path) -> None:
    sizes = [10, 10, files.MOST_BYTES + 1, 10]
    assert in_pages(DataFiles(tmp_path), "toy", ({"text": "x" * size} for size in sizes)) == [0, 2, 3]


def test_no_item_makes_no_page(tmp_path: Path) -> None:
    assert in_pages(DataFiles(tmp_path), "toy", iter(())) == []
    assert list(tmp_path.iterdir()) == []


def test_files_of_an_earlier_report_are_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("old/index.js", "old/page-000.js", "toy/page-001.js", "mine/notes.js"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("old")
    written = DataFiles(tmp_path)
    written.write("toy/index.js", {})
    written.remove_others()
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
    assert left == ["mine", "mine/notes.js", "toy", "toy/index.js"]


def test_tracks_get_folders_that_every_file_system_takes() -> None:
    names = folder_names(["docvqa", "DocVQA", "../../etc", "thumbnails", "a b"])
    assert names == {
        "docvqa": "docvqa",
        "DocVQA": "track-1",
        "../../etc": "track-2",
        "thumbnails": "track-3",
        "a b": "track-4",
    }
