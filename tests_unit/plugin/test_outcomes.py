import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from bakeoff.scorers import SCORERS
from tests_unit.bare import BARE
from tests_unit.plugin.conftest import ALL_MODES, BenchRun, calibration

Bench = Callable[..., BenchRun]
Script = Callable[..., str]


@pytest.fixture(params=list(ALL_MODES.values()), ids=list(ALL_MODES))
def mode(request: pytest.FixtureRequest) -> tuple[str, ...]:
    return tuple(request.param)


def drawn(run: BenchRun) -> list[str]:
    (tracks,) = run.run.selection().values()
    return tracks["calibration"]


def test_a_wrong_answer_is_shown_and_passes(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    everything = [sample.id for sample in calibration()]
    run = bench("--model", script(wrong=everything), "--limit", "4", *mode)
    assert run.code == 0
    run.result.stdout.fnmatch_lines(["*4 wrong*"])
    assert all(record.score == 0.0 for record in run.records.values())


def test_records_are_complete_and_the_same_in_every_mode(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    run = bench("--model", script(), "--limit", "6", *mode)
    assert run.code == 0
    assert sorted(run.records) == sorted(drawn(run))
    assert len(run.records) == 6
    for record in run.records.values():
        assert (record.status, record.correct) == ("ok", True)
        assert record.scorer_version == SCORERS[record.scorer].version
        assert len(record.prompt_sha256) == 64
        assert record.started_at.endswith("+00:00")


def test_an_error_fails_its_test_has_no_score_and_spares_the_others(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    culprit = calibration()[0].id
    run = bench("--model", script("failing", fail=[culprit]), "-k", "grounding-00", "--run-dir", "reports/x", *mode)
    assert run.code == 1
    broken = run.records[culprit]
    assert (broken.status, broken.score, broken.answer) == ("error", None, None)
    assert broken.error is not None
    assert broken.error.message == "the script says: fail"
    assert all(r.status == "ok" for name, r in run.records.items() if name != culprit)
    assert len(run.records) > 3


def test_cut_answers_are_scored_and_counted_apart(bench: Bench, script: Script) -> None:
    everything = [sample.id for sample in calibration()]
    run = bench("--model", script(length=everything), "--limit", "3", "--max-truncated", "100")
    assert run.code == 0
    run.result.stdout.fnmatch_lines(["*3 truncated*"])
    assert {(r.status, r.score) for r in run.records.values()} == {("truncated", 1.0)}


def test_a_runtime_that_fails_all_the_time_stops_the_session(bench: Bench, script: Script) -> None:
    everything = [sample.id for sample in calibration()]
    run = bench("--model", script(fail=everything))
    assert run.code == 2
    run.result.stdout.fnmatch_lines(["*10 samples in a row got no valid output*"])
    assert len(run.records) == 10


def test_junit_carries_track_score_and_answer(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    run = bench("--model", script(), "--limit", "3", "--junitxml", "out.xml", *mode)
    suite = ET.parse(run.folder / "out.xml").getroot()  # noqa: S314 - our own file
    cases = suite.findall(".//testcase")
    assert len(cases) == 3
    for case in cases:
        properties = {p.attrib["name"]: p.attrib["value"] for p in case.findall("./properties/property")}
        assert properties["track"] == "calibration"
        assert float(properties["score"]) == 1.0
        assert properties["answer"]


def test_listing_leaves_nothing_behind(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    run = bench("--model", script(), "--limit", "3", "--collect-only", "-q", *mode)
    assert run.code == 0
    assert not run.runs


def test_ids_are_arm_and_sample(bench: Bench) -> None:
    run = bench("--model", "fake:echo", "--collect-only", "-q", "-k", "grounding-001")
    run.result.stdout.fnmatch_lines(["test_calibration.py::test_sample[[]fake-echo-grounding-001[]]"])


def test_selection_by_marker_and_by_word(bench: Bench, script: Script) -> None:
    name = script()
    assert bench("--model", name, "-m", "calibration", "--collect-only", "-q", "--limit", "5").code == 0
    assert (
        bench("--model", name, "-m", "not calibration", "--collect-only", "-q").code
        == pytest.ExitCode.NO_TESTS_COLLECTED
    )
    assert bench("--model", name, "-k", "no_such_sample").code == pytest.ExitCode.NO_TESTS_COLLECTED


def test_other_tests_are_left_in_peace(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_plain="def test_plain(): pass")
    result = pytester.runpytest_subprocess("--model", "no-such-model", *BARE)
    assert result.ret == 0
    assert not (pytester.path / "reports").exists()


def test_stopping_at_the_first_failure(bench: Bench, script: Script) -> None:
    first = calibration()[0].id
    run = bench("--model", script(fail=[first]), "-x", "-k", "grounding-0")
    assert run.code == 1
    assert list(run.records) == [first]


def test_html_shows_score_answer_and_image_escaped(bench: Bench, script: Script, mode: tuple[str, ...]) -> None:
    evil = '<script>alert("x")</script>\u2028line'
    first, second = calibration()[:2]
    name = script(answers={first.id: evil})
    run = bench("--model", name, "-k", f"{first.id} or {second.id}", "--html", "page/r.html", *mode)
    assert run.code == 0
    page = (run.folder / "page" / "r.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "alert(" in page
    assert "Score" in page
    assert "wrong" in page
    image = Path(first.images[0].path).name
    assert image in page
    assert "data:image/png;base64" not in page.partition("<body")[2]


def test_html_opens_with_what_came_out_and_links_the_report(
    bench: Bench, script: Script, mode: tuple[str, ...]
) -> None:
    run = bench("--model", script(), "--limit", "5", "--html", "page/r.html", "--run-dir", "reports/x<y", *mode)
    assert run.code == 0
    page = (run.folder / "page" / "r.html").read_text("utf-8")
    above = page.partition('id="results-table"')[0]
    assert "x&lt;y: finished" in above
    assert "badge: " in above
    assert "Calibration" in above
    assert 'href="../reports/x&lt;y/report.html"' in above
    assert "x<y" not in page.partition("<body")[2].partition("data-jsonblob")[0]


def test_an_html_page_grows_by_little_with_every_sample(bench: Bench, script: Script) -> None:
    everything = [sample.id for sample in calibration()]
    run = bench("--model", script(wrong=everything), "--html", "r.html")
    page = (run.folder / "r.html").read_text("utf-8")
    assert page.count("col-verdict") >= len(everything)
    assert len(page) < 40_000 + 2_000 * len(everything)
