"""A run whose disk is full says what, where and what to type, keeps whole records, and goes on with `--resume`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from bakeoff.report import build
from tests_unit.plugin.conftest import BenchRun

Bench = Callable[..., BenchRun]
LIMIT = "40"


@contextmanager
def full(pytester: pytest.Pytester, most_bytes: int) -> Iterator[None]:
    """Let no file of the pytest process become larger while the context is open."""
    conftest = pytester.path / "conftest.py"
    limit = f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most_bytes}, resource.RLIM_INFINITY))"
    conftest.write_text(f"import resource\n{limit}\n", "utf-8")
    try:
        yield
    finally:
        conftest.unlink()


def begin(bench: Bench, *more: str) -> BenchRun:
    run = bench("--model", "fake:oracle", "--limit", LIMIT, "--parity", "off", "--run-dir", "reports/run", *more)
    assert "Traceback" not in run.text, run.text
    assert "INTERNALERROR" not in run.text, run.text
    return run


@pytest.mark.parametrize("mode", [("-p", "no:xdist"), ("-n2",)], ids=["alone", "n2"], indirect=True)
def test_records_that_do_not_fit_end_the_run_which_goes_on_later(
    bench: Bench, pytester: pytest.Pytester, mode: tuple[str, ...]
) -> None:
    with full(pytester, 20_000):
        run = begin(bench, *mode)
    assert run.code == 2, run.text
    journal = pytester.path / "reports" / "run" / "records" / "fake-oracle.jsonl"
    assert f"cannot write to {journal}" in run.text
    assert f"Make room, then go on with --resume={journal.parents[1]}" in run.text
    kept = set(run.records)
    assert 10 < len(kept) < 40
    again = bench("--resume=reports/run")
    assert again.code == 0, again.text
    assert f"resumed: {len(kept)} samples" in again.text
    assert len(again.records) == 40


def test_a_run_that_cannot_begin_says_so_and_leaves_nothing_in_the_way(bench: Bench, pytester: pytest.Pytester) -> None:
    with full(pytester, 1300):
        run = begin(bench)
    assert run.code == 4, run.text
    assert f"cannot write {pytester.path / 'reports' / 'run' / 'run.json'}: File too large" in run.text
    assert "Make room, or name another place with --run-dir DIR" in run.text
    assert begin(bench).code == 0


def test_a_report_that_does_not_fit_costs_no_record(bench: Bench, pytester: pytest.Pytester) -> None:
    with full(pytester, 90_000):
        run = begin(bench)
    assert run.code == 4, run.text
    folder = pytester.path / "reports" / "run"
    assert f"Make room, then build the report with: bakeoff report {folder}" in run.text
    assert len(run.records) == 40
    assert not (folder / "report.html").exists()
    assert build(run.run).arms["fake-oracle"].tracks["calibration"].n == 40
