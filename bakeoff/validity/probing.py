"""One arm's whole probe: the probe set, then words of others put into its mouth."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from bakeoff.backends import Backend
from bakeoff.models import ModelSpec
from bakeoff.records import Prompt, Sample, Sampling
from bakeoff.traces import Token
from bakeoff.tracks import TRACKS, load_samples
from bakeoff.validity.agreement import Continuation, forced_agreement
from bakeoff.validity.asking import Thinking, ask_probes
from bakeoff.validity.probe_set import CANDIDATES, EVEN_TILES, ODD_TILES, TOKENS, probe_prompts, size_of
from bakeoff.validity.probes import ClassAgreement, Probe, ProbeAnswer
from bakeoff.validity.reference import Reference, read_references
from bakeoff.validity.telling import Tell, untold

_QUICK_SIZES = ("square", "wide", "tall", ODD_TILES)
"""Size classes of the reference that a run looks at; `bakeoff doctor` looks at all, and at more samples of each."""

_PER_CLASS = {False: 2, True: 4}
_TILED_AREA = 2 * 512 * 512


def probes_for(folder: Path, *, thorough: bool, images: bool) -> dict[str, Prompt]:
    """Return the probes of a run whose pictures are drawn into `folder`."""
    return probe_prompts(folder / "probes" / "images", heavy=thorough, images=images)


def probe_arm(
    backend: Backend,
    spec: ModelSpec,
    prompts: Mapping[str, Prompt],
    *,
    thinking: Thinking = "default",
    thorough: bool = False,
    others: Mapping[str, Probe] | None = None,
    tell: Tell = untold,
) -> Probe:
    """Return the probe of an open arm.

    Args:
        backend: the arm, loaded.
        spec: what it is.
        prompts: the probe set.
        thinking: what is asked of the chat template.
        thorough: more of the reference's continuations.
        others: probes of other arms whose words this one is asked to judge.
        tell: is told in words how far this is.
    """
    probe = ask_probes(backend, spec, prompts, thinking, tell)
    agreements: dict[str, tuple[ClassAgreement, ...]] = {}
    if spec.is_tiny:
        images = any(prompt.images for prompt in prompts.values())
        given = reference_continuations(thorough=thorough, images=images)
        agreements["reference"] = forced_agreement(backend, given, tell)
    for name, other in (others or {}).items():
        words = [
            Continuation(prompt=prompts[key], size=size_of(key), tokens=_without_stop(answer))
            for key, answer in other.answers.items()
            if key in prompts and answer.tokens and answer.text_ids == probe.answers[key].text_ids
        ]
        agreements[name] = forced_agreement(backend, words, tell)
    return msgspec.structs.replace(probe, agreements={name: found for name, found in agreements.items() if found})


def reference_continuations(*, thorough: bool, images: bool = True) -> list[Continuation]:
    """Return what the reference said to a few calibration samples of each size class, with its log-probabilities."""
    track = TRACKS["calibration"]
    references = read_references()
    chosen: dict[str, list[Sample]] = {}
    for sample in load_samples(track.folder()):
        found = chosen.setdefault(_size(sample), [])
        has_words = bool(references.get(sample.id) and references[sample.id].first_logprobs)
        if has_words and len(found) < _PER_CLASS[thorough] and (images or not sample.images):
            found.append(sample)
    return [
        Continuation(prompt=_prompt(sample), size=size, tokens=_words(references[sample.id]))
        for size, samples in chosen.items()
        if thorough or size in _QUICK_SIZES
        for sample in samples
    ]


def _size(sample: Sample) -> str:
    """Return the size class of a calibration sample, in the words of the probe set where these fit."""
    if len(sample.images) > 1:
        return "two images"
    image = sample.images[0]
    if image.width * image.height <= _TILED_AREA:
        return sample.groups.get("size", "other")
    ratio = max(image.width, image.height) / min(image.width, image.height)
    return EVEN_TILES if ratio.is_integer() else ODD_TILES


def _without_stop(answer: ProbeAnswer) -> tuple[Token, ...]:
    """Return the tokens of an answer; a stop token at its end cannot be put into every runtime's mouth."""
    return answer.tokens[:-1] if answer.finish_reason == "stop" else answer.tokens


def _words(reference: Reference) -> tuple[Token, ...]:
    first = reference.first_topk
    return tuple(
        Token(id=entry.token_id, logprob=entry.logprob, top=() if place else first)
        for place, entry in enumerate(reference.first_logprobs[:TOKENS])
    )


def _prompt(sample: Sample) -> Prompt:
    return Prompt(
        sample_id=f"reference-{sample.id}",
        messages=TRACKS["calibration"].protocol(None).render(sample),
        max_tokens=TOKENS,
        seed=0,
        sampling=Sampling(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0),
        top_logprobs=CANDIDATES,
    )
