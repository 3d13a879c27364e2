"""RefCOCO: regions and expressions, golds in the picture, splits that are mixtures."""

from bakeoff.records import BoxTarget, Image, Record, Sample, Text
from bakeoff.tracks import TRACKS
from bakeoff.tracks.baselines import answered
from bakeoff.tracks.refcoco import SPLITS, build, every_expression, metrics
from bakeoff.tracks.source import Row

IMAGE = Image(path="a.jpg", sha256="a" * 64, width=640, height=480)


def row(box: list[float], answer: list[str] | None = None) -> Row:
    values = {
        "question_id": "471277",
        "answer": ["red blouse", " ", "girl "] if answer is None else answer,
        "bbox": box,
    }
    return Row(split="refcoco/testA", index=3, values=values)


def sample() -> Sample:
    found = build(row([64.0, 48.0, 320.0, 240.0]), (IMAGE,))
    assert found is not None
    return found


def test_row_becomes_a_sample_of_its_first_expression() -> None:
    found = sample()
    assert (found.id, found.question) == ("refcoco_refcoco_testA_471277", "red blouse")
    assert found.target == BoxTarget(box=(0.1, 0.1, 0.6, 0.6), image_size=(640, 480))
    assert found.groups == {"split": "refcoco/testA"}


def test_rows_without_an_expression_or_with_a_bad_box_are_left_out() -> None:
    assert build(row([1, 1, 5, 5], [" "]), (IMAGE,)) is None
    assert build(row([1, 1, 0, 5]), (IMAGE,)) is None
    assert build(row([600, 1, 42, 5]), (IMAGE,)) is None


def test_gold_that_leaves_the_picture_by_a_pixel_is_clipped() -> None:
    found = build(row([600, 1, 41, 5]), (IMAGE,))
    assert found is not None
    assert isinstance(found.target, BoxTarget)
    assert found.target.box[2] == 1.0


def test_all_asks_every_expression_under_an_id_of_its_own() -> None:
    asked = every_expression(sample())
    assert [(one.id, one.question) for one in asked] == [
        ("refcoco_refcoco_testA_471277", "red blouse"),
        ("refcoco_refcoco_testA_471277.1", "girl"),
    ]
    protocol = TRACKS["refcoco"].protocol("all")
    texts = [part.text for part in protocol.render(asked[1])[-1].parts if isinstance(part, Text)]
    assert texts == ["Provide bounding boxes for the region this sentence describes: girl"]


def test_a_point_is_no_answer_here() -> None:
    record = answered(sample(), TRACKS["refcoco"].protocol(None), "[350, 350]")
    assert (record.score, record.answer) == (0.0, None)


def records(**scores: list[float]) -> list[Record]:
    return [
        Record(
            sample_id=f"{split}{number}",
            track="refcoco",
            status="ok",
            score=score,
            groups={"split": split.replace("_", "/")},
            metrics={"center": 1.0},
        )
        for split, values in scores.items()
        for number, score in enumerate(values)
    ]


def test_mean_over_splits_names_what_it_lacks_and_what_is_a_mixture() -> None:
    found = metrics(records(refcoco_val=[1.0], refcoco_testA=[0.0, 0.0, 0.0]))
    assert (found["acc@0.5"].value, found["micro"].value, found["center"].value) == (0.5, 0.25, 1.0)
    flags = found["acc@0.5"].flags
    assert "mixture:refcoco/val" in flags
    assert "mixture:refcocog/val" not in flags
    assert [flag for flag in flags if flag.startswith("missing:")] == [f"missing:{split}" for split in SPLITS[2:]]


def test_full_is_the_sum_of_the_splits() -> None:
    assert TRACKS["refcoco"].full == 32770
