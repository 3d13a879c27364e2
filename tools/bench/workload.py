"""Synthetic prepared data of the size of all benchmarks together, and scripted arms that answer it. No model, no hub.

25,770 samples on eight tracks with the real tracks' own ids, groups, targets and scorers; four in five answers of an
arm are right. About five samples share an image, as they do in the real tracks.
"""

import hashlib
import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from bakeoff.records import BoxTarget, Image, NumberTarget, OptionTarget, Sample, Target, TextTarget, to_line
from bakeoff.speed.drawing import draw_page
from bakeoff.tracks import TRACKS
from bakeoff.tracks.baselines import oracle_output
from bakeoff.tracks.blink import TASKS
from bakeoff.tracks.refcoco import SPLITS
from bakeoff.tracks.screenspot import CELLS

ALL = 25_770
_SIZES = {
    "docvqa": 5349,
    "infographicvqa": 2801,
    "screenspot": 1272,
    "blink": 1901,
    "mathvista": 1000,
    "mmmu": 900,
    "gsm8k": 1319,
}
_WIDTH, _HEIGHT = 620, 877
_SAMPLES_AN_IMAGE = 5
_RIGHT = 0.8


def sizes(samples: int) -> dict[str, int]:
    """Return how many samples each track has when all have `samples` together; RefCOCO takes what is left over."""
    found = {name: size * samples // ALL for name, size in _SIZES.items()}
    return {**found, "refcoco": samples - sum(found.values())}


def write_data(folder: Path, samples: int) -> None:
    """Write prepared samples of every track below `folder`, as `bakeoff prepare` does."""
    for name, count in sizes(samples).items():
        images = _images(folder / name, count) if name != "gsm8k" else []
        lines = [to_line(_sample(name, number, images)) for number in range(count)]
        (folder / name / "samples.jsonl").parent.mkdir(parents=True, exist_ok=True)
        (folder / name / "samples.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def write_bench(folder: Path) -> None:
    """Write a test module of three lines for every track."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in sizes(ALL):
        (folder / f"test_{name}.py").write_text(f'TRACK = "{name}"\ndef test_sample(case): case.check()\n', "utf-8")


def write_arms(folder: Path, data: Path, count: int) -> list[str]:
    """Write scripts of `count` arms that answer the samples below `data`, and return their names for `--model`."""
    prepared = list(_prepared(data))
    names = []
    for number in range(count):
        chance = random.Random(number)
        answers = {name: gold if chance.random() < _RIGHT else f"It is not {number}." for name, gold in prepared}
        path = folder / f"arm{number}.json"
        path.write_text(json.dumps({"answers": answers}), "utf-8")
        names.append(f"fake:{path}")
    return names


def _prepared(data: Path) -> Iterator[tuple[str, str]]:
    """Yield the id of every sample with an output that is right."""
    from bakeoff.tracks import load_samples  # noqa: PLC0415 - reads what was just written

    for name in sizes(ALL):
        protocol = TRACKS[name].protocols[0]
        for sample in load_samples(data / name):
            yield sample.id, oracle_output(sample, protocol)


def _images(folder: Path, samples: int) -> list[Image]:
    """Write one image for every few samples. Bytes behind the end of a PNG are no part of the picture."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    written = io.BytesIO()
    draw_page(_WIDTH, _HEIGHT, seed=len(folder.name)).save(written, "PNG")
    found = []
    for number in range(samples // _SAMPLES_AN_IMAGE + 1):
        content = written.getvalue() + f"{folder.name} {number}".encode()
        path = folder / "images" / f"{number:05}.png"
        path.write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        found.append(Image(path=f"images/{path.name}", sha256=sha256, width=_WIDTH, height=_HEIGHT))
    return found


def _sample(track: str, number: int, images: list[Image]) -> Sample:
    groups, target = _KINDS[track](number)
    return Sample(
        id=f"{track}_{number:05}",
        track=track,
        question=f"What does line {number} of this page say about the account, and where does it stand?",
        target=target,
        images=(images[number // _SAMPLES_AN_IMAGE],) if images else (),
        options=target.options if isinstance(target, OptionTarget) else (),
        groups=groups,
    )


def _box(number: int) -> Target:
    x, y = 0.1 + number % 7 / 10, 0.1 + number % 5 / 10
    return BoxTarget(box=(x, y, x + 0.1, y + 0.2), image_size=(_WIDTH, _HEIGHT))


def _option(number: int) -> Target:
    return OptionTarget(letter="ABCD"[number % 4], count=4, options=("the left one", "the right one", "both", "none"))


def _text(number: int) -> Target:
    return TextTarget(answers=(f"invoice {number}", f"the invoice {number}"))


def _cell(number: int) -> dict[str, str]:
    platform, _, element = CELLS[number % len(CELLS)].partition("/")
    return {"platform": platform, "element": element, "cell": f"{platform}/{element}", "source": "drawn"}


def _mathvista(number: int) -> tuple[dict[str, str], Target]:
    groups = {"task": f"task {number % 5}", "grade": f"grade {number % 3}"}
    if number % 2:
        return {"question_type": "multi_choice", "answer_type": "text", **groups}, _option(number)
    return {"question_type": "free_form", "answer_type": "integer", **groups}, NumberTarget(value=str(number))


_KINDS: dict[str, Callable[[int], tuple[dict[str, str], Target]]] = {
    "docvqa": lambda n: ({"type": f"type {n % 9}"}, _text(n)),
    "infographicvqa": lambda n: ({"type": f"type {n % 4}"}, _text(n)),
    "screenspot": lambda n: (_cell(n), _box(n)),
    "refcoco": lambda n: ({"split": SPLITS[n % len(SPLITS)]}, _box(n)),
    "blink": lambda n: ({"task": TASKS[n % len(TASKS)]}, _option(n)),
    "mathvista": _mathvista,
    "mmmu": lambda n: (
        {"subject": f"subject {n % 30}", "discipline": f"discipline {n % 6}", "question_type": "multiple_choice"},
        _option(n),
    ),
    "gsm8k": lambda n: ({"steps": str(2 + n % 6)}, NumberTarget(value=str(n))),
}
