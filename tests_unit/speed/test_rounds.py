"""One prompt, round after round: the first warms up and is watched, the others count."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from bakeoff.backends.fake.backend import FakeBackend, Script
from bakeoff.models import resolve
from bakeoff.speed.energy import EnergyMeter
from bakeoff.speed.memory import MemoryWatch
from bakeoff.speed.rounds import Rounds
from bakeoff.speed.settings import SETTINGS, prompt_of


def rounds_of(meter: EnergyMeter) -> tuple[Rounds, FakeBackend]:
    backend = FakeBackend(resolve("fake:echo"), Script(default="one two three"))
    return Rounds(backend, "fake", prompt_of(SETTINGS[1]), meter, pid=os.getpid()), backend


def test_the_warm_up_is_not_among_the_values() -> None:
    rounds, backend = rounds_of(EnergyMeter(joules=None))
    for _ in range(4):
        rounds()
    backend.close()
    assert len(backend.asked) == 4
    values = rounds.values()
    assert len(values["total_s"]) == 3
    assert values["completion_tokens"] == (3, 3, 3)


def test_memory_is_the_peak_of_the_watched_round_alone() -> None:
    rounds, backend = rounds_of(EnergyMeter(joules=None))
    for _ in range(3):
        rounds()
    backend.close()
    (peak,) = rounds.values()["peak_memory_bytes"]
    assert peak > 10_000_000
    assert "device_peak_bytes" not in rounds.values()


def test_rounds_are_timed_where_memory_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bakeoff.speed.memory.peak_memory_bytes", lambda _: None)
    rounds, backend = rounds_of(EnergyMeter(joules=None))
    for _ in range(3):
        rounds()
    backend.close()
    assert len(rounds.values()["total_s"]) == 2
    assert "peak_memory_bytes" not in rounds.values()


def test_energy_is_what_the_counter_gained_in_each_round() -> None:
    readings: Iterator[float] = iter((10.0, 13.0, 20.0, 25.0))
    rounds, backend = rounds_of(EnergyMeter(joules=lambda: next(readings)))
    for _ in range(3):
        rounds()
    backend.close()
    assert rounds.values()["energy_j"] == (3.0, 5.0)


def test_what_the_runtime_does_not_tell_is_not_among_the_values() -> None:
    rounds, backend = rounds_of(EnergyMeter(joules=None))
    rounds()
    rounds()
    backend.close()
    assert {"prefill_s", "image_encode_s", "decode_tps", "energy_j"}.isdisjoint(rounds.values())


def test_the_memory_of_children_counts() -> None:
    hold = "import sys; held = b'x' * 80_000_000; print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        with MemoryWatch(os.getpid()) as alone:
            pass
        assert child.stdout.readline() == b"held\n"
        with MemoryWatch(os.getpid()) as together:
            pass
        child.communicate()
    with MemoryWatch(os.getpid()) as after:
        pass
    assert alone.peak_bytes is not None
    assert together.peak_bytes is not None
    assert after.peak_bytes is not None
    assert together.peak_bytes - after.peak_bytes > 70_000_000
