import math

import pytest
from hypothesis import given, strategies as st

from bakeoff.hashing import sample_seed
from bakeoff.records import (
    BoxTarget,
    Header,
    Image,
    ImagePart,
    Message,
    NumberTarget,
    OptionTarget,
    Prompt,
    Record,
    Sample,
    Score,
    Session,
    Text,
    TextTarget,
    from_line,
    journal_entry,
    to_line,
)


def image(sha: str = "aa", path: str = "a.png") -> Image:
    return Image(path=path, sha256=sha, width=4, height=3)


def prompt(*parts: Text | ImagePart, role: str = "user") -> Prompt:
    messages = (Message(role=role, parts=parts),)  # type: ignore[arg-type]  # a literal, given by name here
    return Prompt(sample_id="s", messages=messages, max_tokens=8, seed=1)


@pytest.mark.parametrize(
    "target",
    [
        BoxTarget(box=(0.1, 0.2, 0.3, 0.4), image_size=(640, 480)),
        OptionTarget(letter="B", count=2, options=("red", "blue")),
        TextTarget(answers=("one", "1")),
        NumberTarget(value="1,272", precision=2),
    ],
)
def test_samples_survive_the_way_through_a_line(target: BoxTarget | OptionTarget | TextTarget | NumberTarget) -> None:
    sample = Sample(id="a-1", track="t", question="q?", target=target, images=(image(),), groups={"family": "x"})
    assert from_line(to_line(sample), Sample) == sample


@given(st.text(st.characters(exclude_categories=()), max_size=50))
def test_any_output_survives_the_journal_in_one_ascii_line(output: str) -> None:
    record = Record(sample_id="a", track="t", status="ok", output=output, score=1.0)
    line = to_line(record)
    assert line.isascii()
    assert len(line.splitlines()) == 1
    assert journal_entry(line) == record


def test_a_number_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_line(Record(sample_id="a", track="t", status="ok", total_s=math.nan))


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf])
def test_a_score_outside_its_range_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="lies in"):
        Score(value=value, correct=False, answer=None)
    with pytest.raises(ValueError, match="iou"):
        Score(value=0.0, correct=False, answer=None, metrics={"iou": value})


def test_a_wrong_type_names_the_field() -> None:
    with pytest.raises(ValueError, match=r"\$\.prompt_tokens"):
        journal_entry('{"type":"record","sample_id":"a","track":"t","status":"ok","prompt_tokens":"many"}')


def test_keys_from_a_later_version_are_passed_over() -> None:
    assert journal_entry('{"type":"session","event":"start","at":"x","new":1}') == Session(event="start", at="x")


def test_headers_say_their_schema() -> None:
    assert '"schema":1' in to_line(Header(run="r", arm="a", fingerprint="f"))


def test_the_prompt_hash_covers_texts_roles_and_image_bytes_in_order() -> None:
    base = prompt(ImagePart(image=image("aa")), Text(text="q"))
    others = [
        prompt(ImagePart(image=image("bb")), Text(text="q")),
        prompt(Text(text="q"), ImagePart(image=image("aa"))),
        prompt(ImagePart(image=image("aa")), Text(text="q ")),
        prompt(ImagePart(image=image("aa")), Text(text="q"), role="assistant"),
        prompt(Text(text="aa"), Text(text="q")),
    ]
    assert len({base.sha256, *(other.sha256 for other in others)}) == 1 + len(others)


def test_the_prompt_hash_does_not_depend_on_where_files_lie() -> None:
    here, there = (prompt(ImagePart(image=image("aa", path))) for path in ("/x/a.png", "/y/b.png"))
    assert here.sha256 == there.sha256


def test_seeds_follow_from_run_and_sample_alone() -> None:
    assert sample_seed(0, "a") == sample_seed(0, "a")
    assert len({sample_seed(0, "a"), sample_seed(1, "a"), sample_seed(0, "b")}) == 3
    assert 0 <= sample_seed(7, "x") < 2**31


def test_samples_of_the_same_images_are_one_cluster() -> None:
    one = Sample(id="a", track="t", question="q", target=TextTarget(answers=("x",)), images=(image("aa"), image("bb")))
    record = Record(sample_id="a", track="t", status="ok", image_sha256=("aa", "bb"))
    assert one.cluster == record.cluster == "aa+bb"
    assert Record(sample_id="a", track="t", status="ok").cluster == "a"


def test_unparsed_is_not_an_error() -> None:
    assert Record(sample_id="a", track="t", status="ok", output="?", score=0.0).is_unparsed
    assert not Record(sample_id="a", track="t", status="error").is_unparsed


def test_a_line_with_a_lone_surrogate_is_read_as_it_was_written() -> None:
    told = Record(sample_id="a", track="t", status="ok", output="\ud800 and \u2028")
    assert journal_entry(to_line(told)) == told
