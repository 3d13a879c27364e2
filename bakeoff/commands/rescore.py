"""`bakeoff rescore`: scores of a stored run again, from its outputs and the prepared samples, without a model.

Nothing that is written is ever changed: a journal gets new lines behind the old ones (the last record of a sample
wins), each with its attempt kept and a note `rescored` of what it replaces; `rescored.jsonl` in the run directory says
when, by which version and which rules, and how the fingerprint changed. An arm's fingerprint then names the rules that
its scores now come from, so a run rescored with today's rules can be resumed and one rescored with others cannot.
"""

import contextlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from bakeoff import __version__
from bakeoff.commands.scoring import Change, TrackScoring, score_track
from bakeoff.errors import UsageProblem
from bakeoff.files import write_atomically
from bakeoff.records import Record, to_line
from bakeoff.report import build, terminal_table
from bakeoff.runs import Manifest, RunDirectory, utc_now
from bakeoff.scorers import SCORERS
from bakeoff.tracks import TRACKS
from bakeoff.validity.gates import check_gates, write_gates
from bakeoff.validity.rules import asked_gates, read_rules
from bakeoff.wording import some

_MOST_SHOWN = 20
_LONGEST = 40
_LEFT_BEHIND = ("run.lock", "results.json", "report.html", "report.md", "gates.json")
_AGAIN = "Make room, then type the same again: what was written is kept, and the rest is scored"


class ArmScoring(msgspec.Struct, frozen=True, kw_only=True):
    """The tracks of one arm, scored again, and the arm's fingerprint before and after."""

    arm: str
    tracks: tuple[TrackScoring, ...]
    before: dict[str, Any]
    after: dict[str, Any]

    @property
    def rewritten(self) -> tuple[Change, ...]:
        """Records of which anything changed, the version of a rule included."""
        return tuple(change for track in self.tracks for change in track.rewritten)


def rescore(directory: Path, *, scorers: Mapping[str, str], out: Path | None, dry_run: bool) -> str:
    """Score a run again and rebuild its reports; return what changed, as text.

    Args:
        directory: the run.
        scorers: track, or `""` for all, to the name of a rule to use instead of the protocol's own.
        out: a new directory for a rescored copy; None to append to the run itself.
        dry_run: only say what would change.

    Raises:
        UsageProblem: when the run, a sample or a rule is not there, or the new scores would give no metrics.
    """
    run = RunDirectory(directory)
    found = [_score_arm(run, arm, scorers) for arm in run.journals()]
    told = [line for arm in found for line in _told(arm)] or ["no answer to score in this run"]
    if dry_run:
        return "\n".join([*told, "nothing was written (--dry-run)"])
    with _place(run, out) as place:
        place.lock()
        try:
            _write(place, found, scorers)
            results = build(place)
        finally:
            place.unlock()
    return "\n".join([*told, "", terminal_table(results), "", f"report: {place.path / 'report.html'}"])


def read_scorers(texts: list[str]) -> dict[str, str]:
    """Return `NAME` and `TRACK=NAME` entries as a mapping from track, `""` for all, to name.

    Raises:
        UsageProblem: for a rule or a track that does not exist.
    """
    found: dict[str, str] = {}
    for text in texts:
        track, _, name = text.rpartition("=")
        if track and track not in TRACKS:
            raise UsageProblem(f"--scorer {text}: there is no track {track!r}; tracks: {', '.join(TRACKS)}")
        if name not in SCORERS:
            raise UsageProblem(f"--scorer {text}: there is no scorer {name!r}; scorers: {', '.join(SCORERS)}")
        found[track] = name
    return found


def _score_arm(run: RunDirectory, arm: str, scorers: Mapping[str, str]) -> ArmScoring:
    manifest, selection = run.manifest(), run.selection()
    records: dict[str, list[Record]] = {}
    for record in run.journals()[arm].records.values():
        records.setdefault(record.track, []).append(record)
    tracks = tuple(
        score_track(
            name,
            rows,
            selected=selection.get(arm, {}).get(name, ()),
            max_tokens=manifest.tracks[name].max_tokens if name in manifest.tracks else 0,
            scorer=scorers.get(name, scorers.get("")),
        )
        for name, rows in records.items()
    )
    _refuse_unread(tracks, scorers)
    before = manifest.arms[arm].fingerprint
    return ArmScoring(
        arm=arm,
        tracks=tracks,
        before=before,
        after={**before, **{key: value for track in tracks for key, value in track.inputs.items()}},
    )


def _refuse_unread(tracks: Iterable[TrackScoring], scorers: Mapping[str, str]) -> None:
    """Refuse a rule that reads no target of the track it was named for, or of any where it was named for all."""
    answered = [track for track in tracks if track.n]
    for track in answered:
        if track.track in scorers and track.kept == track.n:
            named = f"{track.track}={scorers[track.track]}"
            raise UsageProblem(f"--scorer {named}: no sample of {track.track} has a target that it reads; name another")
    others = [track for track in answered if track.track not in scorers]
    if "" in scorers and others and all(track.kept == track.n for track in others):
        where = ", ".join(track.track for track in others)
        raise UsageProblem(f"--scorer {scorers['']}: no sample of {where} has a target that it reads; name another")


