"""Energy used by the processor, where the system lets an ordinary user read it: a counter of joules that only grows.

Linux keeps one in `/sys/class/powercap` (RAPL); since CVE-2020-8694 most systems show it to root alone. On Apple
silicon the package zeus-apple-silicon (extra `energy`) reads IOReport without root. Both count the whole package,
everything else that runs included.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

POWERCAP = Path("/sys/class/powercap")
_APPLE_PARTS = ("cpu_total_mj", "gpu_mj", "gpu_sram_mj", "ane_mj", "dram_mj")


class EnergyMeter(msgspec.Struct, frozen=True, kw_only=True):
    """`joules` reads the counter, None where there is none, for the `reason`. `wraps_at` is where it begins anew."""

    joules: Callable[[], float] | None
    reason: str | None = None
    wraps_at: float | None = None

    def used(self, before: float, after: float) -> float:
        """Return the joules between two readings."""
        return after - before + (self.wraps_at or 0.0 if after < before else 0.0)


def energy_meter(powercap: Path = POWERCAP) -> EnergyMeter:
    """Return the machine's meter."""
    try:
        from zeus_apple_silicon import AppleEnergyMonitor  # type: ignore[import-not-found]  # noqa: PLC0415 -- optional
    except ImportError:
        return _rapl(powercap)
    monitor = AppleEnergyMonitor()
    return EnergyMeter(joules=lambda: _apple_joules(monitor.get_cumulative_energy()))


def _rapl(powercap: Path) -> EnergyMeter:
    """Return the sum of all processor packages."""
    packages = sorted(zone for zone in powercap.glob("intel-rapl:*") if zone.name.count(":") == 1)
    if not packages:
        return EnergyMeter(joules=None, reason="this system shows no energy counter")
    counters = [zone / "energy_uj" for zone in packages]
    try:
        _sum_of(counters)
        wraps_at = _sum_of([zone / "max_energy_range_uj" for zone in packages]) if len(packages) == 1 else None
    except OSError:
        return EnergyMeter(joules=None, reason=f"{counters[0]} can be read by root only")
    return EnergyMeter(joules=lambda: _sum_of(counters), wraps_at=wraps_at)


def _sum_of(files: list[Path]) -> float:
    return sum(int(file.read_text("ascii")) for file in files) / 1e6


def _apple_joules(found: Any) -> float:
    return sum(getattr(found, part, None) or 0 for part in _APPLE_PARTS) / 1000.0
