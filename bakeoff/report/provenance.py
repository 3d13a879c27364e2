"""What made a run, as names and texts: arms, options, environment. What was not set is told from what is not known."""

import contextlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from bakeoff.geometry import Frame
from bakeoff.report import numbers
from bakeoff.report.arms import runtime
from bakeoff.report.results import ArmResult
from bakeoff.runs import TrackManifest
from bakeoff.tracks import TRACKS
from bakeoff.tracks.track import NATIVE

Facts = tuple[tuple[str, str], ...]

NOT_SET = "not set"
"""An option that nobody gave: the runtime's or the suite's own default holds."""
NOT_STATED = "none stated"
"""Files and runtimes state some things and leave out others, such as the revision of a plain folder."""
NOT_KNOWN = "not known"

FRAMES: dict[Frame, str] = {"norm1000": "0 to 1000 of the image", "norm1": "0 to 1 of the image", "pixel": "pixels"}
"""In what numbers places are asked for, in words."""


def about_arm(arm: ArmResult) -> Facts:
    """Return model, runtime, identity and settings of an arm, each once."""
    stated = arm.identity.get("runtime")
    names = dict.fromkeys((runtime(arm.backend), *([stated] if isinstance(stated, str) else [])))
    settings = arm.settings
    identity = {
        name: value
        for name, value in arm.identity.items()
        if name != "runtime" and (name not in settings or settings[name] != value)
    }
    return (
        ("model", arm.model),
        ("runtime", ", ".join(names)),
        *_flat(identity, "", NOT_STATED),
        *_flat(settings, "settings.", NOT_SET),
    )


def about_track(name: str, asked: TrackManifest) -> Facts:
    """Return data, protocol and metric of a track; what a track that is not known today declares is left out."""
    track = TRACKS.get(name)
    declared: dict[str, Any] = {}
    if track is not None:
        declared = {"citation": track.citation, "licence": track.licence, "official metric": track.official_metric}
        with contextlib.suppress(KeyError):  # a protocol of another version of the suite
            frame = track.protocol(asked.protocol).frame
            declared |= {"coordinates": FRAMES[frame]} if frame is not None and asked.protocol != NATIVE else {}
    return about(
        {
            "version": asked.version,
            "dataset": asked.dataset,
            "revision": asked.revision,
            **declared,
            "protocol": asked.protocol,
            "token budget": asked.max_tokens,
            "samples in the split": asked.full or asked.prepared,
            "samples prepared": asked.prepared,
            "samples sha256": asked.samples_sha256,
        }
    )


def about_inputs(fingerprint: Mapping[str, Any]) -> Facts:
    """Return the inputs that make an arm's numbers."""
    return tuple(
        fact
        for name, value in fingerprint.items()
        for fact in _flat({name: value}, "", NOT_STATED if name.startswith("model.") else NOT_SET)
    )


def about_options(options: Mapping[str, Any]) -> Facts:
    """Return the options of a run; an empty list is an option that nobody gave."""
    return tuple(_flat({name: None if value == [] else value for name, value in options.items()}, "", NOT_SET))


def unset_last(facts: Facts) -> Facts:
    """Return the facts with the names of all that is not set gathered in a last one."""
    unset = ", ".join(name for name, value in facts if value == NOT_SET)
    return (*(fact for fact in facts if fact[1] != NOT_SET), *([(NOT_SET, unset)] if unset else []))


def about(values: Mapping[str, Any]) -> Facts:
    """Return nested values as dotted names and text, in the order they came."""
    return tuple(_flat(values, "", NOT_KNOWN))


def _flat(values: Mapping[str, Any], prefix: str, missing: str) -> Iterable[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{name}.", missing)
        else:
            yield f"{prefix}{name}", missing if value is None else _told(name, value)


def _told(name: str, value: Any) -> str:
    if isinstance(value, int) and name.endswith("_bytes"):
        return numbers.memory(value)
    return numbers.count(value) if isinstance(value, int) and name == "parameters" else _plain(value)


def _plain(value: Any) -> str:
    match value:
        case None:
            return NOT_KNOWN
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return str(value).replace("-", numbers.MINUS)
        case list() | tuple():
            return ", ".join(_plain(item) for item in value) or "none"
        case dict():
            return "none"
        case _:
            return re.sub("^([0-9a-f]{64})$", lambda found: f"{numbers.short_hash(found[1])}…", str(value))
