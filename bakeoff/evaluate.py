"""From a sample to its prompt, and from an answer to its record: the only place where the pieces meet."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from bakeoff import pictures
from bakeoff.backends.changes import changes_of
from bakeoff.engine import Answer
from bakeoff.errors import BackendError
from bakeoff.families import Family
from bakeoff.hashing import sample_seed
from bakeoff.hub import file_sha256
from bakeoff.records import Failure, Image, Prompt, Record, Sample, Sampling, Text
from bakeoff.thinking import THINKING
from bakeoff.tracks import Protocol, Track, content_sha256


class TrackPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A track as it is run: protocol, budget, and the samples that may be selected, `prepared` being all there are.

    With `is_budget_given` the budget holds for all samples; without it a sample's own one does, where it has one.
    """

    track: Track
    protocol: Protocol
    max_tokens: int
    is_budget_given: bool = False
    samples: tuple[Sample, ...]
    prepared: int

    @property
    def samples_sha256(self) -> str:
        """Hash of the prepared file: ids, questions, targets, groups and image hashes of all samples."""
        if self.track.load is not None:
            return content_sha256(self.track.load())
        return file_sha256(self.track.folder() / "samples.jsonl")

    def for_family(self, family: Family) -> "TrackPlan":
        """Return the plan as a model of `family` is asked, which differs where the protocol is `native`."""
        protocol = self.track.protocol_for(self.protocol, family)
        if protocol is self.protocol:
            return self
        budget = self.max_tokens if self.is_budget_given else protocol.max_tokens
        return msgspec.structs.replace(self, protocol=protocol, max_tokens=budget)

    def budget_of(self, sample: Sample) -> int:
        """Return how many tokens the answer to `sample` may take."""
        if self.protocol.budget is None or self.is_budget_given:
            return self.max_tokens
        return self.protocol.budget(sample)

    def inputs(self) -> dict[str, Any]:
        """Return what of this track can move a score, under dotted names."""
        scorers = {self.protocol.scorer(sample) for sample in self.samples}
        fields = {
            "version": self.track.version,
            "protocol": self.protocol.name,
            "max_tokens": self.max_tokens,
            "scorers": sorted(f"{scorer.name}@{scorer.version}" for scorer in scorers),
            "samples_sha256": self.samples_sha256,
        }
        return {f"tracks.{self.track.name}.{field}": value for field, value in fields.items()}


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """What is the same for every sample of a run."""

    sampling: Sampling
    seed: int
    thinking: Literal["default", "on", "off"]

    def inputs(self) -> dict[str, Any]:
        """Return what of this can move a score, under dotted names."""
        sampling = {f"sampling.{name}": value for name, value in msgspec.to_builtins(self.sampling).items()}
        return {**sampling, "seed": self.seed, "thinking": self.thinking}


def prompt_of(sample: Sample, plan: TrackPlan, asking: Asking) -> Prompt:
    """Return what a backend is asked for `sample`."""
    return Prompt(
        sample_id=sample.id,
        messages=plan.protocol.render(sample),
        max_tokens=plan.budget_of(sample),
        seed=sample_seed(asking.seed, sample.id),
        sampling=asking.sampling,
        thinking=asking.thinking,
    )


def record_of(
    sample: Sample,
    plan: TrackPlan,
    prompt: Prompt,
    result: Answer | BackendError,
    *,
    attempts_before: int,
    started_at: str,
) -> Record:
    """Return the record of a sample; an error gets no score and no answer."""
    scorer = plan.protocol.scorer(sample)
    common = Record(
        sample_id=sample.id,
        track=sample.track,
        status="error",
        groups=sample.groups,
        image_sha256=tuple(image.sha256 for image in prompt.images),
        image_changes=changes_of(prompt.images),
        protocol=plan.protocol.name,
        prompt_sha256=prompt.sha256,
        seed=prompt.seed,
        attempt=attempts_before + 1,
        scorer=scorer.name,
        scorer_version=scorer.version,
        started_at=started_at,
    )
    if isinstance(result, BackendError):
        return msgspec.structs.replace(common, error=Failure(type=type(result).__name__, message=str(result)))
    output = result.output
    score = scorer.score(output.text, sample.target)
    measured = {name: getattr(output, name) for name in _MEASURED}
    return msgspec.structs.replace(
        common,
        status="truncated" if output.finish_reason == "length" else "ok",
        attempt=attempts_before + result.attempts,
        output=output.text,
        answer=score.answer,
        score=score.value,
        correct=score.correct,
        metrics=score.metrics,
        **{**measured, "thinking": bool(THINKING.search(output.text)) if output.thinking is None else output.thinking},
    )


_MEASURED = (
    *("finish_reason", "prompt_tokens", "image_tokens", "completion_tokens", "thinking_tokens", "cached_tokens"),
    *("queue_s", "ttft_s", "prefill_s", "decode_s", "total_s", "peak_memory_bytes"),
)


def arm_fingerprint(
    backend: str, identity: Mapping[str, Any], asking: Asking, plans: Iterable[TrackPlan]
) -> dict[str, Any]:
    """Return every input of an arm that can move a score, under dotted names."""
    model = {f"model.{name}": value for name, value in identity.items() if name not in _DESCRIBING}
    tracks = {name: value for plan in plans for name, value in plan.inputs().items()}
    return {"backend": backend, **model, **asking.inputs(), "pictures": pictures.VERSION, **tracks}


_DESCRIBING = frozenset(
    {
        *("weights_bytes", "context_tokens", "parameters", "bits_per_weight", "tensor_types", "quantisation"),
        *("servers", "served", "capabilities"),
    }
)
"""Parts of an identity that follow from others, that only bound what fits, or that say where and how well."""


def context_bound(prompts: Iterable[Prompt]) -> int:
    """Return how many positions the longest prompt with its budget may need, rounded up to 256.

    Text counts one token a byte, which no byte-level vocabulary exceeds.
    """
    longest = max((_positions(prompt) for prompt in prompts), default=0)
    return math.ceil(longest / 256) * 256


def _positions(prompt: Prompt) -> int:
    texts = (part.text for message in prompt.messages for part in message.parts if isinstance(part, Text))
    template = 64
    return (
        template + sum(len(t.encode()) for t in texts) + sum(map(_image_positions, prompt.images)) + prompt.max_tokens
    )


def _image_positions(image: Image) -> int:
    """Return a bound that holds for LFM2-VL (ten tiles and a thumbnail) and for one token per 28 x 28 pixels."""
    pixels = image.width * image.height
    untiled = 2 * 512 * 512
    return max(320 if pixels <= untiled else 2900, min(pixels // (28 * 28) + 64, 4096))
