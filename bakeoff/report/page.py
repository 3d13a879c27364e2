"""`report.html`: one file with everything in it, made from results and cards by templates that only place text.

The page asks nothing of a network: its policy allows its own style, its own script (both by hash) and data images.
Every text goes through `visible` and is escaped; no template formats a number.
"""

import base64
import hashlib
import itertools
import shlex
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

from bakeoff.report import flips, numbers, tables, verdicts
from bakeoff.report.arms import marks, runtime
from bakeoff.report.charts import Scatter, scatter, score_range
from bakeoff.report.checks import LABELS, named_checks
from bakeoff.report.comparing import shown_metric
from bakeoff.report.grid import ordered_arms, score_grid, tracks_of
from bakeoff.report.reading import Run
from bakeoff.report.results import Badge, CheckState, Results
from bakeoff.report.samples import Wrong
from bakeoff.report.visible import visible

_TEMPLATES = Path(__file__).parent / "templates"
_LEAST_FOR_SCATTER = 3
_FIRST_CARDS = 8
_STATES: dict[CheckState, tuple[str, str]] = {
    "same": ("✓", "same"),
    "differs": ("≠", "differs"),
    "not checked": ("–", "unknown"),
}
_BADGES: dict[Badge, tuple[str, str]] = {
    "comparable": ("✓", "Comparable"),
    "differs": ("≠", "Comparable"),
    "not comparable": ("✕", "Not comparable"),
}


def render_page(run: Run, results: Results, wrong: Wrong) -> str:
    """Return the page."""
    style, script = ((_TEMPLATES / name).read_text("utf-8") for name in ("style.css", "theme.js"))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(
        style=markupsafe.Markup(style),  # noqa: S704 -- our own file, inside <style>
        script=markupsafe.Markup(script),  # noqa: S704 -- our own file, inside <script>
        policy=_policy(style, script),
        **_context(run, results, wrong),
    )


def _finalize(value: Any) -> Any:
    """Show what cannot be seen, and never print None."""
    if value is None:
        return numbers.NO_DATA
    return visible(value) if isinstance(value, str) and not isinstance(value, markupsafe.Markup) else value


def _policy(style: str, script: str) -> str:
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _context(run: Run, results: Results, wrong: Wrong) -> dict[str, Any]:
    errors, more_errors = tables.error_list(run)
    arms = ordered_arms(results)
    mark_of = marks(tuple(arm.backend for arm in arms.values()))
    return {
        "results": results,
        "title": title(results),
        "meta": _meta(run, results),
        "badge": _badge(results),
        "checks": [
            {
                "label": LABELS[name],
                "symbol": _STATES[check.state][0],
                "word": check.state,
                "text": check.reason,
                "kind": _STATES[check.state][1],
            }
            for name, check in named_checks(results.validity).items()
        ],
        "verdicts": [
            {
                "symbol": verdicts.SYMBOLS[c.verdict],
                "word": tables.word_text(c),
                "kind": tables.word_kind(c),
                "sentence": c.sentence,
                "evidence": c.evidence,
                "track": c.track,
            }
            for c in verdicts.leading(results.comparisons)
        ],
        "more_verdicts": numbers.count(len(results.comparisons) - len(verdicts.leading(results.comparisons))),
        "has_more_verdicts": len(results.comparisons) > verdicts.MOST_LEADING,
        "grid": score_grid(results),
        "gates": results.gates,
        "time": tables.time_table(results),
        "scatters": _scatters(results, mark_of),
        "flips": flips.flip_table(results),
        "flip_slices": flips.flip_slices(results),
        "flip_meanings": flips.explained(flips.flip_table(results)),
        "forests": tables.forests(results, run.margin_pp),
        "margin": numbers.points(run.margin_pp),
        "groups": _by_track(tables.group_tables(results)),
        "wrong": wrong,
        "first_cards": _FIRST_CARDS,
        "wrong_counts": [
            {
                "arm": arm,
                "mark": mark_of[arms[arm].backend],
                "shown": numbers.count(wrong.shown[arm][0]),
                "total": numbers.count(wrong.shown[arm][1]),
                "more": numbers.count(wrong.shown[arm][1] - wrong.shown[arm][0]),
                "has_more": wrong.shown[arm][1] > wrong.shown[arm][0],
            }
            for arm in arms
        ],
        "mark_of_arm": {name: mark_of[arm.backend] for name, arm in arms.items()},
        "dash_of_arm": {name: f"dash{position % 3}" for position, name in enumerate(arms)},
        "track_titles": {name: found[0].title for name, found in tracks_of(results).items()},
        "health": tables.health_table(results),
        "errors": errors,
        "more_errors": more_errors,
        "environment": tables.flattened(results.environment),
        "options": tables.flattened(results.options),
        "identities": [
            {
                "arm": name,
                "mark": mark_of[arm.backend],
                "about": (
                    ("model", arm.model),
                    ("runtime", runtime(arm.backend)),
                    *tables.flattened(arm.identity),
                    *tables.flattened(arm.settings, "settings."),
                ),
                "fingerprint": tables.flattened(arm.fingerprint),
            }
            for name, arm in arms.items()
        ],
        "tracks": [
            (
                name,
                tables.flattened(
                    {
                        "version": t.version,
                        "dataset": t.dataset,
                        "revision": t.revision,
                        "protocol": t.protocol,
                        "token budget": t.max_tokens,
                        "samples in the split": t.full or t.prepared,
                        "samples prepared": t.prepared,
                        "samples sha256": t.samples_sha256,
                    }
                ),
            )
            for name, t in run.manifest.tracks.items()
        ],
        "command": command(results),
    }


