"""Your own cases: `data/tasks/*.json` with images below `data/images`, in the reference system's format, unchanged.

There is no paper and no dataset; `docs/custom-cases.md` is the guide. All files make one track, `custom`, whose groups
are the cases' categories. Official metric: none; `mean` is the mean score over cases.

Deviations from the reference system are those of the scorers (docs/scoring.md): letters and numbers are read by this
suite's rules, a box is clipped to the frame, `choice` asks for a whole word, and a click in pixels needs the image.
"""

import hashlib
from collections.abc import Sequence
from functools import cache, lru_cache, partial
from pathlib import Path

import msgspec

from bakeoff.errors import DataMissing
from bakeoff.geometry import TOLERANCE
from bakeoff.metrics import Metric, mean_metric
from bakeoff.paths import data_dir
from bakeoff.records import BoxTarget, Image, OptionTarget, Record, Sample, Score, Target, TextTarget
from bakeoff.scorers import SCORERS, Scorer
from bakeoff.scorers.anls import anls
from bakeoff.tracks.cases import MAX_TOKENS, Case, read_cases
from bakeoff.tracks.grounding import CLICK, PIXEL_CLICK, oracle_click, oracle_json
from bakeoff.tracks.items import shortened
from bakeoff.tracks.track import Protocol, Track, images_then_text


def load() -> tuple[Sample, ...]:
    """Return all custom cases, in the order of files and items.

    Raises:
        DataMissing: as `read_cases`, and for an image that is absent, outside the image root, or no picture.
    """
    root = data_dir() / "images"
    return tuple(sample_of(case, _images(case, root)) for case in read_cases(data_dir() / "tasks"))


def sample_of(case: Case, images: tuple[Image, ...]) -> Sample:
    """Return the sample of a case whose images are read."""
    target = case.target
    if isinstance(target, BoxTarget) and images:
        target = msgspec.structs.replace(target, image_size=(images[0].width, images[0].height))
    return Sample(
        id=case.id,
        track="custom",
        question=case.prompt,
        target=target,
        images=images,
        options=case.options,
        system=case.system,
        groups={"category": case.category, "scorer": case.rule, "max_tokens": str(case.max_tokens)},
    )


def scorer_of(sample: Sample) -> Scorer:
    """Return the rule that a case names."""
    return _scorer(sample.groups["scorer"], type(sample.target), _is_list(sample.target))


@cache
def _scorer(rule: str, kind: type[Target], is_list: bool) -> Scorer:  # noqa: FBT001 -- cached by position
    """Return a rule with its threshold; the same object each time."""
    name, _, threshold = rule.partition("@")
    match name:
        case "bbox_iou":
            return Scorer(name=rule, version=SCORERS["box_iou"].version, score=partial(_score_iou, float(threshold)))
        case "anls":
            version = SCORERS["anls"].version
            return Scorer(name=rule, version=version, score=partial(anls, threshold=float(threshold)))
        case "mathvista" if kind is TextTarget and not is_list:
            return SCORERS["contains"]
        case "mathvista" if kind is OptionTarget:
            return SCORERS["option_text"]
        case _:
            return _RULES[name]


_RULES = {
    "contains": SCORERS["contains"],
    "choice": SCORERS["contains"],
    "exact": SCORERS["exact"],
    "mathvista": SCORERS["mathvista"],
    "mc_option": SCORERS["option_letter"],
    "choice_letter": SCORERS["option_letter"],
    "click_in_box": CLICK,
    "click_point": PIXEL_CLICK,
}


def _is_list(target: Target) -> bool:
    return isinstance(target, TextTarget) and target.answers[0].startswith("[")


def _score_iou(threshold: float, output: str, target: Target) -> Score:
    """Score 1 for an IoU of at least `threshold`."""
    found = SCORERS["box_iou"].score(output, target)
    is_correct = found.answer is not None and found.metrics["iou"] >= threshold - TOLERANCE
    return msgspec.structs.replace(found, value=float(is_correct), correct=is_correct)


def _images(case: Case, root: Path) -> tuple[Image, ...]:
    """Return the images of a case."""
    return tuple(_image(case, number, path, root) for number, path in enumerate(case.images))


def _image(case: Case, number: int, path: str, root: Path) -> Image:
    """Return one image with its hash and size."""
    where = f"{case.place}, field images[{number}]"
    try:
        file = (root / path).resolve()
        is_inside, is_file = file.is_relative_to(root.resolve()), file.is_file()
    except (OSError, ValueError, RuntimeError) as error:
        # A name that no file can have, and a link that leads to itself.
        raise DataMissing(
            f"{where}: expected a path below {root}, found {shortened(repr(path))}: {_why(error)}"
        ) from error
    if not is_inside:
        raise DataMissing(f"{where}: expected a path that stays below {root}, found {path!r}, a link to {file}")
    if not is_file:
        raise DataMissing(f"{where}: expected an image below {root}, found no file {path!r}")
    try:
        stamp = file.stat()
        return _measured(file, stamp.st_mtime_ns, stamp.st_size)
    except (OSError, ValueError) as error:
        raise DataMissing(
            f"{where}: expected a whole picture (PNG, JPEG, WebP, GIF, BMP or TIFF), found {path!r}: {error}"
        ) from error


def _why(error: Exception) -> str:
    """Return the reason without the path, which may be very long."""
    return (error.strerror if isinstance(error, OSError) else None) or shortened(str(error))


@lru_cache(maxsize=16384)
def _measured(file: Path, _changed_ns: int, _bytes: int) -> Image:
    """Read hash and size of a file; once for every version of it."""
    from bakeoff.pictures import look  # noqa: PLC0415 -- Pillow takes milliseconds to load; only custom cases need it

    content = file.read_bytes()
    _, width, height = look(content)
    return Image(path=str(file), sha256=hashlib.sha256(content).hexdigest(), width=width, height=height)


def metrics(records: Sequence[Record]) -> dict[str, Metric]:
    """Return `mean`."""
    return {"mean": mean_metric(records, primary=True)}


def _oracle(sample: Sample) -> str:
    """Return the gold in the form that the case's scorer reads."""
    return oracle_click(sample) if sample.groups["scorer"] == "click_point" else oracle_json(sample)


TRACK = Track(
    name="custom",
    title="Custom cases",
    version="1",
    citation="your own; see docs/custom-cases.md",
    dataset="data/tasks/*.json",
    revision="local",
    licence="yours",
    official_metric="none; the mean score over cases",
    full=0,
    protocols=(
        Protocol(
            name="default",
            render=images_then_text,
            max_tokens=MAX_TOKENS,
            scorer=scorer_of,
            budget=lambda sample: int(sample.groups["max_tokens"]),
            oracle=_oracle,
        ),
    ),
    dimensions=("category", "scorer"),
    metrics=metrics,
    folder=lambda: data_dir() / "tasks",
    load=load,
)
