"""Ask an arm the probe set and write down all it tells: `probes/<arm>.json` in a run directory."""

import hashlib
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal

import msgspec

from bakeoff.backends import Backend
from bakeoff.errors import BackendDied, BackendError, UsageProblem
from bakeoff.records import Output, Prompt
from bakeoff.runs import RunDirectory, pretty_json, write_atomically
from bakeoff.thinking import marks_in, prompt_mode
from bakeoff.traces import Token, Trace
from bakeoff.validity.agreement import ClassAgreement
from bakeoff.validity.probe_set import VERSION, size_of

AGAIN = ("square", "text-system", "square-other")
"""Probes that are asked once more, alone, after all were asked together."""


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


def ask_probes(
    backend: Backend, prompts: Mapping[str, Prompt], *, arm: str, model: str, kind: str, thinking: str = "default"
) -> Probe:
    """Ask all probes, as many at a time as the backend takes, then some of them again, alone.

    An arm that dies of one is brought back once; what cannot be answered is an answer with `error`.
    """
    most = backend.capabilities.max_images
    asked = {
        name: msgspec.structs.replace(prompt, thinking=thinking)
        for name, prompt in prompts.items()
        if most is None or len(prompt.images) <= most
    }
    futures = {name: backend.submit(prompt) for name, prompt in asked.items()}
    answers = {name: _answer(backend, name, asked[name], future) for name, future in futures.items()}
    again = {name: _answer(backend, name, asked[name], backend.submit(asked[name])) for name in AGAIN if name in asked}
    return Probe(arm=arm, model=model, backend=kind, asked=thinking, answers=answers, again=again)


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


def _answer(backend: Backend, name: str, prompt: Prompt, future: Future[Output]) -> ProbeAnswer:
    common: dict[str, Any] = {
        "size": size_of(name),
        "prompt_sha256": prompt.sha256,
        "max_tokens": prompt.max_tokens,
        "images": tuple((image.width, image.height) for image in prompt.images),
    }
    try:
        output = future.result()
    except BackendDied as error:
        backend.restart()
        return ProbeAnswer(error=f"{type(error).__name__}: {error}", **common)
    except BackendError as error:
        return ProbeAnswer(error=f"{type(error).__name__}: {error}", **common)
    trace = output.trace or Trace()
    rendered = trace.rendered
    return ProbeAnswer(
        **common,
        text=output.text,
        finish_reason=output.finish_reason,
        prompt_tokens=output.prompt_tokens,
        image_tokens=output.image_tokens,
        completion_tokens=output.completion_tokens,
        rendered=rendered,
        rendered_sha256=None if rendered is None else hashlib.sha256(rendered.encode()).hexdigest(),
        text_ids=trace.text_ids,
        bos=trace.bos,
        image_tokens_each=trace.image_tokens,
        tiles=trace.tiles,
        tokens=trace.tokens,
        prompt_mode=None if rendered is None else prompt_mode(rendered),
        thinking=marks_in(output.text),
    )
