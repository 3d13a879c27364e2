"""What the machine was doing while it was measured: power, heat, clock, load. What cannot be read is not there."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil

_GOVERNOR = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")


def conditions() -> dict[str, str | float]:
    """Return what can be read without being root."""
    found: dict[str, str | float] = {}
    for name, read in _READERS.items():
        try:
            value = read()
        except (AttributeError, OSError, RuntimeError, ValueError, subprocess.SubprocessError):
            continue  # not on every system, and not to every user
        if value is not None:
            found[name] = value
    return found


def _power() -> str | None:
    battery = psutil.sensors_battery()
    return None if battery is None or battery.power_plugged is None else _source(plugged=battery.power_plugged)


def _source(*, plugged: bool) -> str:
    return "mains" if plugged else "battery"


def _temperature() -> float | None:
    return max((entry.current for entries in psutil.sensors_temperatures().values() for entry in entries), default=None)


def _clock() -> float | None:
    clock = psutil.cpu_freq()
    return clock.current if clock and clock.current else None


def _governor() -> str | None:
    return _GOVERNOR.read_text("ascii").strip() or None


def _speed_limit() -> float | None:
    """Return to how many percent macOS holds the processors down for heat."""
    if sys.platform != "darwin":
        return None
    told = subprocess.run(["/usr/bin/pmset", "-g", "therm"], capture_output=True, text=True, check=True, timeout=10)
    values = [line.rpartition("=")[2] for line in told.stdout.splitlines() if "CPU_Speed_Limit" in line]
    return float(values[0]) if values else None


_READERS: dict[str, Callable[[], str | float | None]] = {
    "power": _power,
    "temperature_c": _temperature,
    "clock_mhz": _clock,
    "governor": _governor,
    "speed_limit_pct": _speed_limit,
    "load_1min": lambda: os.getloadavg()[0],
    "swap_used_bytes": lambda: float(psutil.swap_memory().used),
}