def _by_track(found: tuple[tables.GroupTable, ...]) -> list[tuple[str, list[tables.GroupTable]]]:
    return [(name, list(of_track)) for name, of_track in itertools.groupby(found, key=lambda table: table.title)]


def title(results: Results) -> str:
    """Return what was run, as a heading."""
    arms, tracks = list(results.arms), [found[0].title for found in tracks_of(results).values()]
    who = " and ".join(arms) if 1 <= len(arms) <= 2 else f"{numbers.count(len(arms))} arms"  # noqa: PLR2004 -- a pair
    where = tracks[0] if len(tracks) == 1 else f"{numbers.count(len(tracks))} tracks"
    return f"{who} on {where}"


def command(results: Results) -> str:
    """Return the command line that ran this."""
    argv = results.argv
    if not argv:
        return "not recorded"
    is_program = Path(argv[0]).name in {"pytest", "py.test", "__main__.py"}
    return shlex.join(("uv", "run", "pytest", *argv[is_program:]))


def _meta(run: Run, results: Results) -> tuple[str, ...]:
    found = results.environment
    named = {"processor": "", "machine": "", "system": "", "os": "", "python": "Python "}
    machine = [f"{before}{text}" for name, before in named.items() if isinstance(text := found.get(name), str)]
    if isinstance(memory := found.get("memory_bytes"), int):
        machine.insert(1, numbers.memory(memory))
    return (numbers.instant(results.created), *machine, f"margin ±{numbers.points(run.margin_pp)} pp")


def _badge(results: Results) -> dict[str, Any]:
    badge = results.validity.badge
    symbol, text = _BADGES[badge]
    if len(results.arms) < 2:  # noqa: PLR2004 -- a pair
        symbol, text = "–", "Nothing to compare"
    elif badge == "differs":
        required = [check.state for check in named_checks(results.validity).values() if check.required]
        found, unknown = required.count("differs"), required.count("not checked")
        parts = [f"{found} {'difference' if found == 1 else 'differences'}"] if found else []
        parts += [f"{unknown} {'check' if unknown == 1 else 'checks'} not made"] if unknown else []
        text = f"{text}, {' and '.join(parts)}"
    return {"symbol": symbol, "text": text, "kind": badge.replace(" ", "-"), "reasons": results.validity.reasons}


def _scatters(results: Results, mark_of: dict[str, str]) -> list[tuple[str, str, tuple[Scatter, Scatter]]]:
    """Return title, metric and the wide and the narrow drawing of each track with enough arms to draw."""
    found: list[tuple[str, str, tuple[Scatter, Scatter]]] = []
    for track, tracks in tracks_of(results).items():
        metric = shown_metric(tracks) or ""
        arms = [
            (mark_of[arm.backend], name, arm.samples_per_s, score)
            for name, arm in ordered_arms(results).items()
            if arm.samples_per_s
            and track in arm.tracks
            and (score := arm.tracks[track].metrics.get(metric))
            and score.value is not None
            and score.ci95
        ]
        domain = score_range(score for _, _, _, score in arms)
        if len(arms) >= _LEAST_FOR_SCATTER and domain:
            found.append((tracks[0].title, metric, (scatter(arms, 700, 340, domain), scatter(arms, 344, 340, domain))))
    return found
