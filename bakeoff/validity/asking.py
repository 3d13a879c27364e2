"""Ask an arm the probe set: all at once, as many as its backend takes, then some of them again, alone."""

import hashlib
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Literal

import msgspec

from bakeoff.backends import Backend
from bakeoff.errors import BackendDied, BackendError
from bakeoff.models import ModelSpec
from bakeoff.records import Output, Prompt
from bakeoff.thinking import marks_in, prompt_mode
from bakeoff.traces import Trace
from bakeoff.validity.probe_set import size_of
from bakeoff.validity.probes import Probe, ProbeAnswer
from bakeoff.validity.telling import Tell, counted, untold

AGAIN = ("square", "text-system", "square-other")
"""Probes that are asked once more, alone, after all were asked together."""

Thinking = Literal["default", "on", "off"]


def ask_probes(
    backend: Backend, spec: ModelSpec, prompts: Mapping[str, Prompt], thinking: Thinking, tell: Tell = untold
) -> Probe:
    """Return the answers of an open arm; what it cannot answer is an answer with `error`."""
    most = backend.capabilities.max_images
    asked = {
        name: msgspec.structs.replace(prompt, thinking=thinking)
        for name, prompt in prompts.items()
        if most is None or len(prompt.images) <= most
    }
    futures = {name: backend.submit(prompt) for name, prompt in asked.items()}
    waiting = counted(tuple(futures.items()), "probes answered", tell)
    answers = {name: _answer(backend, name, asked[name], future) for name, future in waiting}
    alone = counted([name for name in AGAIN if name in asked], "asked once more, alone", tell)
    again = {name: _answer(backend, name, asked[name], backend.submit(asked[name])) for name in alone}
    return Probe(arm=spec.arm, model=spec.name, backend=spec.backend, asked=thinking, answers=answers, again=again)


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
