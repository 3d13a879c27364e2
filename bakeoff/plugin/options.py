"""The command line of the suite: options, their defaults, and what they mean as one frozen value."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec
import pytest

from bakeoff.errors import UsageProblem, did_you_mean
from bakeoff.models import DEFAULT_MODELS, split_names
from bakeoff.records import Sampling
from bakeoff.sharding import Shard, read_shard
from bakeoff.tracks import TRACKS
from bakeoff.validity.rules import (
    DEFAULTS as GATE_DEFAULTS,
    OPTIONS as GATE_OPTIONS,
    GateRules,
    asked_gates,
    read_rules,
)

T = TypeVar("T")


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """All options of a run, read once. `limits`, `protocols`, `budgets` map a track, or `""` for all, to a value."""

    models: tuple[str, ...]
    limits: Mapping[str, int]
    protocols: Mapping[str, str]
    budgets: Mapping[str, int]
    sampling: Sampling
    seed: int
    thinking: Literal["default", "on", "off"]
    concurrency: int | None
    image_reuse: bool
    run_dir: str | None
    resume: str | None
    retry_errors: bool
    gates: GateRules
    margin_pp: float
    fail_on_wrong: bool
    llama_server: str | None
    server_args: tuple[str, ...]
    timeout_s: float
    parity: Literal["strict", "warn", "off"]
    audit: int
    controls: bool
    shard: Shard | None
    host_timeout_s: float


MOST_TOKENS = 1_000_000
"""More than any model answers; runtimes reserve room for a budget, and far greater numbers do not fit their fields."""

RESUMED_FIELDS = (
    *("model", "limit", "protocol", "max_tokens", "temperature", "top_k", "top_p", "min_p"),
    *("repetition_penalty", "seed", "thinking", "concurrency", "no_image_reuse", "llama_server", "server_arg"),
    *("timeout", "margin", "parity", "audit", "controls", "shard"),
)
"""Options that a resumed run takes over from the stored one where the command line is silent."""

DEFAULTS: dict[str, Any] = {
    "model": [],
    "limit": [],
    "protocol": [],
    "max_tokens": [],
    "temperature": 0.2,
    "top_k": 50,
    "top_p": 1.0,
    "min_p": 0.0,
    "repetition_penalty": None,
    "seed": 0,
    "thinking": "default",
    "concurrency": None,
    "no_image_reuse": False,
    "llama_server": None,
    "server_arg": [],
    "timeout": 600.0,
    "margin": 2.0,
    "parity": "warn",
    "audit": 0,
    "controls": False,
    "shard": None,
}
"""Values of `RESUMED_FIELDS` where neither the command line nor a stored run says anything."""


def add_options(parser: pytest.Parser) -> None:
    """Add the group "bakeoff". Defaults are None so that a resumed run can tell silence from a choice."""
    group = parser.getgroup("bakeoff", "vision-language models on local runtimes")

    def add(flag: str, metavar: str | None, text: str, **more: Any) -> None:
        name = "bakeoff_" + flag.removeprefix("--").replace("-", "_")
        shown = {} if metavar is None else {"metavar": metavar}
        group.addoption(flag, dest=name, help=text, **shown, **more)

    add("--model", "NAME[,NAME]", "arms of the run; repeatable; default: the embedded pair", action="append")
    add("--limit", "N|TRACK:N", "seeded, stratified sample of each track", action="append")
    add("--protocol", "NAME|TRACK:NAME", "prompt protocol instead of the track's first", action="append")
    add(
        "--max-tokens",
        "N|TRACK:N|probe",
        "token budget of an answer instead of the protocol's; probe measures the longest answers and takes twice that",
        action="append",
    )
    add("--temperature", "X", "default 0.2; 0 is greedy", type=float)
    add("--top-k", "N", "default 50; 0 is off", type=int)
    add("--top-p", "X", "default 1.0, which is off", type=float)
    add("--min-p", "X", "default 0, which is off", type=float)
    add("--repetition-penalty", "X", "default: none", type=float)
    add("--seed", "N", "default 0; every sample's own seed follows from it", type=int)
    add("--thinking", None, "what is asked of the chat template", choices=["default", "on", "off"])
    add("--concurrency", "N", "prompts in flight per arm; default: the backend's own", type=int)
    add("--no-image-reuse", None, "encode an image again for each of its samples", action="store_true", default=None)
    group.addoption(
        "--image-reuse", dest="bakeoff_no_image_reuse", action="store_false", help="encode an image once (the default)"
    )
    add("--run-dir", "DIR", "where the run goes; default: reports/<UTC time>-<4 hex>")
    add("--resume", "DIR", "go on with a run; without DIR the newest unfinished one", nargs="?", const="")
    add(
        "--no-retry-errors", None, "with --resume: leave samples alone that errored", action="store_true", default=False
    )
    group.addoption(
        "--retry-errors",
        dest="bakeoff_no_retry_errors",
        action="store_false",
        help="with --resume: try samples again that errored (the default)",
    )
    add(
        "--min-score", "TRACK[:METRIC]=X", "gate: the score must be at least X, a fraction", action="append", default=[]
    )
    add("--parity", None, "what a failed parity probe does; default warn", choices=["strict", "warn", "off"])
    add("--audit", "N", "ask N samples alone and together, and count what changes; default 0", type=int)
    add("--controls", None, "also ask with blank, swapped and missing images", action="store_true", default=None)
    add("--baseline", "DIR", "a stored run that --max-drop compares with: same arm name, or the only arm it has")
    add(
        "--max-drop",
        "TRACK[:METRIC]=PP",
        "gate: at most PP points may be lost against --baseline, on the samples both answered",
        action="append",
        default=[],
    )
    add("--margin", "PP", "largest difference, in points, that is called the same; default 2", type=float)
    add(
        "--max-truncated",
        "PCT",
        "gate: at most this share of cut answers per arm and track; default 1",
        type=float,
    )
    add("--max-errors", "N", "gate: at most so many samples without a valid output; default 0", type=int)
    add("--undecided", None, "what a gate without enough data does", choices=["pass", "fail"])
    add("--fail-on-wrong", None, "a wrong answer fails its test", action="store_true", default=False)
    add("--llama-server", "PATH", "llama.cpp server to use; default: from PATH, else the bundled one")
    add("--server-arg", "ARG", "one more argument for that server; repeatable", action="append")
    add("--shard", "I/N", "only part I of N, for several machines; bakeoff merge joins the parts")
    add(
        "--host-timeout",
        "S",
        "cut off a host of a fleet that is silent for so long; default 60",
        type=float,
        default=60,
    )
    add("--timeout", "S", "longest wait for one answer, in seconds; default 600", type=float)


def asks_for_budget_probe(config: pytest.Config) -> bool:
    """Return whether `--max-tokens probe` is on the command line of a run that is not resumed."""
    return "probe" in (config.getoption("bakeoff_max_tokens") or ()) and config.getoption("bakeoff_resume") is None


def raw_options(config: pytest.Config) -> dict[str, Any]:
    """Return the options of `RESUMED_FIELDS` that the command line names, as plain JSON values."""
    named = {field: config.getoption(f"bakeoff_{field}") for field in RESUMED_FIELDS}
    if named["max_tokens"] is not None:  # a probe becomes numbers, which are stored and taken over
        named["max_tokens"] = [entry for entry in named["max_tokens"] if entry != "probe"] or None
    return {field: value for field, value in named.items() if value is not None}


def storable(config: pytest.Config, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return every effective option as plain JSON, for the manifest: what a later session takes over, and the gates."""
    return {
        **DEFAULTS,
        **stored,
        **raw_options(config),
        **_arms(config, stored),
        **dict.fromkeys(GATE_OPTIONS),
        **GATE_DEFAULTS,
        **_gates(config, stored),
    }


