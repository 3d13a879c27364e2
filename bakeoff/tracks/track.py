"""What a track is, and how its prepared samples are read."""

import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from bakeoff.errors import DataMissing
from bakeoff.metrics import Metric
from bakeoff.records import Image, ImagePart, Message, Record, Sample, Text, from_line
from bakeoff.scorers import Scorer
from bakeoff.tracks.source import Source

SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
"""What a sample id may look like, so that it can be typed after `-k` and used in a file name."""


class Protocol(msgspec.Struct, frozen=True, kw_only=True):
    """One way to ask a track's questions: template, token budget and the scorer that reads the answers."""

    name: str
    render: Callable[[Sample], tuple[Message, ...]]
    max_tokens: int
    scorer: Callable[[Sample], Scorer]


class Track(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark.

    `version` is raised by anything that can move a score; `full` is the size of the whole split; `protocols[0]` is the
    default; `dimensions` are the keys of `Sample.groups` that reports break scores down by; `metrics` turns records
    into named numbers, the primary one first; `folder` holds `samples.jsonl` and the images.
    """

    name: str
    title: str
    version: str
    citation: str
    dataset: str
    revision: str
    licence: str
    full: int
    protocols: tuple[Protocol, ...]
    dimensions: tuple[str, ...]
    metrics: Callable[[Sequence[Record]], dict[str, Metric]]
    macro: str | None = None
    source: Source | None = None
    folder: Callable[[], Path]

    def protocol(self, name: str | None) -> Protocol:
        """Return the protocol called `name`, or the default one.

        Raises:
            KeyError: when the track has no such protocol.
        """
        return self.protocols[0] if name is None else {p.name: p for p in self.protocols}[name]


def images_then_text(sample: Sample) -> tuple[Message, ...]:
    """Render the plain form: the system text if any, then one user turn of all images followed by the question."""
    parts: tuple[ImagePart | Text, ...] = (*(ImagePart(image=i) for i in sample.images), Text(text=sample.question))
    user = Message(role="user", parts=parts)
    if sample.system is None:
        return (user,)
    return (Message(role="system", parts=(Text(text=sample.system),)), user)


@functools.lru_cache(maxsize=32)
def load_samples(folder: Path) -> tuple[Sample, ...]:
    """Read `folder/samples.jsonl`, in file order, with image paths made absolute.

    Raises:
        DataMissing: when the file is absent, a line is broken, or an id is repeated; the message names file and line.
    """
    path = folder / "samples.jsonl"
    if not path.is_file():
        raise DataMissing(f"no prepared samples at {path}.\nPrepare them with: bakeoff prepare {folder.name}")
    samples: dict[str, Sample] = {}
    with path.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                sample = from_line(line, Sample)
            except ValueError as error:
                raise DataMissing(f"{path}:{number} is not a sample: {error}.\n{_REMEDY}") from error
            if not SAFE_ID.fullmatch(sample.id):
                raise DataMissing(f"{path}:{number}: the id {sample.id!r} may only hold letters, digits, and _ . + -")
            if sample.id in samples:
                raise DataMissing(f"{path}:{number}: the id {sample.id!r} occurs twice.\n{_REMEDY}")
            samples[sample.id] = _with_absolute_images(sample, folder)
    if not samples:
        raise DataMissing(f"{path} holds no sample.\n{_REMEDY}")
    return tuple(samples.values())


_REMEDY = "Prepare the track again (bakeoff prepare), or restore the file."


def _with_absolute_images(sample: Sample, folder: Path) -> Sample:
    images = tuple(msgspec.structs.replace(image, path=str(_inside(folder, image))) for image in sample.images)
    return msgspec.structs.replace(sample, images=images)


def _inside(folder: Path, image: Image) -> Path:
    if Path(image.path).is_absolute() or ".." in Path(image.path).parts:
        raise DataMissing(f"image path {image.path!r} in {folder / 'samples.jsonl'} leaves the track's folder")
    return folder / image.path
