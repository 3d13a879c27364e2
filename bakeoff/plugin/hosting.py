"""What a host of a fleet does before it gets samples: open each arm, tell who it is, answer the probes.

Runs on the host, in a Python that only needs this package; what it is told and what it tells are JSON.
"""

import tempfile
from pathlib import Path
from typing import Any, Literal

import msgspec

from bakeoff.backends import Settings, open_backend
from bakeoff.environment import environment
from bakeoff.errors import DataMissing
from bakeoff.hub import file_sha256
from bakeoff.models import resolve_all
from bakeoff.tracks import TRACKS, content_sha256
from bakeoff.validity.probes import Probe


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a host is told. `contexts` are the tokens that each arm's longest prompt may need."""

    models: tuple[str, ...]
    tracks: tuple[str, ...]
    contexts: dict[str, int]
    has_images: bool
    parity: Literal["strict", "warn", "off"]
    thinking: Literal["default", "on", "off"]
    image_reuse: bool
    timeout_s: float
    llama_server: str | None
    server_args: tuple[str, ...]


class ArmThere(msgspec.Struct, frozen=True, kw_only=True):
    """One arm as a host has it."""

    identity: dict[str, Any]
    load_s: float
    probe: Probe | None


class HostTold(msgspec.Struct, frozen=True, kw_only=True):
    """What a host tells of itself: its arms by name, its machine, the hash of each track's prepared samples."""

    arms: dict[str, ArmThere]
    environment: dict[str, Any]
    samples_sha256: dict[str, str | None]


def examine(text: str) -> str:
    """Do what a `Told` asks for and return a `HostTold`, both as JSON.

    Raises:
        UsageProblem: when a model is not there.
        BackendError: when a runtime does not come up.
    """
    told = msgspec.json.decode(text, type=Told)
    arms: dict[str, ArmThere] = {}
    with tempfile.TemporaryDirectory(prefix="bakeoff-probe-") as folder:
        for spec in resolve_all(told.models):
            settings = Settings(
                context_tokens=told.contexts[spec.arm],
                log_path=Path(folder) / f"{spec.arm}.log",
                needs_images=told.has_images,
                concurrency=1,
                image_reuse=told.image_reuse,
                timeout_s=told.timeout_s,
                llama_server=told.llama_server,
                server_args=told.server_args,
                progress=_say_nothing,
            )
            backend = open_backend(spec, settings)
            try:
                probe = None
                if told.parity != "off":
                    from bakeoff.validity.probing import probe_arm, probes_for  # noqa: PLC0415 - draws pictures

                    thorough = told.parity == "strict"
                    prompts = probes_for(Path(folder), thorough=thorough, images=told.has_images)
                    probe = probe_arm(backend, spec, prompts, thinking=told.thinking, thorough=thorough)
                arms[spec.arm] = ArmThere(identity=dict(backend.identity), load_s=backend.load_s, probe=probe)
            finally:
                backend.close()
    hashes = {name: _samples_sha256(name) for name in told.tracks}
    found = HostTold(arms=arms, environment=environment(), samples_sha256=hashes)
    return msgspec.json.encode(found).decode("utf-8")


def _samples_sha256(name: str) -> str | None:
    """Return the hash of a track's prepared samples; None where they are not prepared on this host."""
    track = TRACKS[name]
    try:
        return content_sha256(track.load()) if track.load else file_sha256(track.folder() / "samples.jsonl")
    except (DataMissing, OSError):
        return None


def _say_nothing(line: str) -> None:
    """Pass over progress: the standard output of a host belongs to the connection."""
    del line
