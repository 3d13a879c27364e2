"""What was asked and what was right, from the prepared samples, where these are still what the run asked.

A journal holds hashes of prompts and images, not the texts. A prompt that is made again counts only if its hash is the
recorded one; otherwise nothing is claimed about it.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from bakeoff.errors import DataMissing
from bakeoff.records import (
    BoxTarget,
    ImagePart,
    Message,
    NumberTarget,
    OptionTarget,
    Prompt,
    Record,
    Sample,
    Target,
    Text,
)
from bakeoff.tracks import TRACKS, Protocol, Track, samples_of


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The messages of one sample, its right answers as text, and its lettered options."""

    messages: tuple[Message, ...]
    targets: tuple[str, ...]
    options: tuple[str, ...]


class Questions:
    """Makes the prompts of one track again, each in the protocol that its record names."""

    def __init__(self, track: str) -> None:
        self._track = TRACKS.get(track)
        self._samples: dict[str, Mapping[str, Sample]] = {}

    def of(self, record: Record) -> Asked | None:
        """Return what was asked for `record`; None when the sample is not here or is asked in other words now."""
        protocol = _protocol(self._track, record.protocol)
        if protocol is None:
            return None
        if protocol.name not in self._samples:
            self._samples[protocol.name] = _samples(self._track, protocol)
        sample = self._samples[protocol.name].get(record.sample_id)
        if sample is None:
            return None
        messages = protocol.render(sample)
        prompt = Prompt(sample_id=sample.id, messages=messages, max_tokens=1, seed=0)
        if prompt.sha256 != record.prompt_sha256:
            return None
        options = sample.target.options if isinstance(sample.target, OptionTarget) else sample.options
        return Asked(messages=messages, targets=_texts(sample.target), options=options)

    def reference(self, path: str) -> str:
        """Return where an image lies, from the folder of all tracks: the same on every machine."""
        if self._track is None:
            return Path(path).name
        folder = self._track.folder()
        inside = Path(path).relative_to(folder).as_posix() if Path(path).is_relative_to(folder) else Path(path).name
        return f"{self._track.name}/{inside}"

    def parts(self, message: Message) -> list[dict[str, str]]:
        """Return the parts of a message as Inspect writes them: `text`, and `image` by reference."""
        found: list[dict[str, str]] = []
        for part in message.parts:
            match part:
                case Text(text=text):
                    found.append({"type": "text", "text": text})
                case ImagePart(image=image):
                    found.append({"type": "image", "image": self.reference(image.path)})
        return found


def _protocol(track: Track | None, name: str) -> Protocol | None:
    try:
        return track.protocol(name) if track else None
    except KeyError:  # of another version
        return None


def _samples(track: Track | None, protocol: Protocol | None) -> Mapping[str, Sample]:
    try:
        return {sample.id: sample for sample in samples_of(track, protocol)} if track else {}
    except DataMissing:
        return {}


def _texts(target: Target) -> tuple[str, ...]:
    match target:
        case BoxTarget(box=box):
            return (json.dumps(box),)
        case OptionTarget(letter=letter):
            return (letter,)
        case NumberTarget(value=value):
            return (value,)
        case _:
            return target.answers
