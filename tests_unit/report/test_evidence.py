"""What was asked beside the samples is shown: agreement, controls, audits, findings; and what bits cost and buy."""

from collections.abc import Callable

import msgspec
import pytest

from bakeoff.records import Record
from bakeoff.report import build, evidence, summarize
from bakeoff.report.drawing import ladder_panels, ladder_table, scatter_panels
from bakeoff.report.page import with_why
from bakeoff.report.reading import read_run
from bakeoff.report.results import Results
from bakeoff.report.tradeoffs import tradeoffs
from bakeoff.runs import RunDirectory
from bakeoff.validity.audit import Audit, write_audit
from bakeoff.validity.controls import Controls, TrackControl, write_controls
from bakeoff.validity.findings import Finding
from bakeoff.validity.probes import ClassAgreement, Probe, write_probe
from tests_unit.report.synthetic import TRACK, RunMaker

Answered = Callable[..., list[Record]]


def agreement(size: str, delta: float | None, tops: int = 40) -> ClassAgreement:
    return ClassAgreement(
        size=size, continuations=4, tokens=40, same_top=min(39, tops), tops=tops, delta=delta, worst=1.5, kl=0.0002
    )


def control(lift: float, unmoved: float = 0.1) -> TrackControl:
    return TrackControl(
        n=24,
        score=0.8,
        controls={"blank": 0.8 - lift, "swapped": 0.2, "missing": 0.25},
        unmoved={"blank": 0.2, "swapped": unmoved, "missing": 0.2},
        lift=lift,
        error=0.1,
    )


@pytest.fixture
def run(maker: RunMaker, answered: Answered) -> RunDirectory:
    maker.arm("bf16", answered(lambda i: i % 9 == 0))
    maker.arm("4bit", [msgspec.structs.replace(r, peak_memory_bytes=10**9) for r in answered(lambda i: i % 3 == 0)])
    maker.arm("gguf", answered(lambda i: i % 9 == 1), backend="gguf")
    for arm, bits in (("bf16", 16.0), ("4bit", 4.5), ("gguf", 16.0)):
        maker.describe(arm, bits_per_weight=bits, parameters=3_000_000_000, weights_bytes=int(bits * 375_000_000))
    return maker.write(margin=2.0)


def results_of(run: RunDirectory) -> Results:
    return summarize(read_run(run))


def test_agreement_has_a_row_for_each_writer_and_a_column_for_each_size(run: RunDirectory) -> None:
    classes = (agreement("tiled", 0.2), agreement("square", 0.0001))
    write_probe(run, Probe(arm="bf16", model="bf16", backend="mlx", agreements={"reference": classes}))
    write_probe(
        run, Probe(arm="gguf", model="gguf", backend="gguf", agreements={"bf16": (agreement("tiled", None, 0),)})
    )
    heads, rows = evidence.agreement_table(results_of(run))
    assert heads == ("Reads the words of", "square", "tiled")
    assert rows == (
        ("bf16 of the reference implementation", "<0.001 (39 of 40)", "0.200 (39 of 40)"),
        ("gguf of bf16", "–", "–"),
    )
    heads, rows = evidence.agreement_details(results_of(run))
    assert dict(zip(heads, rows[0], strict=True)) == {
        "Reads the words of": "bf16 of the reference implementation",
        "Images": "square",
        "Texts": "4",
        "Tokens": "40",
        "Same likeliest": "39 of 40",
        "Mean |Δ|": "<0.001",
        "Largest |Δ|": "1.5",
        "Divergence": "<0.001",
    }


@pytest.mark.parametrize(
    ("found", "word", "lift"),
    [
        (control(0.5), "sees", "+50.0 (95% +30.0 to +70.0)"),
        (control(0.1), "no gain shown", "+10.0 (95% −10.0 to +30.0)"),
        (control(0.5, unmoved=0.95), "ignores the image", "+50.0 (95% +30.0 to +70.0)"),
    ],
)
def test_controls_tell_the_lift_with_its_interval_and_a_word(
    run: RunDirectory, found: TrackControl, word: str, lift: str
) -> None:
    write_controls(run, Controls(arm="bf16", tracks={TRACK: found}))
    heads, rows = evidence.control_table(results_of(run))
    told = dict(zip(heads, rows[0], strict=True))
    assert (told["Track"], told["In words"], told["Vision lift, pp"]) == ("Toy", word, lift)
    assert told["Another’s image"] == "20"


@pytest.mark.parametrize(
    ("changes", "word"),
    [({}, "safe"), ({"flips": 9, "dropped": True}, "asked one at a time"), ({"failed": 1}, "not safe")],
)
def test_audits_tell_what_changed_when_several_were_in_flight(
    run: RunDirectory, changes: dict[str, int], word: str
) -> None:
    audit = Audit(arm="4bit", n=24, concurrency=4, flips=0)
    write_audit(run, msgspec.structs.replace(audit, **changes))
    heads, rows = evidence.audit_table(results_of(run))
    told = dict(zip(heads, rows[0], strict=True))
    assert (told["Arm"], told["In flight"], told["In words"]) == ("4bit", "4", word)


