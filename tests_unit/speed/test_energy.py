"""Energy is read where an ordinary user may; elsewhere it is absent with the reason."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from bakeoff.speed.energy import EnergyMeter, energy_meter


@pytest.fixture
def no_apple(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zeus_apple_silicon", None)


def rapl(folder: Path, *microjoules: int) -> None:
    for number, value in enumerate(microjoules):
        zone = folder / f"intel-rapl:{number}"
        part = folder / f"intel-rapl:{number}:0"
        for place in (zone, part):
            place.mkdir(parents=True, exist_ok=True)
            (place / "energy_uj").write_text(f"{value}\n", "ascii")
            (place / "max_energy_range_uj").write_text("262143328850\n", "ascii")


@pytest.mark.usefixtures("no_apple")
def test_packages_are_summed_and_their_parts_are_not_counted_twice(tmp_path: Path) -> None:
    rapl(tmp_path, 2_000_000, 3_000_000)
    meter = energy_meter(tmp_path)
    assert meter.joules is not None
    assert meter.joules() == 5.0


@pytest.mark.usefixtures("no_apple")
def test_a_counter_that_began_anew_is_carried_over(tmp_path: Path) -> None:
    rapl(tmp_path, 1)
    meter = energy_meter(tmp_path)
    assert meter.used(262143.0, 1.0) == pytest.approx(1.33, abs=0.01)
    assert meter.used(1.0, 3.5) == 2.5


@pytest.mark.usefixtures("no_apple")
def test_without_a_counter_there_is_a_reason(tmp_path: Path) -> None:
    meter = energy_meter(tmp_path)
    assert meter.joules is None
    assert meter.reason == "this system shows no energy counter"


@pytest.mark.usefixtures("no_apple")
def test_a_counter_for_root_alone_is_named(tmp_path: Path) -> None:
    rapl(tmp_path, 1)
    counter = tmp_path / "intel-rapl:0" / "energy_uj"
    counter.unlink()
    counter.mkdir()  # root, who runs many a check, may read any file; nobody reads a folder
    meter = energy_meter(tmp_path)
    assert meter.joules is None
    assert "can be read by root only" in (meter.reason or "")


def test_on_apple_silicon_the_parts_that_the_chip_tells_are_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    told = SimpleNamespace(cpu_total_mj=1500, gpu_mj=2000, gpu_sram_mj=None, ane_mj=0, dram_mj=500)
    module = ModuleType("zeus_apple_silicon")
    module.AppleEnergyMonitor = lambda: SimpleNamespace(get_cumulative_energy=lambda: told)  # type: ignore[attr-defined]  # a double
    monkeypatch.setitem(sys.modules, "zeus_apple_silicon", module)
    meter: EnergyMeter = energy_meter()
    assert meter.joules is not None
    assert meter.joules() == 4.0
