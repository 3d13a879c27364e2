"""What an arm said to the probe set: `probes/<arm>.json` in a run directory."""

from pathlib import Path
from typing import Final, Literal

import msgspec

from bakeoff.errors import UsageProblem
from bakeoff.files import write_atomically
from bakeoff.runs import RunDirectory, pretty_json
from bakeoff.traces import Token

VERSION: Final = "1"
"""Version of the probe set, bumped by anything that changes a prompt or a picture."""


class ClassAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement on the continuations of one size class.

    `tokens` were compared in `continuations`; `same_top` of `tops` have the writer's likeliest token as their own;
    `delta` is the mean of |difference of log-probabilities| of the given tokens, `worst` the largest; `kl` is the mean
    divergence from the writer in nats over its known candidates and the rest as one, None where it names none.
    """

    size: str
    continuations: int
    tokens: int
    same_top: int
    tops: int
    delta: float | None
    worst: float | None
    kl: float | None


class ProbeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What an arm said to one probe; `error` is why it said nothing. `images` are `width x height` in pixels."""

    size: str
    prompt_sha256: str
    max_tokens: int
    images: tuple[tuple[int, int], ...] = ()
    text: str = ""
    finish_reason: Literal["stop", "length"] | None = None
    prompt_tokens: int | None = None
    image_tokens: int | None = None
    completion_tokens: int | None = None
    rendered: str | None = None
    rendered_sha256: str | None = None
    text_ids: tuple[int, ...] = ()
    bos: int | None = None
    image_tokens_each: tuple[int, ...] = ()
    tiles: tuple[tuple[int, int], ...] = ()
    tokens: tuple[Token, ...] = ()
    prompt_mode: str | None = None
    thinking: tuple[str, ...] = ()
    error: str | None = None


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """An arm's answers by probe id; `again` are those to probes asked once more, alone.

    `asked` is what was asked of the template; `agreements` are how likely the arm holds continuations of others, by
    the name of the other, "reference" for the embedded checkpoint's.
    """

    arm: str
    model: str
    backend: str
    version: str = VERSION
    asked: str = "default"
    answers: dict[str, ProbeAnswer] = {}
    again: dict[str, ProbeAnswer] = {}
    agreements: dict[str, tuple[ClassAgreement, ...]] = {}


def probe_path(run: RunDirectory, arm: str) -> Path:
    """Return where the probe of `arm` lies."""
    return run.path / "probes" / f"{arm}.json"


def write_probe(run: RunDirectory, probe: Probe) -> None:
    """Write the probe of an arm, replacing an earlier one."""
    write_atomically(probe_path(run, probe.arm), pretty_json(msgspec.to_builtins(probe)))


def read_probes(run: RunDirectory) -> dict[str, Probe]:
    """Return the probes of a run by arm; empty where none was made.

    Raises:
        UsageProblem: when a file is not readable.
    """
    found: dict[str, Probe] = {}
    for path in sorted((run.path / "probes").glob("*.json")):
        try:
            probe = msgspec.json.decode(path.read_bytes(), type=Probe)
        except ValueError as error:
            raise UsageProblem(f"{path} is not readable: {error}.\nRemove it; --resume probes the arm again") from error
        found[probe.arm] = probe
    return found
