"""The speed track inside pytest: arms in ABBA order, one alive at a time, timed by pytest-benchmark.

With several arms everything is measured in two passes: all arms forwards, then all of them backwards, settings too. A
machine that grows warmer, and so slower, meanwhile is then equally unfair to every arm. The arms are opened again for
the second pass rather than kept alive side by side: two models would share memory and caches, and on a small machine
swap, which spoils more than a second load costs. With one arm there is one pass.
"""

import math
import os
from typing import Any

import msgspec
import pytest

from bakeoff.backends import Backend, open_backend
from bakeoff.errors import BackendError, UsageProblem
from bakeoff.evaluate import context_bound
from bakeoff.models import ModelSpec
from bakeoff.plugin.opening import backend_settings, describe, say
from bakeoff.plugin.options import Options
from bakeoff.plugin.recorder import Recorder
from bakeoff.speed.conditions import conditions
from bakeoff.speed.energy import energy_meter
from bakeoff.speed.rounds import Rounds
from bakeoff.speed.settings import LOAD, SETTINGS, Setting, prompt_of
from bakeoff.speed.store import Pass, Speed, read_speed, write_speed


class SpeedCase:
    """One arm on one setting in one pass: the parameter of the speed test."""

    __slots__ = ("_bench", "arm", "number", "setting")

    def __init__(self, arm: str, setting: Setting, number: int, bench: "SpeedBench") -> None:
        self.arm = arm
        self.setting = setting
        self.number = number
        self._bench = bench

    def measure(self, benchmark: Any) -> None:
        """Time the setting with pytest-benchmark's fixture; the figures join the run's results."""
        self._bench.measure(self, benchmark)


