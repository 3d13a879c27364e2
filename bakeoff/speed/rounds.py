"""Asks one prompt round after round; the first round warms up and is watched, the others are timed and not watched."""

from bakeoff.backends import Backend
from bakeoff.records import Output, Prompt
from bakeoff.speed.energy import EnergyMeter
from bakeoff.speed.memory import MemoryWatch, device_memory
from bakeoff.speed.metrics import measured


class Rounds:
    """Call it once to warm up and then once a round.

    Args:
        backend: the open arm.
        kind: the name of its backend.
        prompt: what is asked.
        meter: of energy.
        pid: root of the process tree whose memory is watched.
    """

    def __init__(self, backend: Backend, kind: str, prompt: Prompt, meter: EnergyMeter, *, pid: int) -> None:
        self._backend = backend
        self._prompt = prompt
        self._meter = meter
        self._pid = pid
        self._device = device_memory(kind)
        self._is_warm = False
        self._peaks: dict[str, float] = {}
        self._found: list[dict[str, float]] = []

    def __call__(self) -> Output:
        """Ask once."""
        if self._is_warm:
            return self._timed()
        output = self._watched()
        self._is_warm = True
        return output

    def values(self) -> dict[str, tuple[float, ...]]:
        """Return the values of the timed rounds by quantity, and the peaks of the watched one."""
        names = dict.fromkeys(name for found in self._found for name in found)
        rounds = {name: tuple(found[name] for found in self._found if name in found) for name in names}
        return {**rounds, **{name: (value,) for name, value in self._peaks.items()}}

    def _watched(self) -> Output:
        if self._device is not None:
            self._device.reset_peak()
        with MemoryWatch(self._pid) as watch:
            output = self._ask()
        if watch.peak_bytes is not None:
            self._peaks["peak_memory_bytes"] = watch.peak_bytes
        if self._device is not None:
            self._peaks["device_peak_bytes"] = self._device.peak_bytes()
        return output

    def _timed(self) -> Output:
        read = self._meter.joules
        before = read() if read else 0.0
        output = self._ask()
        found = measured(output)
        if read:
            found["energy_j"] = self._meter.used(before, read())
        self._found.append({name: value for name, value in found.items() if value is not None})
        return output

    def _ask(self) -> Output:
        return self._backend.submit(self._prompt).result()
