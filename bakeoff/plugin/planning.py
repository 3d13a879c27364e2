"""What a session will ask: models and tracks of the options, and pytest's parameters made of them."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest

from bakeoff.errors import DataMissing, UsageProblem, did_you_mean
from bakeoff.evaluate import Asking, TrackPlan, prompt_of
from bakeoff.models import DEFAULT_MODELS, ModelSpec, resolve_all
from bakeoff.plugin.options import Options, for_track
from bakeoff.records import Prompt, Record, Sample
from bakeoff.sharding import Shard, split, whole_sha256
from bakeoff.tracks import TRACKS, samples_of
from bakeoff.tracks.draw import draw
from bakeoff.tracks.track import NATIVE

NOT_PREPARED = "not-prepared"
"""Parameter id of the stand-in for a track without prepared samples."""
NO_PROTOCOL = "no-such-protocol"
"""Parameter id of the stand-in for a track that lacks the protocol asked of all tracks."""


class _LacksProtocol(UsageProblem):
    """A track does not have the protocol that was asked of all tracks."""


class Case:
    """One sample to be answered by one arm: the parameter of every benchmark test."""

    __slots__ = ("_run", "arm", "sample")

    def __init__(self, arm: str, sample: Sample, run: Callable[["Case"], Record]) -> None:
        self.arm = arm
        self.sample = sample
        self._run = run

    def check(self) -> Record:
        """Get the answer, score it, record it.

        A wrong answer is data and passes (unless `--fail-on-wrong`); a sample without a valid output fails.
        """
        return self._run(self)

    def __repr__(self) -> str:
        return f"{self.arm}-{self.sample.id}"


class Unprepared:
    """Stands in a test's parameters for all samples of a track that cannot be asked; `problem` says what to type.

    Where it `is_refused`, the session ends if it is still there behind `-k` and `-m`; a track that is not prepared ends
    only those who asked for it by name.
    """

    __slots__ = ("is_refused", "problem", "track")

    def __init__(self, track: str, problem: str, *, is_refused: bool = False) -> None:
        self.track = track
        self.problem = problem
        self.is_refused = is_refused

    def check(self) -> None:
        """Skip the test, which is reached only where nobody asked for the track by name."""
        pytest.skip(self.problem)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Arms in the order in which they run, and tracks in the order in which they were found.

    `unprepared` maps tracks without prepared samples to what to type, `lacking` those that do not have the protocol
    asked of all tracks.
    """

    arms: tuple[ModelSpec, ...]
    tracks: dict[str, TrackPlan]
    asking: Asking
    unprepared: dict[str, str] = {}
    lacking: dict[str, str] = {}

    @property
    def known(self) -> frozenset[str]:
        """All tracks that a test may be of, also those that cannot be asked."""
        return frozenset((*self.tracks, *self.unprepared, *self.lacking))

    def parameters(
        self, track: str, run: Callable[[Case], Record], skips: Callable[[str, str], bool] | None = None
    ) -> list[Any]:
        """Return pytest parameters of one track, each with its explicit id `<arm>-<sample id>`.

        Samples of an arm that `skips(arm, sample id)` get none; where that leaves nothing, the first one stays, because
        pytest takes an empty list for a mistake.
        """
        if track in self.unprepared:
            return [pytest.param(Unprepared(track, self.unprepared[track]), id=NOT_PREPARED)]
        if track in self.lacking:
            return [pytest.param(Unprepared(track, self.lacking[track], is_refused=True), id=NO_PROTOCOL)]
        pairs = [(spec.arm, sample) for spec in self.arms for sample in self.tracks[track].samples]
        wanted = pairs if skips is None else [pair for pair in pairs if not skips(pair[0], pair[1].id)] or pairs[:1]
        return [pytest.param(Case(arm, sample, run), id=f"{arm}-{sample.id}") for arm, sample in wanted]

    def tracks_of(self, arm: str) -> dict[str, TrackPlan]:
        """Return the tracks as one arm is asked: with protocol `native`, by its own family's."""
        family = next(spec.family for spec in self.arms if spec.arm == arm)
        return {name: plan.for_family(family) for name, plan in self.tracks.items()}

    def prompts(self, arm: str) -> dict[str, Prompt]:
        """Return the prompt of every sample as one arm is asked, by sample id."""
        plans = self.tracks_of(arm).values()
        return {sample.id: prompt_of(sample, plan, self.asking) for plan in plans for sample in plan.samples}

    def is_elsewhere(self, shard: Shard) -> Callable[[Case | Unprepared], bool]:
        """Return a test for cases that belong to another part than `shard`."""
        parts = {name: split(plan.samples, shard.count) for name, plan in self.tracks.items()}
        return lambda case: isinstance(case, Case) and parts[case.sample.track][case.sample.id] != shard.index

    def wholes(self) -> dict[str, str]:
        """Return a hash of each track's samples before any split."""
        return {name: whole_sha256(plan.samples) for name, plan in self.tracks.items()}

    def case_ids(self) -> dict[str, tuple[str, str, str]]:
        """Return (arm, track, sample id) by the id of the parameter."""
        return {
            f"{spec.arm}-{sample.id}": (spec.arm, name, sample.id)
            for spec in self.arms
            for name, plan in self.tracks.items()
            for sample in plan.samples
        }