def _told(scored: ArmScoring) -> list[str]:
    """Return what changed of one arm, a line a track and a line for each of the first changed samples."""
    lines: list[str] = []
    for track in scored.tracks:
        changed = track.changed
        numbers = f"{_percent(track.value_before)} -> {_percent(track.value_after)}"
        lines.append(f"{scored.arm} on {track.track}: {len(changed)} of {track.n} changed; {track.metric} {numbers}")
        if track.kept:
            lines.append(
                f"  {some(track.kept, 'sample')} with targets that the named scorer does not read: their rule is kept"
            )
        lines += [f"  {_told_change(change)}" for change in changed[:_MOST_SHOWN]]
        if len(changed) > _MOST_SHOWN:
            lines.append(f"  and {len(changed) - _MOST_SHOWN} more, all in rescored.jsonl")
    return lines


def _told_change(change: Change) -> str:
    old, new = change.before, change.after
    rules = f"{old.scorer}@{old.scorer_version} -> {new.scorer}@{new.scorer_version}"
    answers = f"{_shown(old.answer)} -> {_shown(new.answer)}"
    return f"{new.sample_id}: {old.score:g} -> {new.score:g}, answer {answers} ({rules})"


def _shown(answer: str | None) -> str:
    if answer is None:
        return "none"
    return ascii(answer if len(answer) <= _LONGEST else f"{answer[:_LONGEST]}...")


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


@contextlib.contextmanager
def _place(run: RunDirectory, out: Path | None) -> Iterator[RunDirectory]:
    """Give the run itself, or a copy in `out` that is gone when the block does not end well."""
    if out is None:
        yield run
        return
    if out.exists():
        raise UsageProblem(f"{out} is there already; name a new folder with -o OUT")
    try:
        yield _copied(run, out)
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise


def _copied(run: RunDirectory, out: Path) -> RunDirectory:
    """Copy what a run was made of to `out`, under the name of that folder."""
    shutil.copytree(run.path, out, ignore=shutil.ignore_patterns(*_LEFT_BEHIND))
    copy = RunDirectory(out)
    copy.write_manifest(msgspec.structs.replace(copy.manifest(), run=copy.name))
    for arm in copy.manifest().arms:
        path = copy.journal_path(arm)
        if path.is_file():
            first, end, rest = path.read_bytes().partition(b"\n")
            header = json.dumps({**json.loads(first), "run": copy.name}, separators=(",", ":"))
            path.write_bytes(header.encode("ascii") + end + rest)
    return copy


def _write(run: RunDirectory, found: list[ArmScoring], scorers: Mapping[str, str]) -> None:
    """Append the records, then say in manifest and log what was done: a kill in between is mended by a second call."""
    at, manifest = utc_now(), run.manifest()
    for scored in found:
        base = {name: value for name, value in scored.before.items() if not name.startswith("tracks.")}
        if scored.rewritten:
            with run.open_journal(scored.arm, base, _AGAIN) as journal:
                for change in scored.rewritten:
                    journal.append(_line(change, at))
    if any(scored.rewritten or scored.before != scored.after for scored in found):
        run.write_manifest(_updated(manifest, found))
        entry = {"at": at, "bakeoff": __version__, "scorers": dict(scorers), "arms": [_entry(arm) for arm in found]}
        log = run.path / "rescored.jsonl"
        before = log.read_text("ascii") if log.is_file() else ""
        write_atomically(log, before + json.dumps(entry, sort_keys=True) + "\n")
    if (run.path / "gates.json").is_file() or manifest.options.get("min_score") or manifest.options.get("max_drop"):
        write_gates(run, check_gates(run, read_rules(asked_gates(manifest.options))))


def _line(change: Change, at: str) -> str:
    """Return a record with a note of what it replaces, which readers of records pass over."""
    old = change.before
    note = {"at": at, "scorer": old.scorer, "scorer_version": old.scorer_version, "score": old.score}
    return json.dumps({**json.loads(to_line(change.after)), "rescored": note}, separators=(",", ":"))


def _updated(manifest: Manifest, found: list[ArmScoring]) -> Manifest:
    arms = {
        scored.arm: msgspec.structs.replace(manifest.arms[scored.arm], fingerprint=scored.after) for scored in found
    }
    tracks = dict(manifest.tracks)
    for track in (track for scored in found for track in scored.tracks):
        if track.track in tracks:
            prefix = f"tracks.{track.track}."
            version, samples = (str(track.inputs[f"{prefix}{name}"]) for name in ("version", "samples_sha256"))
            tracks[track.track] = msgspec.structs.replace(tracks[track.track], version=version, samples_sha256=samples)
    return msgspec.structs.replace(manifest, arms={**manifest.arms, **arms}, tracks=tracks)


def _entry(scored: ArmScoring) -> dict[str, Any]:
    return {
        "arm": scored.arm,
        "inputs": {
            name: [scored.before.get(name), value]
            for name, value in scored.after.items()
            if scored.before.get(name) != value
        },
        "changed": [
            [change.after.track, change.after.sample_id, change.before.score, change.after.score]
            for track in scored.tracks
            for change in track.changed
        ],
    }
