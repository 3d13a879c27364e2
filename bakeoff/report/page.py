"""`report.html`: one file with everything in it, made from results and cards by templates that only place text.

The page asks nothing of a network: its policy allows its own style, its own script (both by hash), the data files that
this script loads from `samples/`, and images inside the page or from files.
Every text goes through `visible` and is escaped; no template formats a number.
"""

import base64
import hashlib
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

from bakeoff.report import flips, groups, numbers, provenance, tables, verdicts
from bakeoff.report.arms import marks
from bakeoff.report.checks import LABELS, named_checks
from bakeoff.report.grid import ordered_arms, score_grid, tracks_of
from bakeoff.report.heading import badge, command, meta, title
from bakeoff.report.reading import Run
from bakeoff.report.results import CheckState, Comparison, Results
from bakeoff.report.samples import Wrong
from bakeoff.report.sections import beside_scores, sections
from bakeoff.report.speed import speed_section
from bakeoff.report.visible import visible

_TEMPLATES = Path(__file__).parent / "templates"
_FIRST_CARDS = 8
_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=/)")
_STYLES = ("tokens.css", "style.css", "plots.css", "viewer.css")
_SCRIPTS = (
    *("theme.js", "viewer_data.js", "viewer_filter.js", "viewer_address.js", "viewer_list.js"),
    *("viewer_labels.js", "viewer_picture.js", "viewer_card.js", "viewer.js"),
)
_STATES: dict[CheckState, tuple[str, str]] = {
    "same": ("✓", "same"),
    "differs": ("≠", "differs"),
    "not checked": ("–", "unknown"),
}


def render_page(run: Run, results: Results, wrong: Wrong) -> str:
    """Return the page."""
    style, script = (_joined(names) for names in (_STYLES, _SCRIPTS))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = breakable
    return environment.get_template("report.html.j2").render(
        style=markupsafe.Markup(style),  # noqa: S704 -- our own file, inside <style>
        script=markupsafe.Markup(script),  # noqa: S704 -- our own file, inside <script>
        policy=_policy(style, script),
        **_context(run, results, wrong),
    )


def _joined(names: tuple[str, ...]) -> str:
    return "\n".join((_TEMPLATES / name).read_text("utf-8") for name in names)


def _finalize(value: Any) -> Any:
    """Show what cannot be seen, and never print None."""
    if value is None:
        return numbers.NO_DATA
    return visible(value) if isinstance(value, str) and not isinstance(value, markupsafe.Markup) else value


def breakable(name: str) -> markupsafe.Markup:
    """Return a name that a narrow column breaks between its words: "Screen|Spot-v2", "Ref|COCO/|+/|g"."""
    return markupsafe.Markup("<wbr>").join(_PARTS.split(visible(name)))


def _policy(style: str, script: str) -> str:
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}' 'strict-dynamic'; "
        "img-src data: 'self' file:; "
        "base-uri 'none'; form-action 'none'"
    )


def _context(run: Run, results: Results, wrong: Wrong) -> dict[str, Any]:
    errors, more_errors = tables.error_list(run)
    arms = ordered_arms(results)
    mark_of = marks(tuple(arm.backend for arm in arms.values()))
    return {
        "results": results,
        "title": title(results),
        "meta": meta(run, results),
        "badge": badge(results),
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
                "evidence": f"{_scores(results, c)}{c.evidence}",
                "why": why,
                "where": verdicts.gathering(c.causes.gathered) if c.causes is not None else "",
                "track": c.track,
            }
            for c, why in with_why(results)
        ],
        "more_verdicts": numbers.count(len(results.comparisons) - len(verdicts.leading(results.comparisons))),
        "has_more_verdicts": len(results.comparisons) > verdicts.MOST_LEADING,
        "grid": score_grid(results, beside_scores(results)),
        **sections(results),
        "gates": results.gates,
        "time": tables.time_table(results),
        "speed": speed_section(results),
        "flips": flips.flip_table(results),
        "flip_slices": flips.flip_slices(results),
        "flip_meanings": flips.explained(flips.flip_table(results)),
        "forests": tables.forests(results, run.margin_pp),
        "margin": numbers.points(run.margin_pp),
        "groups": _by_track(groups.group_tables(results)),
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
        "environment": provenance.about(results.environment),
        "options": provenance.unset_last(provenance.about_options(results.options)),
        "identities": [
            {
                "arm": name,
                "mark": mark_of[arm.backend],
                "about": provenance.about_arm(arm),
                "fingerprint": provenance.about_inputs(arm.fingerprint),
            }
            for name, arm in arms.items()
        ],
        "tracks": [
            (name, provenance.about_track(name, asked))
            for name, asked in run.manifest.tracks.items()
            if name in tracks_of(results)
        ],
        "command": command(results),
    }


def _scores(results: Results, comparison: Comparison) -> str:
    """Return the two scores behind a difference; nothing where a pair has none."""
    known = {name: results.arms[name].tracks[comparison.track] for name in (comparison.a, comparison.b)}
    found = {name: track.metrics.get(comparison.metric or "") for name, track in known.items()}
    if comparison.diff_pp is None or any(metric is None for metric in found.values()):
        return ""
    told = (f"{name} {numbers.score(m.value, m.n)}" for name, m in found.items() if m is not None)
    return f"{' and '.join(told)}: "


def with_why(results: Results) -> Iterator[tuple[Comparison, str]]:
    """Return the leading comparisons, each with what the probes found between its arms; nothing when these agree.

    What was found between two other arms already is not told in full again.
    """
    told: set[str] = set()
    for comparison in verdicts.leading(results.comparisons):
        pair = {comparison.a, comparison.b}
        found = next((f for f in results.validity.parity.findings if f.serious and {*f.arms} == pair), None)
        if found is None:
            yield comparison, ""
        elif found.kind in told:
            yield comparison, "The probes before the run found the same between these two."
        else:
            yield comparison, f"The probes before the run: {found.told_first}. Asking more samples does not mend that."
            told.add(found.kind)


def _by_track(found: tuple[groups.GroupTable, ...]) -> list[tuple[str, list[groups.GroupTable]]]:
    """Return the tables of each track, the longest first: so they fill two columns evenly."""
    by_track = itertools.groupby(found, key=lambda table: table.title)
    return [(name, sorted(of_track, key=lambda table: -len(table.rows))) for name, of_track in by_track]
