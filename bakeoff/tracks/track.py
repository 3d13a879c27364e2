"""What a track is, and how its prepared samples are read."""

import functools
import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from bakeoff.errors import DataMissing
from bakeoff.families import DEFAULT, FAMILIES, Family
from bakeoff.geometry import Frame
from bakeoff.metrics import Metric
from bakeoff.records import Image, ImagePart, Message, Record, Sample, Text, from_line, to_line
from bakeoff.scorers import Scorer
from bakeoff.tracks.source import Source

SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
"""What a sample id may look like, so that it can be typed after `-k` and used in a file name."""


NATIVE: Final = "native"
"""Name of the protocol by which each arm is asked as its family of models was trained to be."""


class Protocol(msgspec.Struct, frozen=True, kw_only=True):
    """One way to ask a track's questions: template, token budget and the scorer that reads the answers.

    `budget` gives a sample's own token budget where samples have one (custom cases); `expand` makes several samples
    of one prepared sample where a protocol asks more than once (every expression of a region); `oracle` writes the
    gold in the form that this protocol asks for, where that is not plain text (see `baselines.oracle_output`); `frame`
    is what places in an image are asked for and read in, None where none are.
    """

    name: str
    render: Callable[[Sample], tuple[Message, ...]]
    max_tokens: int
    scorer: Callable[[Sample], Scorer]
    budget: Callable[[Sample], int] | None = None
    expand: Callable[[Sample], tuple[Sample, ...]] | None = None
    oracle: Callable[[Sample], str] | None = None
    frame: Frame | None = None


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """A score that others reported, for a column of its own.

    `value` is a fraction; `metric` is the name here of the number that it can be laid beside; `group` is a group of
    the track, such as `platform:web`, or empty; `note` says what differs from what is measured here; `same_as` names
    the protocol here that asks, and scores, as the published one did, and is empty where none is known to.
    """

    metric: str
    value: float
    model: str
    protocol: str
    source: str
    date: str
    group: str = ""
    note: str = ""
    same_as: str = ""


class Track(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark.

    `version` is raised by anything that can move a score; `full` is the size of the whole split; `protocols[0]` is the
    default; `dimensions` are the keys of `Sample.groups` that reports break scores down by; `metrics` turns records
    into named numbers, the primary one first; `macro` is the dimension over which the primary one averages, None for a
    plain mean; `source` says where samples come from, None where they are shipped or written by hand; `folder` holds
    `samples.jsonl` and the images. `load` reads samples that are not in such a file (custom cases); `constants` are
    outputs that need no model, whose scores are the floor of the track; `native` makes the protocol that a family of
    models was trained for, called `native-<family>`; `census` is how many samples each group of a dimension has in the
    whole track; `licence_note` says what the licence's name leaves out; `official_metric` is what the authors report.
    """

    name: str
    title: str
    version: str
    citation: str
    dataset: str
    revision: str
    licence: str
    official_metric: str
    full: int
    protocols: tuple[Protocol, ...]
    dimensions: tuple[str, ...]
    metrics: Callable[[Sequence[Record]], dict[str, Metric]]
    macro: str | None = None
    source: Source | None = None
    folder: Callable[[], Path]
    load: Callable[[], tuple[Sample, ...]] | None = None
    published: tuple[Published, ...] = ()
    constants: tuple[str, ...] = ()
    native: Callable[[Family], Protocol] | None = None
    census: dict[str, dict[str, int]] = {}
    licence_note: str = ""

    def protocol(self, name: str | None) -> Protocol:
        """Return the protocol called `name`, or the default one.

        Where the track has native protocols, `native-<family>` is that family's, and `native` stands for the one of
        whoever is asked (`protocol_for`); by itself it is the one of a model of no known family.

        Raises:
            KeyError: when the track has no such protocol.
        """
        if name is None:
            return self.protocols[0]
        if self.native is not None and name == NATIVE:
            return msgspec.structs.replace(self.native(DEFAULT), name=NATIVE)
        if self.native is not None and name.startswith(f"{NATIVE}-"):
            return self.native({**FAMILIES, DEFAULT.name: DEFAULT}[name.removeprefix(f"{NATIVE}-")])
        return {p.name: p for p in self.protocols}[name]

    def protocol_for(self, protocol: Protocol, family: Family) -> Protocol:
        """Return `protocol` as a model of `family` is asked: its own one for `native`, else the same for all."""
        return self.native(family) if self.native is not None and protocol.name == NATIVE else protocol

    @property
    def protocol_names(self) -> tuple[str, ...]:
        """Names that `--protocol` takes, `native` among them where the track has it."""
        return (*(p.name for p in self.protocols), *((NATIVE,) if self.native is not None else ()))


def asking(template: Callable[[Sample], str], *, system: str | None = None) -> Callable[[Sample], tuple[Message, ...]]:
    """Return a renderer of one user turn: all images, then the text that `template` makes; `system` goes before it.

    Without `system`, a sample's own system text is used.
    """

    def render(sample: Sample) -> tuple[Message, ...]:
        images = tuple(ImagePart(image=image) for image in sample.images)
        return turns(system or sample.system, (*images, Text(text=template(sample))))

    return render


def turns(system: str | None, parts: tuple[ImagePart | Text, ...]) -> tuple[Message, ...]:
    """Return a user turn of `parts`, after a system turn where there is a system text."""
    user = Message(role="user", parts=parts)
    return (user,) if system is None else (Message(role="system", parts=(Text(text=system),)), user)


def images_then_text(sample: Sample) -> tuple[Message, ...]:
    """Render the plain form: the system text if any, then one user turn of all images followed by the question."""
    return asking(lambda sample: sample.question)(sample)


def samples_of(track: Track, protocol: Protocol | None = None) -> tuple[Sample, ...]:
    """Return the samples of `track` as `protocol` asks them, in stored order; the prepared ones without a protocol.

    Raises:
        DataMissing: when they are not prepared, or a file is broken.
    """
    samples = track.load() if track.load is not None else load_samples(track.folder())
    if protocol is None or protocol.expand is None:
        return samples
    return tuple(asked for sample in samples for asked in protocol.expand(sample))


def content_sha256(samples: Sequence[Sample]) -> str:
    """Hash samples by what they are, images by their bytes: the same for the same cases in another folder."""
    digest = hashlib.sha256()
    for sample in samples:
        images = tuple(msgspec.structs.replace(image, path="") for image in sample.images)
        digest.update(to_line(msgspec.structs.replace(sample, images=images)).encode("ascii") + b"\n")
    return digest.hexdigest()


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
    images: dict[Image, Image] = {}
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
            samples[sample.id] = _with_absolute_images(sample, folder, images)
    if not samples:
        raise DataMissing(f"{path} holds no sample.\n{_REMEDY}")
    return tuple(samples.values())


_REMEDY = "Prepare the track again (bakeoff prepare), or restore the file."


def _with_absolute_images(sample: Sample, folder: Path, known: dict[Image, Image]) -> Sample:
    """Return `sample` with paths that work anywhere; samples that share an image share the object too."""
    for image in sample.images:
        if image not in known:
            known[image] = msgspec.structs.replace(image, path=str(_inside(folder, image)))
    return msgspec.structs.replace(sample, images=tuple(known[image] for image in sample.images))


def _inside(folder: Path, image: Image) -> Path:
    if Path(image.path).is_absolute() or ".." in Path(image.path).parts:
        raise DataMissing(f"image path {image.path!r} in {folder / 'samples.jsonl'} leaves the track's folder")
    return folder / image.path
