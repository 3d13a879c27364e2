"""Synthetic runs: a tiny track with drawn images, and run directories written as the plugin writes them."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PIL import Image as PillowImage, ImageDraw

from bakeoff.metrics import Metric, macro_metric, mean_metric
from bakeoff.records import (
    BoxTarget,
    Failure,
    Image,
    OptionTarget,
    Record,
    Sample,
    Score,
    Session,
    TextTarget,
    to_line,
)
from bakeoff.runs import ArmManifest, Manifest, RunDirectory, TrackManifest
from bakeoff.scorers import SCORERS
from bakeoff.tracks import TRACKS, Track, load_samples

TRACK = "toy"
FAMILIES = ("boxes", "choices", "words")
FINGERPRINT: dict[str, Any] = {
    "sampling.temperature": 0.0,
    "seed": 0,
    "thinking": "default",
    f"tracks.{TRACK}.protocol": "default",
    f"tracks.{TRACK}.max_tokens": 64,
    f"tracks.{TRACK}.samples_sha256": "a" * 64,
}


def _metrics(records: Sequence[Record]) -> dict[str, Metric]:
    macro = macro_metric(records, "family", expected=FAMILIES)
    return {"accuracy": msgspec.structs.replace(macro, primary=True), "micro": mean_metric(records)}


def draw_samples(folder: Path, images: int = 40) -> tuple[Sample, ...]:
    """Draw `images` pictures and ask one question of each family about every one of them."""
    (folder / "images").mkdir(parents=True)
    lines: list[str] = []
    for number in range(images):
        path = folder / "images" / f"{number:03}.png"
        picture = PillowImage.new("RGB", (96, 64), (230, 230, 225))
        left, top = 4 + number % 40, 4 + number % 30
        ImageDraw.Draw(picture).rectangle((left, top, left + 24, top + 16), fill=(200, 60 + number, 40))
        picture.save(path)
        image = Image(
            path=f"images/{path.name}", sha256=hashlib.sha256(path.read_bytes()).hexdigest(), width=96, height=64
        )
        box = (left / 96, top / 64, (left + 24) / 96, (top + 16) / 64)
        for family, target, question in (
            ("boxes", BoxTarget(box=box, image_size=(96, 64)), "Where is the rectangle?"),
            ("choices", OptionTarget(letter="B", count=3, options=("red", "green", "blue")), "Which colour is it?"),
            ("words", TextTarget(answers=("hello", "hallo")), "What does it say?"),
        ):
            sample = Sample(
                id=f"toy-{family}-{number:03}",
                track=TRACK,
                question=question,
                target=target,
                images=(image,),
                groups={"family": family, "size": "small" if number % 2 else "large"},
            )
            lines.append(to_line(sample))
    (folder / "samples.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return load_samples(folder)


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Sample, ...]:
    """The samples of a track `toy` that this version knows: 40 images, three questions each."""
    return add_toy_track(tmp_path / "data" / TRACK, monkeypatch)


def add_toy_track(folder: Path, patch: pytest.MonkeyPatch) -> tuple[Sample, ...]:
    """Make the track `toy` known, with its data in `folder`, and return its samples."""
    drawn = draw_samples(folder)
    track = Track(
        name=TRACK,
        title="Toy",
        version="1",
        citation="none",
        dataset="drawn",
        revision="1",
        licence="MIT",
        official_metric="accuracy",
        full=0,
        protocols=(),
        dimensions=("family", "size"),
        metrics=_metrics,
        macro="family",
        folder=lambda: folder,
    )
    patch.setitem(TRACKS, TRACK, track)
    return drawn


def answer_of(sample: Sample, *, right: bool) -> tuple[str, Score]:
    """Return an output that is right or wrong on `sample`, and the score for it."""
    match sample.target:
        case BoxTarget(box=box):
            shift = 0 if right else 150
            output = json.dumps({"bbox_2d": [round(edge * 1000) + shift for edge in box]})
            return output, SCORERS["box_iou"].score(output, sample.target)
        case OptionTarget():
            answer = "B" if right else "A"
        case _:
            answer = "hello" if right else "help"
    return f"It is {answer}.", Score(value=float(right), correct=right, answer=answer)


def record(sample: Sample, *, right: bool = True, at: float = 0.0, **changes: Any) -> Record:
    """A record of `sample`, started `at` seconds into 2026-11-30 09:00 UTC."""
    output, score = answer_of(sample, right=right)
    minute, second = divmod(at, 60)
    base = Record(
        sample_id=sample.id,
        track=sample.track,
        status="ok",
        groups=sample.groups,
        image_sha256=tuple(image.sha256 for image in sample.images),
        prompt_sha256=hashlib.sha256(sample.id.encode()).hexdigest(),
        output=output,
        answer=score.answer,
        score=score.value,
        correct=score.correct,
        metrics=score.metrics,
        scorer="box_iou" if isinstance(sample.target, BoxTarget) else "exact",
        scorer_version="1",
        finish_reason="stop",
        thinking=False,
        completion_tokens=11,
        ttft_s=0.1,
        decode_s=0.5,
        total_s=0.6,
        peak_memory_bytes=3_600_000_000,
        started_at=f"2026-11-30T09:{int(minute):02}:{second:06.3f}+00:00",
    )
    return msgspec.structs.replace(base, **changes)


def failed(sample: Sample, message: str = "the runtime died", at: float = 0.0) -> Record:
    """A record of a sample that got no output."""
    return record(
        sample,
        at=at,
        status="error",
        output=None,
        answer=None,
        score=None,
        correct=None,
        finish_reason=None,
        total_s=None,
        error=Failure(type="BackendDied", message=message),
    )


class RunMaker:
    """Writes run directories."""

    def __init__(self, folder: Path, samples: tuple[Sample, ...]) -> None:
        self.run = RunDirectory(folder)
        self.samples = samples
        self._arms: dict[str, ArmManifest] = {}
        self._selection: dict[str, dict[str, list[str]]] = {}

    def arm(
        self,
        name: str,
        lines: Iterable[Record | Session] | None,
        *,
        backend: str = "mlx",
        fingerprint: dict[str, Any] | None = None,
        selected: dict[str, list[str]] | None = None,
    ) -> "RunMaker":
        """Add an arm with its journal; no journal at all for None."""
        self._arms[name] = ArmManifest(
            model=name,
            backend=backend,
            identity={"weights_sha256": hashlib.sha256(name.encode()).hexdigest(), "runtime": "1.0"},
            fingerprint=FINGERPRINT if fingerprint is None else fingerprint,
        )
        self._selection[name] = {TRACK: [sample.id for sample in self.samples]} if selected is None else selected
        if lines is not None:
            with self.run.open_journal(name, self._arms[name].fingerprint) as journal:
                for line in lines:
                    journal.append(to_line(line))
        return self

    def describe(self, name: str, **identity: Any) -> "RunMaker":
        """Add to the identity of an arm."""
        arm = self._arms[name]
        self._arms[name] = msgspec.structs.replace(arm, identity={**arm.identity, **identity})
        return self

    def write(self, **options: Any) -> RunDirectory:
        """Write manifest and selection and return the run."""
        self.run.write_manifest(
            Manifest(
                run=self.run.name,
                created="2026-11-30T09:00:00.000+00:00",
                argv=("pytest", "tests_bench", "--model", ",".join(self._arms)),
                options=options,
                environment={"os": "Linux", "python": "3.11.7", "packages": {"mlx": "0.32.4"}},
                arms=self._arms,
                tracks={
                    TRACK: TrackManifest(
                        version="1",
                        dataset="drawn",
                        revision="1",
                        protocol="default",
                        max_tokens=64,
                        full=len(self.samples),
                        prepared=len(self.samples),
                        samples_sha256="a" * 64,
                    )
                },
            )
        )
        self.run.write_selection(self._selection)
        return self.run


@pytest.fixture
def maker(tmp_path: Path, samples: tuple[Sample, ...]) -> RunMaker:
    """An empty run to add arms to."""
    return RunMaker(tmp_path / "reports" / "20261130T090000Z-abcd", samples)


@pytest.fixture
def answered(samples: tuple[Sample, ...]) -> Callable[..., list[Record]]:
    """Make one record per sample, wrong where `wrong(position)`."""
    return answers_to(samples)


def answers_to(samples: tuple[Sample, ...]) -> Callable[..., list[Record]]:
    """Return what makes one record per sample, wrong where `wrong(position)`."""

    def make(wrong: Callable[[int], bool] = lambda _: False, **changes: Any) -> list[Record]:
        return [
            record(sample, right=not wrong(position), at=position * 0.5, **changes)
            for position, sample in enumerate(samples)
        ]

    return make
