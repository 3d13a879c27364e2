"""What is seeing worth? The same questions with the right image, a grey one, another sample's, and none.

An arm that scores as much without its images did not need them, or did not get them. The difference is its vision lift.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from bakeoff.backends import Backend
from bakeoff.errors import BackendError
from bakeoff.evaluate import Asking, TrackPlan, prompt_of
from bakeoff.files import write_atomically
from bakeoff.records import Image, Prompt, Sample
from bakeoff.runs import RunDirectory, pretty_json
from bakeoff.tracks.draw import draw
from bakeoff.validity.audit import read_folder

SAMPLES: Final = 24
"""Samples of a track that are asked in all four ways."""

STALE: Final = 0.9
"""Share of answers that another image leaves as they are, above which the image is taken to be ignored."""

Control = Literal["blank", "swapped", "missing"]
CONTROLS: Final[tuple[Control, ...]] = ("blank", "swapped", "missing")


class TrackControl(msgspec.Struct, frozen=True, kw_only=True):
    """One track: mean scores of `n` samples as they are and by control; `unmoved` is the share of unchanged answers.

    A control that could not be made is in neither: nothing is swapped where all samples share their images. `lift` is
    the score with images less the best one without them; it has a standard error, `error`.
    """

    n: int
    score: float
    controls: dict[str, float]
    unmoved: dict[str, float]
    lift: float
    error: float

    @property
    def is_blind(self) -> bool:
        """Whether another image changes next to nothing."""
        return self.unmoved.get("swapped", 0.0) >= STALE

    @property
    def is_lifted(self) -> bool:
        """Whether the score with images is surely higher than the best without."""
        return self.lift > 2 * self.error


class Controls(msgspec.Struct, frozen=True, kw_only=True):
    """Controls of one arm by track."""

    arm: str
    tracks: dict[str, TrackControl] = {}

    def sentences(self) -> tuple[str, ...]:
        """The numbers in words, one sentence a track."""
        return tuple(_sentence(self.arm, name, found) for name, found in self.tracks.items())


def control_arm(backend: Backend, arm: str, plans: Mapping[str, TrackPlan], asking: Asking, folder: Path) -> Controls:
    """Ask a sample of every track that has images in all four ways; grey images are drawn into `folder`."""
    found = {name: control for name, plan in plans.items() if (control := _track(backend, plan, asking, folder))}
    return Controls(arm=arm, tracks=found)


def write_controls(run: RunDirectory, controls: Controls) -> None:
    """Write `controls/<arm>.json`."""
    write_atomically(run.path / "controls" / f"{controls.arm}.json", pretty_json(msgspec.to_builtins(controls)))


def read_controls(run: RunDirectory) -> dict[str, Controls]:
    """Return the controls of a run by arm."""
    return read_folder(run, "controls", Controls)


def _track(backend: Backend, plan: TrackPlan, asking: Asking, folder: Path) -> TrackControl | None:
    most = backend.capabilities.max_images
    with_images = tuple(s for s in plan.samples if s.images and (most is None or len(s.images) <= most))
    dimension = plan.track.dimensions[0] if plan.track.dimensions else None
    chosen = draw(with_images, min(SAMPLES, len(with_images)), dimension=dimension, seed=asking.seed)
    if not chosen:
        return None
    others = {sample.id: other for sample in chosen if (other := _other_images(sample, with_images)) is not None}
    ways: dict[str, Callable[[Sample], Sample]] = {
        "as it is": lambda sample: sample,
        "blank": lambda sample: _with_images(sample, tuple(_grey(folder, image) for image in sample.images)),
        "missing": lambda sample: _with_images(sample, ()),
    }
    if others:  # without any, nothing can be said of another image
        chosen = tuple(sample for sample in chosen if sample.id in others)
        ways["swapped"] = lambda sample: _with_images(sample, others[sample.id])
    texts = {way: _ask(backend, chosen, plan, asking, change) for way, change in ways.items()}
    answered = [sample for sample in chosen if all(sample.id in texts[way] for way in ways)]
    if not answered:
        return None
    scores = {way: [_score(plan, sample, texts[way][sample.id]) for sample in answered] for way in ways}
    means = {way: math.fsum(values) / len(values) for way, values in scores.items()}
    real = texts["as it is"]
    made = tuple(way for way in CONTROLS if way in ways)
    best = max(made, key=lambda way: means[way])
    steps = [a - b for a, b in zip(scores["as it is"], scores[best], strict=True)]
    return TrackControl(
        n=len(answered),
        score=means["as it is"],
        controls={way: means[way] for way in made},
        unmoved={way: _share(texts[way][s.id] == real[s.id] for s in answered) for way in made},
        lift=means["as it is"] - means[best],
        error=_standard_error(steps),
    )


def _ask(
    backend: Backend, samples: Sequence[Sample], plan: TrackPlan, asking: Asking, change: Callable[[Sample], Sample]
) -> dict[str, str]:
    futures = {sample.id: backend.submit(_greedy(prompt_of(change(sample), plan, asking))) for sample in samples}
    texts: dict[str, str] = {}
    for name, future in futures.items():
        try:
            texts[name] = future.result().text
        except BackendError:
            continue
    return texts


def _greedy(prompt: Prompt) -> Prompt:
    return msgspec.structs.replace(prompt, sampling=msgspec.structs.replace(prompt.sampling, temperature=0.0))


def _with_images(sample: Sample, images: tuple[Image, ...]) -> Sample:
    return msgspec.structs.replace(sample, images=images)


def _grey(folder: Path, image: Image) -> Image:
    from bakeoff.validity.pictures import draw_picture  # noqa: PLC0415 - reports read this module and draw nothing

    return draw_picture(folder, "blank", image.width, image.height)


def _other_images(sample: Sample, samples: Sequence[Sample]) -> tuple[Image, ...] | None:
    """Return the images of the next sample with as many, but other ones; None when there is none."""
    place = next(index for index, other in enumerate(samples) if other.id == sample.id)
    after = (*samples[place + 1 :], *samples[:place])
    fitting = (o.images for o in after if len(o.images) == len(sample.images) and o.cluster != sample.cluster)
    return next(fitting, None)


def _score(plan: TrackPlan, sample: Sample, text: str) -> float:
    return plan.protocol.scorer(sample).score(text, sample.target).value


def _share(hits: Iterable[bool]) -> float:
    listed = list(hits)
    return sum(listed) / len(listed)


def _standard_error(values: Sequence[float]) -> float:
    if len(values) < 2:  # noqa: PLR2004 - a spread needs two
        return 1.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))


def _sentence(arm: str, track: str, found: TrackControl) -> str:
    shown = ", ".join(f"{100 * value:.1f} with {way} images" for way, value in found.controls.items())
    numbers = f"{100 * found.score:.1f} with its images, {shown}; n {found.n}"
    if found.is_blind:
        share = f"{100 * found.unmoved['swapped']:.0f} %"
        return (
            f"{arm} ignores the images of {track}: another image leaves {share} of its answers as they are ({numbers})"
        )
    if not found.is_lifted:
        return f"{arm} shows no gain from the images of {track} ({numbers}): it did not need them, or did not see them"
    return f"{arm} gains {100 * found.lift:.1f} points from the images of {track} ({numbers})"
