"""What may be written after `bakeoff prepare`."""

from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from bakeoff.cli import app
from bakeoff.errors import UsageProblem
from bakeoff.prepare import read_requests
from bakeoff.tracks import TRACKS, Track
from bakeoff.tracks.source import Split
from tests_unit.doubles.data_hub import DataHub
from tests_unit.prepare.pages import SOURCE, Bench

ONE = Bench(DataHub(Path()), Path()).track
TWO_REPOSITORIES = msgspec.structs.replace(
    SOURCE,
    splits=tuple(
        Split(label=name, repository=f"org/{name}", config="default", split="test", revision="a" * 40, rows=1)
        for name in ("Left", "Right")
    ),
)
TRACKS_HERE: dict[str, Track] = {
    "calibration": TRACKS["calibration"],
    "one": msgspec.structs.replace(ONE, name="one"),
    "two": msgspec.structs.replace(ONE, name="two", source=TWO_REPOSITORIES),
    "odd": msgspec.structs.replace(ONE, name="odd", source=msgspec.structs.replace(SOURCE, default="choice")),
}


def sizes(*words: str) -> dict[str, str | int]:
    return {request.track.name: request.size for request in read_requests(words, (), TRACKS_HERE)}


def revisions(*texts: str) -> dict[str, str]:
    requests = read_requests(("one", "two"), texts, TRACKS_HERE)
    return {split.label: split.revision for request in requests for split in request.source.splits}


def test_without_words_every_track_with_a_source_is_taken_in_its_default_size() -> None:
    assert sizes() == {"one": "subset", "two": "subset", "odd": "choice"}
    assert not any(request.named for request in read_requests((), (), TRACKS_HERE))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["one"], {"one": "subset"}),
        (["one=full"], {"one": "full"}),
        (["two= SUBSET", "one=17"], {"one": 17, "two": "subset"}),
        (["odd=choice"], {"odd": "choice"}),
        (["one=off"], {"two": "subset", "odd": "choice"}),
        (["one=off", "two"], {"two": "subset"}),
    ],
)
def test_sizes(words: list[str], expected: dict[str, str | int]) -> None:
    assert sizes(*words) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["onne"], r"no track 'onne'; did you mean one\?"),
        (["xyz"], r"no track 'xyz'; there are one, two, odd$"),
        (["ONNE=2"], r"no track 'ONNE'; did you mean one\?"),
        (["calibration"], "calibration needs no preparing"),
        (["one=0"], "bad size in 'one=0': expected off, subset, full or a number of at least 1"),
        (["one=-3"], "bad size"),
        (["one="], "bad size"),
        (["one=true"], "bad size"),
        (["one=choice"], "bad size"),
        (["one=²"], "bad size"),
        (["odd=choise"], "expected off, subset, full, choice or a number"),
        (["one=2", "one=3"], "one is named twice"),
        (["one=off", "two=off", "odd=off"], "nothing to prepare: every track is off"),
    ],
)
def test_what_is_refused(words: list[str], message: str) -> None:
    with pytest.raises(UsageProblem, match=message):
        sizes(*words)


def test_the_command_shows_an_example() -> None:
    shown = CliRunner().invoke(app, ["prepare", "--help"], env={"COLUMNS": "160", "TERM": "dumb"})
    assert shown.exit_code == 0
    assert "Example: bakeoff prepare docvqa=subset screenspot=full" in shown.output
    assert all(option in shown.output for option in ("--revision", "--yes", "--skip-corrupt"))


def test_a_revision_is_of_a_track_or_of_one_of_its_repositories() -> None:
    assert revisions("one=abc")["val"] == "abc"
    assert revisions("two:org/Left=abc", "two:Right=def") == {"val": "f" * 40, "Left": "abc", "Right": "def"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abc", "expected TRACK=SHA"),
        ("one=", "expected TRACK=SHA"),
        ("other=abc", r"with a track that is prepared \(one, two\)"),
        ("two=abc", r"made of 2 repositories.*--revision two:org/Left=abc, --revision two:org/Right=abc"),
        ("two:Middle=abc", "made of 2 repositories"),
        ("one:Other=abc", "one has one repository: --revision one:org/Pages=abc"),
    ],
)
def test_revisions_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageProblem, match=message):
        revisions(text)
