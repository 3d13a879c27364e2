"""`results.json` as types: everything a report shows, and the schema that others rely on.

A key is never left out: what is not known is null, which is not 0. Scores are fractions in [0, 1], differences are
percentage points, times are seconds.
"""

from typing import Any, Literal

import msgspec

from bakeoff.report.flip_results import Causes
from bakeoff.report.speed_about import SpeedAbout
from bakeoff.speed.metrics import Figure
from bakeoff.validity.audit import Audit
from bakeoff.validity.controls import TrackControl
from bakeoff.validity.findings import Finding
from bakeoff.validity.probes import ClassAgreement

SCHEMA = 1

Word = Literal["same", "not worse", "better", "worse", "undecided", "not comparable"]
CheckState = Literal["same", "differs", "not checked"]
Badge = Literal["comparable", "differs", "not comparable"]
Reproduced = Literal["reproduced", "differs", "other protocol"]
Relation = Literal["other runtime", "same runtime", "other"]


class MetricResult(msgspec.Struct, frozen=True, kw_only=True):
    """One number of a track; `value` is None when there is no data for it."""

    value: float | None
    ci95: tuple[float, float] | None
    n: int
    primary: bool = False
    flags: tuple[str, ...] = ()


class GroupResult(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of one group; `right` counts the right ones where every score is 0 or 1."""

    n: int
    value: float | None
    ci95: tuple[float, float] | None
    right: int | None = None


class TrackResult(msgspec.Struct, frozen=True, kw_only=True):
    """One arm on one track.

    `n` counts samples with an answer (a truncated one is one), `selected` what belongs to the run, `full` the split;
    `skipped` counts samples that the arm is not asked because its runtime cannot take them: `complete` does without
    them. `is_known` is False for a track that this version has no rule for.
    """

    title: str
    is_known: bool
    n: int
    selected: int | None
    full: int | None
    complete: bool
    errors: int
    skipped: int
    truncated: int
    unparsed: int
    retried: int
    right: int | None
    metrics: dict[str, MetricResult]
    groups: dict[str, dict[str, GroupResult]]


class ArmResult(msgspec.Struct, frozen=True, kw_only=True):
    """One arm. `wall_s` is time at work, summed over sessions; `load_s` is loading, which is not part of it."""

    model: str
    backend: str
    identity: dict[str, Any]
    settings: dict[str, Any]
    fingerprint: dict[str, Any]
    wall_s: float | None
    samples_per_s: float | None
    load_s: float | None
    sessions: int
    ttft_s_median: float | None
    decode_tps_median: float | None
    peak_memory_bytes: int | None
    tracks: dict[str, TrackResult]


class Holm(msgspec.Struct, frozen=True, kw_only=True):
    """What Holm's correction over the `tracks` that two arms share made of a verdict.

    `p`, `p_same`, `p_not_worse` are adjusted; `verdict_alone` is the word of the printed interval by itself.
    """

    tracks: int
    p: float
    p_same: float
    p_not_worse: float
    verdict_alone: Word
    beyond_margin_alone: bool


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Arm `a` against arm `b` on the samples both answered.

    The word is read from the two ends of `ci95_pp` against zero and the margin. Where `reason` is set there is no
    verdict and no interval: a check failed, or too few samples are common. `lost` counts samples that `b` has right
    and `a` has wrong, `gained` the reverse, `identical` those with the same output to the letter. `p`, `p_same`,
    `p_beyond`, `p_not_worse` are below 0.05 exactly when the interval shows a difference, an equality, a difference
    beyond the margin, no loss beyond the margin.
    Where the pair shares several tracks, `holm` is set and the word is the one that still holds after it.
    """

    a: str
    b: str
    track: str
    metric: str | None
    relation: Relation
    n: int
    diff_pp: float | None
    ci95_pp: tuple[float, float] | None
    p: float | None
    test: str | None
    verdict: Word
    beyond_margin: bool
    margin_pp: float
    sentence: str
    evidence: str
    reason: str | None
    lost: int
    gained: int
    identical: int
    pairs_needed: int | None
    p_same: float | None = None
    p_beyond: float | None = None
    p_not_worse: float | None = None
    holm: Holm | None = None
    causes: Causes | None = None


class Truncation(msgspec.Struct, frozen=True, kw_only=True):
    """Answers cut off at the token limit. `worst` and `best` score all of them 0 and 1."""

    truncated: int
    n: int
    rate: float | None
    worst: float | None
    best: float | None


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked of the chat template and in how many outputs thinking was seen, was not seen, is not known.

    `thinking_tokens` and `answer_tokens` are sums over the outputs whose runtime counts both apart, None without any.
    """

    asked: str | None
    thinking: int
    plain: int
    unknown: int
    thinking_tokens: int | None = None
    answer_tokens: int | None = None


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One question of comparability with its answer in words."""

    state: CheckState
    required: bool
    reason: str


class ParityCheck(Check, frozen=True, kw_only=True):
    """What the parity probes found, each finding with its likely cause, and agreement on given words by arm."""

    findings: tuple[Finding, ...] = ()
    agreements: dict[str, dict[str, tuple[ClassAgreement, ...]]] = {}


class AuditCheck(Check, frozen=True, kw_only=True):
    """What `--audit` found by arm."""

    arms: dict[str, Audit] = {}


class ControlsCheck(Check, frozen=True, kw_only=True):
    """What `--controls` found by arm and track: scores without the right images, and the lift by them."""

    arms: dict[str, dict[str, TrackControl]] = {}


class TruncationCheck(Check, frozen=True, kw_only=True):
    """Cut-off answers by arm and track."""

    arms: dict[str, dict[str, Truncation]]


class ModeCheck(Check, frozen=True, kw_only=True):
    """Thinking by arm."""

    arms: dict[str, Mode]


class IdentityCheck(Check, frozen=True, kw_only=True):
    """Hash of the weights by arm; None where the arm names none."""

    arms: dict[str, str | None]


class Validity(msgspec.Struct, frozen=True, kw_only=True):
    """May this table be believed? The checks, their sum and the reasons."""

    parity: ParityCheck
    truncation: TruncationCheck
    budget: Check
    mode: ModeCheck
    identity: IdentityCheck
    audit: AuditCheck
    controls: ControlsCheck
    sampling: Check
    samples: Check
    prompt: Check
    scorer: Check
    frame: Check
    reuse: Check
    badge: Badge
    reasons: tuple[str, ...]


class Reproduction(msgspec.Struct, frozen=True, kw_only=True):
    """A published number beside the one measured here.

    `verdict` is "other protocol" wherever the two are not known to answer the same question; `reasons` says why.
    """

    arm: str
    track: str
    metric: str
    group: str
    published: float
    source: str
    date: str
    protocol: str
    value: float
    ci95: tuple[float, float] | None
    n: int
    verdict: Reproduced
    reasons: tuple[str, ...]
    sentence: str


class GateResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate said."""

    gate: str
    outcome: Literal["pass", "fail", "not enough data"]
    detail: str = ""


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """`results.json`. `headline` is the first sentence of terminal, page and Markdown alike.

    `baselines` are the metrics of answers that need no model: track, constant output, metric.
    `speed` maps arm, setting and quantity to a figure; empty where nothing was timed.
    """

    schema: int
    run: str
    created: str
    state: str
    headline: str
    argv: tuple[str, ...]
    environment: dict[str, Any]
    options: dict[str, Any]
    arms: dict[str, ArmResult]
    comparisons: tuple[Comparison, ...]
    validity: Validity
    gates: tuple[GateResult, ...]
    reproductions: tuple[Reproduction, ...] = ()
    baselines: dict[str, dict[str, dict[str, MetricResult]]] = {}
    speed: dict[str, dict[str, dict[str, Figure]]] = {}
    speed_about: SpeedAbout = SpeedAbout()
