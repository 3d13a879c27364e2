"""What the launcher may ask for, as types: every field is checked before anything is made of it."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Name = Annotated[str, Meta(min_length=1, max_length=500)]
Track = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9_]{0,40}$")]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Start(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run to be started. A value left out is the suite's default; `limit` holds for tracks without one of their own.

    `prepare` asks for missing samples to be fetched first.
    """

    models: Annotated[tuple[Name, ...], Meta(max_length=32)] = ()
    tracks: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=64)]
    limit: Count | None = None
    limits: dict[str, Count] = {}
    protocols: dict[str, Name] = {}
    temperature: Annotated[float, Meta(ge=0, le=100)] | None = None
    top_k: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    top_p: Share | None = None
    min_p: Share | None = None
    repetition_penalty: Annotated[float, Meta(gt=0, le=100)] | None = None
    seed: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    thinking: Literal["default", "on", "off"] | None = None
    max_tokens: Count | None = None
    concurrency: Annotated[int, Meta(ge=1, le=1024)] | None = None
    parity: Literal["strict", "warn", "off"] | None = None
    audit: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    controls: bool = False
    margin: Annotated[float, Meta(ge=0, le=100)] | None = None
    min_score: Annotated[tuple[Name, ...], Meta(max_length=64)] = ()
    max_drop: Annotated[tuple[Name, ...], Meta(max_length=64)] = ()
    baseline: Name | None = None
    max_truncated: Annotated[float, Meta(ge=0, le=100)] | None = None
    max_errors: Annotated[int, Meta(ge=0, le=1_000_000)] | None = None
    undecided: Literal["pass", "fail"] | None = None
    prepare: bool = False

    def limit_of(self, track: str) -> int | None:
        """Return how many samples of a track are asked for, None for all."""
        return self.limits.get(track, self.limit)


class Stop(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Stop the job with this id: after the sample being answered, now with a report of the rest, or by killing it."""

    job: Name
    how: Literal["sample", "now", "kill"] = "sample"


class RunNamed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change to a run that needs nothing but its name in the address."""


class Delete(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`confirm` repeats the name of the run."""

    confirm: str


class Rescore(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Score stored outputs again; `dry` only says what would change."""

    dry: bool = True


class Export(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Write a run in another form."""

    form: Literal["csv", "parquet", "inspect", "hf", "markdown"]


class Compare(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two runs, and the margin in points (None: that of the first)."""

    runs: Annotated[tuple[Name, ...], Meta(min_length=2, max_length=2)]
    margin: Annotated[float, Meta(ge=0, le=100)] | None = None


class Sizes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tracks whose dataset files the hub is asked about."""

    tracks: Annotated[tuple[Track, ...], Meta(min_length=1, max_length=64)]


class Named(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model's name as typed so far."""

    name: Annotated[str, Meta(max_length=500)]