def make_plan(options: Options, tracks: Iterable[str]) -> Plan:
    """Resolve models and load the samples of `tracks`.

    A track whose data is missing or broken is kept aside, so that it does not stop the others; so is one that lacks the
    protocol asked of all tracks, which `-k` or `-m` may leave out.

    Raises:
        UsageProblem: for an unknown model, track or protocol, and for sample ids that two tracks share.
    """
    names = tuple(dict.fromkeys(tracks))
    for name in names:
        if name not in TRACKS:
            raise UsageProblem(f"a test module names the track {name!r}; tracks: {', '.join(TRACKS)}")
    plans: dict[str, TrackPlan] = {}
    unprepared: dict[str, str] = {}
    lacking: dict[str, str] = {}
    for name in names:
        try:
            plans[name] = _track_plan(name, options)
        except DataMissing as problem:
            unprepared[name] = str(problem)
        except _LacksProtocol as problem:
            lacking[name] = str(problem)
    _refuse_shared_ids(plans)
    return Plan(
        arms=resolve_all(options.models or DEFAULT_MODELS),
        tracks=plans,
        asking=Asking(sampling=options.sampling, seed=options.seed, thinking=options.thinking),
        unprepared=unprepared,
        lacking=lacking,
    )


def _track_plan(name: str, options: Options) -> TrackPlan:
    track = TRACKS[name]
    wanted = for_track(options.protocols, name)
    if wanted == NATIVE and track.native is None and name not in options.protocols:
        wanted = None  # said of all tracks, it means those that ask for places
    try:
        protocol = track.protocol(wanted)
    except KeyError as error:
        known = track.protocol_names
        near = did_you_mean(str(wanted), known if name in options.protocols else {*known, NATIVE})
        text = f"track {name} has no protocol {wanted!r}; it has {', '.join(known)}{near}"
        if name in options.protocols:
            raise UsageProblem(text) from error
        owners = [f"{other}:{wanted}" for other, found in TRACKS.items() if wanted in found.protocol_names]
        how = f"\nName the tracks that are meant: --protocol {','.join(owners)}" if owners else ""
        raise _LacksProtocol(text + how) from error
    samples = samples_of(track, protocol)
    stray = next((sample for sample in samples if sample.track != name), None)
    if stray is not None:
        raise UsageProblem(f"sample {stray.id!r} in {track.folder()} says it belongs to track {stray.track!r}")
    limit = for_track(options.limits, name)
    dimension = track.dimensions[0] if track.dimensions else None
    drawn = samples if limit is None else draw(samples, limit, dimension=dimension, seed=options.seed)
    budget = for_track(options.budgets, name)
    return TrackPlan(
        track=track,
        protocol=protocol,
        max_tokens=budget or protocol.max_tokens,
        is_budget_given=budget is not None,
        samples=drawn,
        prepared=len(samples),
    )


def _refuse_shared_ids(plans: dict[str, TrackPlan]) -> None:
    owner: dict[str, str] = {}
    for name, plan in plans.items():
        for sample in plan.samples:
            if owner.setdefault(sample.id, name) != name:
                raise UsageProblem(f"tracks {owner[sample.id]} and {name} both have a sample {sample.id!r}")