def test_page_and_markdown_show_all_of_it_and_say_what_was_not_made(run: RunDirectory) -> None:
    build(run)
    page = (run.path / "report.html").read_text("utf-8")
    assert "Not made in this run. Add --controls." in page
    assert "Not made in this run. Add --audit N." in page
    assert "Not measured: no arm of this run can be given words" in page
    write_controls(run, Controls(arm="bf16", tracks={TRACK: control(0.5)}))
    write_audit(run, Audit(arm="bf16", n=24, concurrency=4, flips=0))
    classes = (agreement("tiled", 0.2), agreement("square", 0.01))
    write_probe(run, Probe(arm="bf16", model="bf16", backend="mlx", agreements={"reference": classes}))
    build(run)
    page, markdown = ((run.path / name).read_text("utf-8") for name in ("report.html", "report.md"))
    for text in (
        "Vision lift, pp",
        "+50.0 (95% +30.0 to +70.0)",
        "Batch audit",
        "0.200 (39 of 40)",
        "leaves the reference",
    ):
        assert text in page
        assert text in markdown
    assert "Not made in this run" not in page


def test_answers_that_were_cut_off_bound_the_score_from_both_sides(maker: RunMaker, answered: Answered) -> None:
    records = [msgspec.structs.replace(r, status="truncated") if i < 12 else r for i, r in enumerate(answered())]
    maker.arm("arm", records)
    build(maker.write())
    assert "90.0 / 100.0" in (maker.run.path / "report.html").read_text("utf-8")


def test_arms_of_one_runtime_stand_on_a_ladder_by_measured_bits(run: RunDirectory) -> None:
    results = results_of(run)
    panels = ladder_panels(results)
    assert [panel.title for panel in panels] == ["Toy, accuracy, %", "Samples per minute", "Peak memory, GB"]
    assert panels[0].ladders == (("mlx", (0, 1)),)
    assert [spot.x for spot in panels[0].spots] == [16.0, 4.5, 16.0]
    heads, rows = ladder_table(results)
    told = dict(zip(heads, rows[1], strict=True))
    assert (told["Arm"], told["Bits per weight"], told["Weights"]) == ("4bit", "4.5\u202fbpw", "1.7\u202fGB")


def test_there_is_no_ladder_between_two_models_or_without_bits(maker: RunMaker, answered: Answered) -> None:
    maker.arm("large", answered()).arm("small", answered()).arm("nameless", answered())
    maker.describe("large", bits_per_weight=16.0, parameters=8_000_000_000)
    maker.describe("small", bits_per_weight=4.0, parameters=1_000_000_000)
    run = maker.write()
    assert ladder_panels(results_of(run)) == ()
    build(run)
    assert "Quant ladder" not in (run.path / "report.html").read_text("utf-8")


def test_a_drawing_that_cannot_be_made_leaves_no_heading_behind(maker: RunMaker, answered: Answered) -> None:
    run = maker.arm("only", answered()).write()
    build(run)
    page = (run.path / "report.html").read_text("utf-8")
    assert "Quality against speed" in page
    assert "Quant ladder" not in page
    assert "needs three arms" not in page
    assert "<figure>" not in page


def test_the_scatter_joins_a_runtime_and_shows_a_near_published_value(run: RunDirectory) -> None:
    results = results_of(run)
    panel = scatter_panels(results, {TRACK: 0.85})[TRACK]
    assert panel.level == pytest.approx(85.0)
    assert panel.level_text == "published 85.0"
    assert panel.ladders == (("mlx", (0, 1)),)
    far = scatter_panels(results, {TRACK: 0.01})[TRACK]
    assert far.level is None


def test_tradeoffs_are_read_off_verdicts_and_can_t_tell_is_not_the_same(run: RunDirectory) -> None:
    told = dict(tradeoffs(results_of(run)))
    assert told["Smallest peak memory"] == "4bit, 1.0\u202fGB; worse on Toy."
    assert told["Fastest arm shown to hold the score of bf16"].startswith("No arm that is faster")


def test_nothing_is_traded_with_one_arm(maker: RunMaker, answered: Answered) -> None:
    maker.arm("only", answered())
    assert tradeoffs(results_of(maker.write())) == ()


def test_what_was_asked_of_one_arm_is_not_said_of_the_other(run: RunDirectory) -> None:
    write_controls(run, Controls(arm="bf16", tracks={TRACK: control(0.5)}))
    write_audit(run, Audit(arm="bf16", n=24, concurrency=4, flips=0))
    validity = results_of(run).validity
    for check in (validity.controls, validity.audit):
        assert check.state == "not checked"
        assert check.reason.endswith("not asked of 4bit, gguf")


def test_what_the_probes_found_stands_beside_a_verdict_and_is_told_in_full_once(run: RunDirectory) -> None:
    results = results_of(run)
    pairs = [{c.a, c.b} for c in results.comparisons[:2]]
    found = [
        Finding(kind="tiles", arms=tuple(sorted(pair)), sentence="other tiles (0.51)", brief="other tiles")
        for pair in pairs
    ]
    parity = msgspec.structs.replace(results.validity.parity, findings=tuple(found))
    validity = msgspec.structs.replace(results.validity, parity=parity)
    told = dict(_told(msgspec.structs.replace(results, validity=validity)))
    assert told[frozenset(pairs[0])] == (
        "The probes before the run: other tiles. Asking more samples does not mend that."
    )
    assert told[frozenset(pairs[1])] == "The probes before the run found the same between these two."
    assert set(told.values()) - {told[frozenset(pair)] for pair in pairs} == {""}


def _told(results: Results) -> list[tuple[frozenset[str], str]]:
    return [(frozenset({c.a, c.b}), why) for c, why in with_why(results)]