class SpeedBench:
    """Makes the items of a speed test and measures them. Nothing is scored and no journal is written."""

    def __init__(
        self, config: pytest.Config, options: Options, arms: tuple[ModelSpec, ...], recorder: Recorder
    ) -> None:
        self._config = config
        self._options = options
        self._arms = arms
        self._recorder = recorder
        self._say = say(config)
        self._passes = 2 if len(arms) > 1 else 1
        self._told: set[str] = set()
        self._open: tuple[str, Backend] | None = None
        self._meter = energy_meter()
        self._speed = read_speed(recorder.run) or Speed()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make one item per pass, arm and setting, in the order in which they are measured."""
        if "speed" not in metafunc.fixturenames or getattr(metafunc.module, "TRACK", None) != "speed":
            return
        forwards = [(spec.arm, setting) for spec in self._arms for setting in SETTINGS]
        cases = [SpeedCase(arm, setting, 0, self) for arm, setting in forwards]
        if self._passes > 1:
            cases += [SpeedCase(arm, setting, 1, self) for arm, setting in reversed(forwards)]
        ids = [f"{case.arm}-{case.setting.name}{'-again' if case.number else ''}" for case in cases]
        metafunc.parametrize("speed", cases, ids=ids)

    @pytest.hookimpl(tryfirst=True)  # before -m looks at marks
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark the items `speed`."""
        for item in items:
            if case_of(item):
                item.add_marker("speed")

    @pytest.hookimpl(trylast=True)  # a session that also answers samples opens the run with its selection
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Open the run directory when something is to be measured."""
        if any(case_of(item) for item in session.items) and not self._config.option.collectonly:
            if not self._recorder.is_open:
                self._recorder.open({})
            absent = {"energy_j": self._meter.reason} if self._meter.reason else {}
            self._speed = msgspec.structs.replace(self._speed, absent=absent)

    @pytest.hookimpl(optionalhook=True)  # of pytest-benchmark, which can be switched off
    def pytest_benchmark_update_machine_info(self, machine_info: dict[str, Any]) -> None:
        """Keep the host's name out of what pytest-benchmark saves."""
        machine_info.pop("node", None)

    def pytest_runtest_teardown(self, nextitem: pytest.Item | None) -> None:
        """Close the arm as soon as another one, or none, comes next."""
        following = case_of(nextitem) if nextitem is not None else None
        if following is None or self._open is None or following.arm != self._open[0]:
            self.close()

    @pytest.hookimpl(tryfirst=True)  # before the report is built, so that no model is alive while it is
    def pytest_sessionfinish(self) -> None:
        """Let go of the model, whatever ended the session."""
        self.close()

    def close(self) -> None:
        """Close the arm that is open, if any."""
        if self._open is not None:
            self._open[1].close()
        self._open = None

    def measure(self, case: SpeedCase, benchmark: Any) -> None:
        """Measure one case and write down what came out, an error included."""
        if benchmark.disabled:
            pytest.skip("speed is measured by pytest-benchmark, which is disabled in this session")
        benchmark.group = case.setting.title
        before = conditions()
        new = Pass(arm=case.arm, setting=case.setting.name, number=case.number, before=before)
        try:
            values, images = self._load(case, benchmark) if case.setting.name == LOAD else self._ask(case, benchmark)
        except BackendError as error:
            self._keep(msgspec.structs.replace(new, after=conditions(), error=f"{type(error).__name__}: {error}"))
            pytest.fail(f"{case.arm} cannot be measured on {case.setting.title}: {error}", pytrace=False)
        self._keep(msgspec.structs.replace(new, after=conditions(), values=values, images_sha256=images))
        benchmark.extra_info.update(arm=case.arm, setting=case.setting.name, number=case.number, values=values)

    def _keep(self, new: Pass) -> None:
        self._speed = self._speed.with_pass(new)
        write_speed(self._recorder.run, self._speed)

    def _load(self, case: SpeedCase, benchmark: Any) -> tuple[dict[str, tuple[float, ...]], tuple[str, ...]]:
        """Open and close the arm; its files are in the system's cache after the warm-up."""
        self.close()
        taken: list[float] = []

        def load() -> None:
            taken.append(self._opened(case.arm).load_s)

        benchmark.pedantic(load, teardown=self.close, rounds=self._rounds(), warmup_rounds=1)
        return {"load_s": tuple(taken[1:])}, ()

    def _ask(self, case: SpeedCase, benchmark: Any) -> tuple[dict[str, tuple[float, ...]], tuple[str, ...]]:
        """Ask the same prompt again and again, one at a time."""
        prompt = prompt_of(case.setting, self._options.thinking)
        backend = self._opened(case.arm)
        most = backend.capabilities.max_images
        if most is not None and len(prompt.images) > most:
            raise BackendError(f"it takes {most} images a prompt and the setting has {len(prompt.images)}")
        kind = next(spec.backend for spec in self._arms if spec.arm == case.arm)
        rounds = Rounds(backend, kind, prompt, self._meter, pid=os.getpid())
        benchmark.pedantic(rounds, rounds=self._rounds(), warmup_rounds=1)
        return rounds.values(), tuple(image.sha256 for image in prompt.images)

    def _rounds(self) -> int:
        """Return the rounds of a pass: all passes together have at least `--benchmark-min-rounds`, which is 5."""
        return math.ceil(int(self._config.getoption("benchmark_min_rounds")) / self._passes)

    def _opened(self, arm: str) -> Backend:
        if self._open is None or self._open[0] != arm:
            self.close()
            spec = next(spec for spec in self._arms if spec.arm == arm)
            asked = {one.name: prompt_of(one, self._options.thinking) for one in SETTINGS if one.name != LOAD}
            tell = self._say if arm not in self._told else lambda _: None  # opened a dozen times, told once
            self._told.add(arm)
            settings = backend_settings(spec, self._options, self._recorder.run, asked, tell, concurrency=1)
            settings = msgspec.structs.replace(
                settings, image_reuse=False, context_tokens=context_bound(asked.values())
            )
            try:
                backend = open_backend(spec, settings)
            except UsageProblem as problem:
                pytest.exit(f"arm {arm} cannot run: {problem}", returncode=pytest.ExitCode.USAGE_ERROR)
            self._open = (arm, backend)
            self._recorder.note_arm(spec, backend.identity, describe(settings, backend))
        return self._open[1]


def case_of(item: pytest.Item) -> SpeedCase | None:
    """Return the SpeedCase that an item was made for, None for any other."""
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get("speed") if callspec is not None else None
    return case if isinstance(case, SpeedCase) else None
