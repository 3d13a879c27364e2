"""Records to numbers: means, macro means, groups, and what they refuse."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from bakeoff.metrics import Metric, group_metrics, macro_metric, mean_metric, named
from bakeoff.records import Record
from bakeoff.stats import interval

AGGREGATES = [
    row
    for line in (Path(__file__).parent / "vectors" / "scorers.jsonl").read_text(encoding="utf-8").splitlines()
    if (row := json.loads(line))["scorer"].startswith("aggregate.")
]


def record(
    sample_id: str,
    score: float | None,
    *,
    status: Literal["ok", "truncated", "error"] = "ok",
    groups: dict[str, str] | None = None,
    image: str = "",
    metrics: dict[str, float] | None = None,
) -> Record:
    return Record(
        sample_id=sample_id,
        track="blink",
        status=status,
        groups=groups or {},
        image_sha256=(image,) if image else (),
        score=score,
        metrics=metrics or {},
    )


def scores(values: Sequence[float], **groups: str) -> list[Record]:
    start = "".join(groups.values())
    return [record(f"{start}{position}", value, groups=dict(groups)) for position, value in enumerate(values)]


def test_mean_has_its_number_of_samples_and_interval() -> None:
    found = mean_metric(scores([1.0, 1.0, 0.0, 1.0]), primary=True)
    assert (found.value, found.n, found.primary) == (0.75, 4, True)
    assert found.ci95 == pytest.approx((0.300642, 0.954413), abs=1e-6)


def test_mean_of_nothing_is_absent_not_zero() -> None:
    assert mean_metric([]) == Metric(value=None, ci95=None, n=0, flags=("no_interval",))


def test_errors_are_no_scores_and_truncated_outputs_are() -> None:
    found = mean_metric([record("a", 1.0), record("b", None, status="error"), record("c", 0.0, status="truncated")])
    assert (found.value, found.n) == (0.5, 2)


def test_samples_of_one_image_are_one_cluster() -> None:
    values = [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0]
    images = [f"image{position // 2}" for position in range(8)]
    found = mean_metric([record(str(i), v, image=images[i]) for i, v in enumerate(values)])
    expected = interval(values, clusters=images)
    assert found.ci95 == (expected.low, expected.high)
    assert "few_informative_clusters" in found.flags


def test_a_named_metric_takes_the_place_of_the_score() -> None:
    records = [record("a", 1.0, metrics={"anls_raw": 0.0}), record("b", 1.0, metrics={"anls_raw": 0.5})]
    assert mean_metric(records, value=named("anls_raw")).value == 0.25


def test_a_metric_that_some_records_lack_is_refused() -> None:
    with pytest.raises(ValueError, match="b of blink lacks this value"):
        mean_metric([record("a", 1.0, metrics={"iou": 0.5}), record("b", 1.0)], value=named("iou"))


def test_a_sample_recorded_twice_is_refused_even_as_an_error() -> None:
    with pytest.raises(ValueError, match="duplicate sample id: a"):
        mean_metric([record("a", None, status="error"), record("a", 1.0)])


def test_a_score_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="out of range"):
        mean_metric([record("a", 1.5)])


def test_macro_mean_weighs_groups_alike() -> None:
    records = [*scores([1.0] * 9 + [0.0], platform="mobile"), *scores([1.0, 0.0], platform="web")]
    found = macro_metric(records, "platform", expected=("mobile", "web"))
    assert found.value == pytest.approx((0.9 + 0.5) / 2)
    assert found.n == 12


@pytest.mark.parametrize("groups", range(1, 60))
def test_macro_mean_of_right_answers_is_all_of_it(groups: int) -> None:
    found = macro_metric([record(f"s{i}", 1.0, groups={"task": f"g{i}"}) for i in range(groups)], "task")
    assert found.value == 1.0


def test_macro_mean_is_absent_while_a_group_is() -> None:
    records = scores([1.0, 0.0], platform="web")
    found = macro_metric(records, "platform", expected=("desktop", "mobile", "web"), primary=True)
    assert (found.value, found.ci95, found.n, found.primary) == (None, None, 2, True)
    assert found.flags == ("missing:desktop", "missing:mobile")
    assert macro_metric(records, "platform").value == 0.5


def test_a_group_with_errors_only_is_a_missing_group() -> None:
    records = [*scores([1.0], platform="web"), record("e", None, status="error", groups={"platform": "mobile"})]
    assert macro_metric(records, "platform", expected=("mobile", "web")).flags == ("missing:mobile",)


def test_macro_mean_refuses_records_outside_its_groups() -> None:
    with pytest.raises(ValueError, match="in no group of platform"):
        macro_metric([record("a", 1.0)], "platform")
    with pytest.raises(ValueError, match="nobody expects: tv"):
        macro_metric(scores([1.0], platform="tv"), "platform", expected=("web",))


def test_groups_are_sorted_and_dimensions_in_the_order_asked() -> None:
    records = [*scores([1.0], platform="web", kind="text"), *scores([0.0], platform="mobile", kind="icon")]
    assert [*group_metrics(records)] == ["kind", "platform"]
    found = group_metrics(records, ("platform", "kind"))
    assert [*found] == ["platform", "kind"]
    assert {name: metric.value for name, metric in found["platform"].items()} == {"mobile": 0.0, "web": 1.0}
    assert [*found["platform"]] == ["mobile", "web"]


def test_a_record_without_a_dimension_is_in_none_of_its_groups() -> None:
    records = [*scores([1.0], kind="text"), record("plain", 0.0)]
    assert group_metrics(records, ["kind"])["kind"]["text"].n == 1


@pytest.mark.parametrize("vector", AGGREGATES, ids=lambda vector: str(vector["id"]))
def test_average_agrees_with_truth_vector(vector: dict[str, Any]) -> None:
    rule = vector["scorer"].removeprefix("aggregate.")
    records = [
        record(str(position), float(score), groups={"cell": cell, "platform": cell.split("/")[0]})
        for position, (cell, score) in enumerate(vector["expected"]["items"])
    ]
    if rule in {"micro", "mmmu_official"}:  # subjects weighted by size are a plain mean
        found = mean_metric(records)
    else:
        found = macro_metric(records, "platform" if rule == "platform_macro" else "cell")
    assert found.value == pytest.approx(vector["score"], abs=1e-6)
