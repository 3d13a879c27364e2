import pytest

from bakeoff.errors import UsageProblem
from bakeoff.records import Image, Sample, TextTarget
from bakeoff.sharding import read_shard, split, whole_sha256


def sample(name: str, *images: str) -> Sample:
    shown = tuple(Image(path=image, sha256=image, width=1, height=1) for image in images)
    return Sample(id=name, track="t", question="?", target=TextTarget(answers=("a",)), images=shown)


PAGES = [sample(f"q{page}-{number}", f"page{page}") for number in range(3) for page in range(7)]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 40])
def test_every_sample_is_in_exactly_one_part_and_an_images_questions_stay_together(count: int) -> None:
    parts = split(PAGES, count)
    assert set(parts) == {s.id for s in PAGES}
    assert set(parts.values()) <= set(range(1, count + 1))
    assert all(len({parts[f"q{page}-{n}"] for n in range(3)}) == 1 for page in range(7))


def test_parts_differ_by_one_cluster_at_most() -> None:
    sizes = [list(split(PAGES, 3).values()).count(part) for part in (1, 2, 3)]
    assert max(sizes) - min(sizes) <= 3


def test_samples_without_images_are_split_one_by_one() -> None:
    parts = split([sample(str(number)) for number in range(10)], 5)
    assert [list(parts.values()).count(part) for part in range(1, 6)] == [2] * 5


def test_the_split_is_the_same_each_time() -> None:
    assert split(PAGES, 4) == split(list(PAGES), 4)


def test_two_wholes_have_two_hashes() -> None:
    assert whole_sha256(PAGES) == whole_sha256(list(PAGES)) != whole_sha256(PAGES[1:])


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3/5", ""])
def test_a_part_that_cannot_be_is_a_usage_problem(text: str) -> None:
    with pytest.raises(UsageProblem, match="write I/N"):
        read_shard(text)


def test_the_first_part_is_one() -> None:
    assert (str(read_shard("1/3")), str(read_shard(" 3/3 "))) == ("1/3", "3/3")
