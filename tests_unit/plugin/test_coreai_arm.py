"""A whole run of the Core AI arm through the double: scores, skipped samples, parity with MLX, identity."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests_unit.backends.coreai_cases import compiler, model_in
from tests_unit.plugin.conftest import BenchRun, calibration

Bench = Callable[..., BenchRun]

PAIR = next(sample.id for sample in calibration() if len(sample.images) == 2)
SINGLE = [sample.id for sample in calibration() if len(sample.images) == 1][:3]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytester: pytest.Pytester) -> str:
    compiler(tmp_path / "bin", monkeypatch, families=("h15", "h16"))
    monkeypatch.setenv("BAKEOFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makeconftest(
        "import pytest\nfrom tests_unit.doubles import coreai_runtime\ncoreai_runtime.install(pytest.MonkeyPatch())\n"
    )
    return f"coreai:{model_in(tmp_path / 'tiny', positions=1024)}"


@pytest.mark.slow
@pytest.mark.real_runtime
def test_a_run_scores_what_it_can_be_asked_and_skips_the_rest(bench: Bench, model: str) -> None:
    run = bench("--model", model, "-k", " or ".join([PAIR, *SINGLE]), "--temperature", "0")
    assert run.code == 0, run.text
    assert sorted(run.records) == sorted(SINGLE)
    assert set(run.journal().skipped) == {PAIR}
    arm = run.run.manifest().arms["tiny"]
    assert (arm.backend, arm.identity["compiled"]) == ("coreai", "tiny_decode.h16.aimodelc")
    assert all(record.image_tokens == 258 for record in run.records.values())


def test_workers_are_refused(bench: Bench, model: str) -> None:
    run = bench("--model", model, "-n2")
    assert run.code == 4
    assert "would be loaded once in every worker" in run.text
