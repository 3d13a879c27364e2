"""What was asked, as messages: rendered again and shown only where its hash is that of the run."""

from collections.abc import Sequence
from typing import Any

from bakeoff.records import Prompt, Record, Sample, Text
from bakeoff.report.visible import visible
from bakeoff.tracks import TRACKS, Protocol

_NOT_PREPARED = "not shown: the samples of this track are not prepared here"
_OTHER = "not shown: the prepared sample, or this version, would ask something else than was asked"
_UNKNOWN = "not shown: this version does not know the protocol"


class Asked:
    """Renders the prompts of a track for the arms of a run."""

    def __init__(self, track: str, arms: Sequence[str]) -> None:
        self.arms = arms
        self._track = TRACKS.get(track)
        self._protocols: dict[str, Protocol | None] = {}

    def prompts(self, row: Sequence[Record | None], sample: Sample | None) -> list[dict[str, Any]]:
        """Return each different prompt of a sample with the numbers of the arms that got it."""
        found: dict[tuple[str, str], list[int]] = {}
        for number, record in enumerate(row):
            if record is not None:
                found.setdefault((record.prompt_sha256, record.protocol), []).append(number)
        return [
            {"arms": numbers, "protocol": visible(protocol), **self._turns(digest, protocol, sample)}
            for (digest, protocol), numbers in found.items()
        ]

    def _turns(self, digest: str, protocol: str, sample: Sample | None) -> dict[str, Any]:
        if sample is None:
            return {"note": _NOT_PREPARED}
        known = self._protocol(protocol)
        if known is None:
            return {"note": _UNKNOWN}
        messages = known.render(sample)
        if Prompt(sample_id=sample.id, messages=messages, max_tokens=1, seed=0).sha256 != digest:
            return {"note": _OTHER}
        number = 0
        turns: list[list[Any]] = []
        for message in messages:
            parts: list[str | int] = []
            for part in message.parts:
                if isinstance(part, Text):
                    parts.append(visible(part.text))
                else:
                    number += 1
                    parts.append(number)
            turns.append([message.role, parts])
        return {"turns": turns}

    def _protocol(self, name: str) -> Protocol | None:
        if name not in self._protocols:
            try:
                self._protocols[name] = self._track.protocol(name) if self._track else None
            except KeyError:
                self._protocols[name] = None
        return self._protocols[name]