def _arms(config: pytest.Config, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the models of a resumed run and behind them those that are named for it now: none is forgotten."""
    if not stored:
        return {}
    before = [name for entry in stored.get("model") or DEFAULT_MODELS for name in split_names(entry)]
    named = [name for entry in config.getoption("bakeoff_model") or () for name in split_names(entry)]
    return {"model": list(dict.fromkeys([*before, *named]))} if named else {}


def _gates(config: pytest.Config, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the gates that somebody asked for: on the command line, else when the stored run was begun."""
    named = {name: config.getoption(f"bakeoff_{name}") for name in GATE_OPTIONS}
    return {**asked_gates(stored), **{name: value for name, value in named.items() if value not in (None, [])}}


def read_options(config: pytest.Config, stored: Mapping[str, Any]) -> Options:
    """Return the options: from the command line, else from the `stored` run, else the defaults.

    Raises:
        UsageProblem: when a value cannot be meant.
    """
    values = {**DEFAULTS, **stored, **raw_options(config)}

    def get(name: str) -> Any:
        return config.getoption(f"bakeoff_{name}")

    penalty = values["repetition_penalty"]
    sampling = Sampling(
        temperature=_within("--temperature", values["temperature"], 0, 100),
        top_k=int(_within("--top-k", values["top_k"], 0, 1_000_000)),
        top_p=_within("--top-p", values["top_p"], 0, 1),
        min_p=_within("--min-p", values["min_p"], 0, 1),
        repetition_penalty=None if penalty is None else _within("--repetition-penalty", penalty, 0.01, 100),
    )
    concurrency = values["concurrency"]
    return Options(
        models=tuple(name for entry in values["model"] for name in split_names(entry)),
        limits=_per_track("--limit", values["limit"], _positive),
        protocols=_per_track("--protocol", values["protocol"], str),
        budgets=_per_track("--max-tokens", values["max_tokens"], _tokens),
        sampling=sampling,
        seed=int(values["seed"]),
        thinking=values["thinking"],
        concurrency=None if concurrency is None else int(_within("--concurrency", concurrency, 1, 1024)),
        image_reuse=not values["no_image_reuse"],
        run_dir=get("run_dir"),
        resume=get("resume"),
        retry_errors=not get("no_retry_errors"),
        gates=read_rules(_gates(config, stored)),
        margin_pp=_within("--margin", values["margin"], 0, 100),
        fail_on_wrong=get("fail_on_wrong"),
        llama_server=values["llama_server"],
        server_args=tuple(values["server_arg"]),
        timeout_s=_within("--timeout", values["timeout"], 0.1, 1e6),
        parity=values["parity"],
        audit=int(_within("--audit", values["audit"], 0, 1_000_000)),
        controls=bool(values["controls"]),
        host_timeout_s=_within("--host-timeout", get("host_timeout"), 1, 1e6),
        shard=None if values["shard"] is None else read_shard(values["shard"]),
    )


def for_track(values: Mapping[str, T], track: str) -> T | None:
    """Return the value that holds for `track`: its own, else the one for all tracks, else None."""
    return values.get(track, values.get(""))


def _per_track(option: str, entries: Sequence[str], read: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if any(not str(entry).strip(" ,") for entry in entries):  # such as "--limit=$N" where N is not set
        raise UsageProblem(f"{option}: no value is given. Leave the option out, or write its value behind it")
    for part in (part for entry in entries for part in str(entry).split(",") if part.strip()):
        track, colon, value = part.strip().rpartition(":")
        if colon and track not in TRACKS:
            near = did_you_mean(track, TRACKS)
            raise UsageProblem(f"{option} {part}: there is no track {track!r}; tracks: {', '.join(TRACKS)}{near}")
        try:
            found[track] = read(value)
        except ValueError as error:
            how = f"write {option} N, or {option} TRACK:N for one track, such as {option} docvqa:50"
            words = (*(f"{name}:N" for name in TRACKS), *(("probe",) if option == "--max-tokens" else ()))
            near = did_you_mean(value, words) if not colon else ""
            raise UsageProblem(f"{option} {part}: {error}; {how}{near}") from error
    return found


def _positive(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"{text!r} is no whole number") from None
    if number < 1:
        raise ValueError(f"{number} is not at least 1")
    return number


def _tokens(text: str) -> int:
    number = _positive(text)
    if number > MOST_TOKENS:
        raise ValueError(f"{number} is more than {MOST_TOKENS}")
    return number


def _within(option: str, value: float, low: float, high: float) -> float:
    if not low <= value <= high:
        raise UsageProblem(f"{option} {value}: must lie between {low:g} and {high:g}")
    return value
