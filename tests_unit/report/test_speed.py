"""The speed track in a report: figures with their spread, nothing invented, and a drawing of who is quick."""

from typing import Any

import msgspec
import pytest

from bakeoff.report.numbers import NARROW
from bakeoff.report.results import ArmResult, Results
from bakeoff.report.speed import SpeedSection, speed_lines, speed_section
from bakeoff.report.speed_about import SpeedAbout, speed_about
from bakeoff.speed.metrics import Figure, figure
from bakeoff.speed.store import Pass, Speed

ARM: dict[str, Any] = dict.fromkeys(ArmResult.__struct_fields__)


def fig(*values: float, second: tuple[float, ...] = ()) -> Figure:
    found = figure([values, second] if second else [values])
    assert found is not None
    return found


def results(speed: dict[str, dict[str, dict[str, Figure]]], about: SpeedAbout | None = None) -> Results:
    arms = {name: ArmResult(**{**ARM, "model": name, "backend": backend}) for name, backend in ARMS.items()}
    fields: dict[str, Any] = dict.fromkeys(Results.__struct_fields__)
    return Results(**{**fields, "arms": arms, "speed": speed, "speed_about": about or SpeedAbout()})


ARMS = {"quick": "mlx", "slow": "gguf"}
TWO = {
    "quick": {"load": {"load_s": fig(0.5)}, "512": {"total_s": fig(0.9, 1.0, 1.1), "decode_tps": fig(40.0)}},
    "slow": {"512": {"total_s": fig(2.0, 2.0, 2.0), "prompt_tokens": fig(300.0)}},
}


def section(speed: dict[str, dict[str, dict[str, Figure]]], about: SpeedAbout | None = None) -> SpeedSection:
    found = speed_section(results(speed, about))
    assert found is not None
    return found


def test_a_run_that_timed_nothing_has_no_section() -> None:
    assert speed_section(results({})) is None


def test_a_table_by_setting_has_the_quantities_that_some_arm_tells() -> None:
    load, screen = section(TWO).tables
    assert load.table == (("", "quick"), (("Load", f"500{NARROW}ms"),))
    assert screen.title == "512 × 512"
    assert screen.table == (
        ("", "quick", "slow"),
        (
            ("Decode", f"40{NARROW}tok/s", "–"),
            ("Total", f"1.00{NARROW}s ±5%", f"2.00{NARROW}s"),
            ("Prompt tokens", "–", "300"),
            ("Total, times quick", "1.00", "2.00"),
        ),
    )


def test_the_quicker_arm_lies_to_the_left_and_within_the_frame() -> None:
    for plot in section(TWO).plots:
        quick, slow = plot.bars
        assert plot.left <= float(quick.low) <= float(quick.x) <= float(quick.high) < float(slow.x) <= plot.width
        assert float(quick.y) < float(slow.y) < plot.bottom < plot.height
        assert len(plot.ticks) >= 2


def test_what_is_absent_is_told_with_its_reason() -> None:
    notes = section(TWO, SpeedAbout(absent={"energy_j": "this system shows no energy counter"})).notes
    assert "Energy is absent for quick, slow: this system shows no energy counter." in notes
    assert any(note.startswith("Decode is absent for slow: ") for note in notes)


def test_passes_that_differ_by_more_than_the_spread_are_told() -> None:
    drifted = {"quick": {"512": {"total_s": fig(1.0, 1.0, 1.0, second=(2.0,))}}}
    steady = {"quick": {"512": {"total_s": fig(1.0, 1.02, second=(1.01, 1.03))}}}
    assert any("quick changed by more than its spread on: 512 × 512" in note for note in section(drifted).notes)
    assert not any("changed by more" in note for note in section(steady).notes)


def test_a_cache_that_could_not_be_switched_off_is_told() -> None:
    notes = section({"quick": {"512": {"total_s": fig(1.0), "cached_tokens": fig(120.0)}}}).notes
    assert any("from a cache although caches are off: 512 × 512" in note for note in notes)


def test_the_terminal_table_has_a_line_a_setting_and_arm() -> None:
    heads, rows = speed_lines(results(TWO))
    assert heads == ("Setting", "Arm", "First token", "Decode", "Total", "Peak memory")
    assert [row[:2] for row in rows] == [("512 × 512", "quick"), ("512 × 512", "slow")]


def test_conditions_are_ranges_over_all_passes() -> None:
    passes = (
        Pass(arm="a", setting="text", number=0, before={"power": "mains", "load_1min": 0.5}, after={"load_1min": 2.0}),
        Pass(arm="a", setting="512", number=0, before={"power": "mains"}, error="BackendDied: gone"),
    )
    found = speed_about(Speed(passes=passes))
    assert found.conditions == ("power mains", "load 0.50 to 2.00")
    assert found.errors == ("a could not be measured on 512 × 512: BackendDied: gone.",)


@pytest.mark.parametrize("speed", [TWO, {}])
def test_figures_survive_results_json(speed: dict[str, dict[str, dict[str, Figure]]]) -> None:
    text = msgspec.json.encode(results(speed).speed)
    assert msgspec.json.decode(text, type=dict[str, dict[str, dict[str, Figure]]]) == speed
