"""From what was asked for to the command that runs it: an argument list, never a line for a shell.

Every value stands behind its own `--option=`, so that none can be taken for another option.
"""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from bakeoff.models import DEFAULT_MODELS, resolve_all, split_names
from bakeoff.runs import Manifest, RunDirectory
from bakeoff.tracks import TRACKS
from bakeoff.validity.rules import OPTIONS as GATE_OPTIONS, read_rules
from bakeoff.web.asked import Start
from bakeoff.web.place import Place
from bakeoff.web.problems import Refusal

PYTEST = (sys.executable, "-m", "pytest")
BAKEOFF = (sys.executable, "-m", "bakeoff")
SIZES = (sys.executable, "-m", "bakeoff.prepare.sizes")
_SHOWN = ("-v", "--color=no")
_PLAIN = (
    *("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "seed", "thinking", "max_tokens"),
    *("concurrency", "parity", "audit", "margin", "max_truncated", "max_errors", "undecided"),
)


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A process to start: its argument list and what a person would type for it."""

    name: str
    argv: tuple[str, ...]

    @property
    def typed(self) -> str:
        """The same command as a person types it in the checkout."""
        for program, words in ((PYTEST, ("pytest",)), (BAKEOFF, ("bakeoff",))):
            if self.argv[: len(program)] == program:
                return shlex.join(("uv", "run", *words, *self.argv[len(program) :]))
        return shlex.join(self.argv)


def model_names(asked: Start) -> tuple[str, ...]:
    """Return the arms asked for.

    Raises:
        UsageProblem: when a name fits no form or is given twice.
    """
    names = tuple(name for entry in asked.models for name in split_names(entry)) or DEFAULT_MODELS
    return tuple(spec.name for spec in resolve_all(names))


def run_command(asked: Start, place: Place, run: Path) -> Command:
    """Return the pytest command of a run into the folder `run`.

    Raises:
        UsageProblem: when a value cannot be meant.
        Refusal: when a track is not there.
    """
    names = model_names(asked)
    files = _modules(asked.tracks, place)
    words = [f"--model={','.join(names)}"] if names != DEFAULT_MODELS else []
    if asked.limit is not None:
        words.append(f"--limit={asked.limit}")
    words += [f"--limit={track}:{count}" for track, count in asked.limits.items() if track in asked.tracks]
    words += [f"--protocol={track}:{_protocol(track, name)}" for track, name in asked.protocols.items()]
    for field in _PLAIN:
        value = getattr(asked, field)
        if value is not None:
            words.append(f"--{field.replace('_', '-')}={_number(value)}")
    words += ["--controls"] if asked.controls else []
    words += gate_words(asked, place)
    words.append(f"--run-dir={_short(run, place)}")
    return Command(name="run", argv=(*PYTEST, *files, *words, *_SHOWN))


def gate_words(asked: Start, place: Place) -> list[str]:
    """Return the gate options, held against the rules that pytest will hold them against."""
    baseline = str(place.run(asked.baseline).path) if asked.baseline else None
    read_rules({"min_score": asked.min_score, "max_drop": asked.max_drop, "baseline": baseline})
    words = [f"--min-score={text}" for text in asked.min_score] + [f"--max-drop={text}" for text in asked.max_drop]
    return [*words, f"--baseline={_short(Path(baseline), place)}"] if baseline else words


def prepare_command(sizes: dict[str, int]) -> Command:
    """Return the command that fetches samples of tracks in the sizes given."""
    return Command(name="prepare", argv=(*BAKEOFF, "prepare", *(f"{track}={n}" for track, n in sizes.items())))


def resume_command(run: RunDirectory, place: Place) -> Command:
    """Return the command that goes on with a run, with its own options; gates are typed again, as pytest wants them.

    Raises:
        UsageProblem: when the manifest cannot be read.
        Refusal: when a track of the run has no test module here.
    """
    manifest = run.manifest()
    files = _modules(tuple(manifest.tracks), place)
    return Command(
        name="run", argv=(*PYTEST, *files, f"--resume={_short(run.path, place)}", *_gates(manifest), *_SHOWN)
    )


def _gates(manifest: Manifest) -> list[str]:
    words: list[str] = []
    for name in GATE_OPTIONS:
        value: Any = manifest.options.get(name)
        values: Sequence[Any] = value if isinstance(value, list) else [value]
        words += [f"--{name.replace('_', '-')}={_number(one)}" for one in values if one is not None]
    return words


def _modules(tracks: Sequence[str], place: Place) -> list[str]:
    known = place.modules()
    missing = [track for track in tracks if track not in known]
    if missing:
        raise Refusal(
            400, f"no track {', '.join(map(repr, missing))} in {place.bench}; there are {', '.join(known)}", "track"
        )
    return [_short(known[track], place) for track in dict.fromkeys(tracks)]


def _protocol(track: str, name: str) -> str:
    try:
        return TRACKS[track].protocol(name).name
    except KeyError:
        known = ", ".join(TRACKS[track].protocol_names) if track in TRACKS else "no such track"
        raise Refusal(400, f"track {track!r} has no protocol {name!r}: {known}", "protocol") from None


def _short(path: Path, place: Place) -> str:
    return str(path.relative_to(place.root)) if path.is_relative_to(place.root) else str(path)


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
