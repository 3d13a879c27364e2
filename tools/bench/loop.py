"""Samples a second under pytest against a bare loop over the same backend calls, one prompt in flight, in one run.

The two take turns in ABBA order, so that a machine that slows down meanwhile slows both. Loading is left out: the
clock runs from the first answer to the last. The scripted arm takes 100 ms a sample, which is quick for a real one.
"""

import json
import statistics
from pathlib import Path

from tools.bench.figures import Figure, run_pytest, run_python, scratch, tell

SAMPLES, SMOKE = 100, 30
RATIO, SMOKE_RATIO = 0.97, 0.80
DELAY_S = 0.1

_BARE = """
import json, pathlib, sys, tempfile, time
from bakeoff.backends import open_backend, Settings
from bakeoff.evaluate import Asking, TrackPlan, context_bound, prompt_of
from bakeoff.models import resolve
from bakeoff.records import Sampling
from bakeoff.tracks import TRACKS, samples_of
from bakeoff.tracks.draw import draw
name, count = sys.argv[1], int(sys.argv[2])
track = TRACKS["calibration"]
protocol = track.protocols[0]
samples = draw(samples_of(track, protocol), count, dimension=track.dimensions[0], seed=0)
plan = TrackPlan(track=track, protocol=protocol, max_tokens=protocol.max_tokens, samples=samples, prepared=len(samples))
asking = Asking(sampling=Sampling(temperature=0.0), seed=0, thinking="default")
prompts = [prompt_of(sample, plan, asking) for sample in samples]
log = pathlib.Path(tempfile.mkdtemp()) / "log"
settings = Settings(context_tokens=context_bound(prompts), log_path=log, concurrency=1, progress=lambda _: None)
backend = open_backend(resolve(name), settings)
backend.submit(prompts[0]).result()
began = time.perf_counter()
for prompt in prompts[1:]:
    backend.submit(prompt).result()
spent = time.perf_counter() - began
backend.close()
print(json.dumps({"rate": (len(prompts) - 1) / spent}))
"""


def run(*, smoke: bool) -> bool:
    """Measure, print, and return whether pytest keeps up."""
    count = SMOKE if smoke else SAMPLES
    limit = SMOKE_RATIO if smoke else RATIO
    with scratch() as folder:
        (folder / "test_calibration.py").write_text('TRACK = "calibration"\ndef test_sample(case): case.check()\n')
        script = folder / "slow.json"
        script.write_text(json.dumps({"default": "A", "delay_s": DELAY_S}), "utf-8")
        ratios = {name: _ratio(folder, arm, count) for name, arm in (("fake", f"fake:{script}"), ("gguf", GGUF))}
    figures = [
        Figure(what=f"{name}: rate under pytest by a bare loop's", value=one, unit="x", limit=limit, is_at_least=True)
        for name, one in ratios.items()
    ]
    return tell(figures, f"loop: {min(ratios.values()):.3f}x")


GGUF = "tiny-gguf-bf16"


def _ratio(folder: Path, arm: str, count: int) -> float:
    bare: list[float] = []
    tested: list[float] = []
    for number, kind in enumerate("ABBA"):
        if kind == "A":
            bare.append(run_python(_BARE, arm, str(count))["rate"])
        else:
            tested.append(_tested(folder, arm, count, folder / f"run-{arm.rpartition('/')[2]}-{number}"))
    return statistics.mean(tested) / statistics.mean(bare)


def _tested(folder: Path, arm: str, count: int, run: Path) -> float:
    """Return the samples a second of a pytest session, from its first answer to its last."""
    asked = ("--model", arm, "--limit", str(count), "--temperature", "0", "--concurrency", "1", "--parity", "off")
    stages = run_pytest(folder, "test_calibration.py", *asked, "--run-dir", str(run))
    return (count - 1) / (stages["reporting"]["wall_s"] - stages["answered"]["wall_s"])
