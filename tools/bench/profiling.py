"""Where the suite's own time goes while samples are answered: the main thread of a session with a scripted arm.

Time of built-in functions and of Python's library is given to who called them, in proportion. The profiler makes calls
dearer than they are, so shares say more than seconds do.
"""

import pstats
from functools import cache
from pathlib import Path

from tools.bench.figures import ROOT, run_pytest, scratch
from tools.bench.workload import write_arms, write_bench, write_data

SAMPLES, SMOKE = 3_000, 500
_DEEPEST = 12

Function = tuple[str, int, str]

PARTS: tuple[tuple[str, str], ...] = (
    ("/_pytest/capture.py", "pytest: capturing output"),
    ("/_pytest/terminal.py", "pytest: the terminal"),
    ("/_pytest/", "pytest: the rest"),
    ("/pluggy/", "pytest: the rest"),
    ("/pytest_", "pytest: the rest"),
    ("/xdist/", "pytest: the rest"),
    ("/bakeoff/scorers/", "scoring"),
    ("/bakeoff/text.py", "scoring"),
    ("/bakeoff/evaluate.py", "prompts and records"),
    ("/bakeoff/records.py", "prompts and records"),
    ("/bakeoff/hashing.py", "prompts and records"),
    ("/bakeoff/tracks/", "prompts and records"),
    ("/bakeoff/lines.py", "journal"),
    ("/bakeoff/journal.py", "journal"),
    ("/bakeoff/engine.py", "engine, waiting for the arm included"),
    ("/bakeoff/backends/", "engine, waiting for the arm included"),
    ("/bakeoff/plugin/", "the plugin's hooks"),
)


def run(*, smoke: bool) -> bool:
    """Profile, print the shares, and return True: there is no limit, `overhead` has one."""
    samples = SMOKE if smoke else SAMPLES
    with scratch() as folder:
        write_data(folder / "data", samples)
        write_bench(folder / "bench")
        (arm,) = write_arms(folder, folder / "data", 1)
        asked = ("bench", "--model", arm, "--run-dir", str(folder / "run"))
        run_pytest(folder, *asked, data=folder / "data", profile=folder / "profile")
        shares = parts_of(folder / "profile")
    whole = sum(shares.values())
    for part, seconds in sorted(shares.items(), key=lambda item: -item[1]):
        print(f"  {part:<40} {100 * seconds / whole:5.1f} %")
    own = sum(seconds for part, seconds in shares.items() if not part.startswith("pytest"))
    print(f"profile: {100 * own / whole:.0f} % of a sample is the suite's own")
    return True


def parts_of(profile: Path) -> dict[str, float]:
    """Return the seconds of each part."""
    found = pstats.Stats(str(profile)).stats  # type: ignore[attr-defined]  # not in the stubs, documented in the source

    @cache
    def owners(function: Function, depth: int = 0) -> tuple[tuple[str, float], ...]:
        """Return which parts a function works for, with shares that sum to 1."""
        part = next((name for place, name in PARTS if place in function[0].removeprefix(str(ROOT.parent))), None)
        callers = found[function][4]
        weight = sum(times[3] for times in callers.values())
        if part is not None or depth > _DEEPEST or not callers or weight <= 0:
            return ((part or "other", 1.0),)
        shares: dict[str, float] = {}
        for caller, times in callers.items():
            for name, share in owners(caller, depth + 1):
                shares[name] = shares.get(name, 0.0) + share * times[3] / weight
        return tuple(shares.items())

    parts: dict[str, float] = {}
    for function, (_, _, own_s, _, _) in found.items():
        for name, share in owners(function):
            parts[name] = parts.get(name, 0.0) + own_s * share
    return parts
