"""How long do answers get? Measured with a large budget on a few samples, so that no budget cuts the model itself."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from bakeoff.backends import Backend
from bakeoff.errors import BackendError, DataMissing
from bakeoff.evaluate import Asking, TrackPlan, prompt_of
from bakeoff.models import ModelSpec
from bakeoff.records import Prompt, Sampling
from bakeoff.tracks import TRACKS, load_samples
from bakeoff.tracks.draw import draw

FACTOR = 2
"""A budget is at least this many times the longest answer seen."""

ROOM = 4
"""How many times the track's own budget an answer may take while it is measured."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """The longest of `n` answers to a track in tokens, the budget it has, and the one it should have.

    `cut` answers did not end even in the room given to them.
    """

    track: str
    n: int
    longest: int
    budget: int
    advised: int
    cut: int = 0

    @property
    def sentence(self) -> str:
        """The numbers in words."""
        seen = f"{self.track}: the longest of {self.n} answers takes {self.longest} tokens, the budget is {self.budget}"
        if self.cut:
            return (
                f"{seen}; {self.cut} did not end within {self.advised}: ask for more with --max-tokens {self.track}:N"
            )
        if self.advised > self.budget:
            return f"{seen}, less than {FACTOR} times as much: use --max-tokens {self.track}:{self.advised}"
        return f"{seen}, which is enough"


def measure(backend: Backend, track: str, prompts: Sequence[Prompt], budget: int) -> Measured | None:
    """Ask `prompts` with `ROOM` times the `budget` and return what came of it; None when nothing was answered."""
    roomy = [msgspec.structs.replace(prompt, max_tokens=ROOM * budget) for prompt in prompts]
    lengths: list[int] = []
    cut = 0
    for future in [backend.submit(prompt) for prompt in roomy]:
        try:
            output = future.result()
        except BackendError:
            continue
        lengths.append(output.completion_tokens or len(output.text.encode()))
        cut += output.finish_reason == "length"
    if not lengths:
        return None
    longest = max(lengths)
    advised = ROOM * budget if cut else max(budget, FACTOR * longest)
    return Measured(track=track, n=len(lengths), longest=longest, budget=budget, advised=advised, cut=cut)


def longest_answers(backend: Backend, spec: ModelSpec, *, limit: int) -> Iterator[Measured]:
    """Measure every prepared track, the embedded checkpoint on its own track only."""
    asking = Asking(sampling=Sampling(temperature=0.0), seed=0, thinking="default")
    for name, plan in _prepared(spec, limit).items():
        prompts = [prompt_of(sample, plan, asking) for sample in plan.samples]
        found = measure(backend, name, prompts, plan.max_tokens)
        if found is not None:
            yield found


def _prepared(spec: ModelSpec, limit: int) -> Mapping[str, TrackPlan]:
    plans: dict[str, TrackPlan] = {}
    for name, track in TRACKS.items():
        if spec.is_tiny and name != "calibration":
            continue
        try:
            samples = load_samples(track.folder())
        except DataMissing:
            continue
        protocol = track.protocol(None)
        drawn = draw(samples, limit, dimension=track.dimensions[0] if track.dimensions else None, seed=0)
        plans[name] = TrackPlan(
            track=track, protocol=protocol, max_tokens=protocol.max_tokens, samples=drawn, prepared=len(samples)
        )
    return plans
