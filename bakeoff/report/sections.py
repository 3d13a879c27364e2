"""What the page's sections on scores, speed and evidence show: tables, drawings, and what stands beside the scores."""

from collections.abc import Mapping
from typing import Any

import msgspec

from bakeoff.report import constant, evidence, numbers
from bakeoff.report.drawing import Panel, ladder_panels, ladder_table, scatter_panels
from bakeoff.report.grid import Beside, tracks_of
from bakeoff.report.notes import metric_notes
from bakeoff.report.plots import draw
from bakeoff.report.published import published_table, references
from bakeoff.report.results import Results
from bakeoff.report.tradeoffs import tradeoffs

_WIDE, _NARROW = (700, 360), (344, 380)
_WIDE_PANEL, _NARROW_PANEL = (314, 240), (344, 240)
_COLUMNS = 3


class Drawing(msgspec.Struct, frozen=True, kw_only=True):
    """A drawing for wide and for narrow windows, as SVG; `unplaced` are names that did not fit into either."""

    title: str
    wide: str
    narrow: str
    unplaced_wide: tuple[str, ...]
    unplaced_narrow: tuple[str, ...]


def beside_scores(results: Results) -> dict[str, Beside]:
    """Return by track the published value of the metric shown and the best constant answer, as fractions."""
    published, floors = references(results), constant.floors(results)
    return {
        track: Beside(
            published=published[track].value if track in published and published[track].is_same_metric else None,
            floor=floors[track].found.value if track in floors else None,
        )
        for track in tracks_of(results)
    }


def sections(results: Results) -> dict[str, Any]:
    """Return what the templates of these sections place, by name."""
    beside = beside_scores(results)
    return {
        "published": references(results),
        "published_table": published_table(results),
        "reproductions": results.reproductions,
        "floors": {
            track: {"value": numbers.score(floor.found.value, floor.found.n), "said": constant.said(floor.output)}
            for track, floor in constant.floors(results).items()
        },
        "baseline_table": constant.baseline_table(results),
        "notes": metric_notes(results),
        "scatters": _scatters(results, beside),
        "tradeoffs": tradeoffs(results),
        "ladder": _ladder(results),
        "ladder_table": ladder_table(results),
        "findings": evidence.findings(results),
        "agreement": evidence.agreement_table(results),
        "agreement_details": evidence.agreement_details(results),
        "controls": evidence.control_table(results),
        "audit": evidence.audit_table(results),
    }


def _scatters(results: Results, beside: Mapping[str, Beside]) -> list[Drawing]:
    published = {track: found.published for track, found in beside.items() if found.published is not None}
    return [
        _drawing(
            [panel],
            f"{panel.title}: score of each arm against samples per minute; the numbers stand in the score table.",
            f"scatter-{track}",
            (_WIDE, 1),
            _NARROW,
        )
        for track, panel in scatter_panels(results, published).items()
    ]


def _ladder(results: Results) -> Drawing | None:
    panels = ladder_panels(results)
    label = "Score, speed and memory of each arm against its bits per weight; the numbers stand in the table below."
    return (
        _drawing(panels, label, "ladder", (_WIDE_PANEL, min(_COLUMNS, len(panels))), _NARROW_PANEL) if panels else None
    )


def _drawing(
    panels: list[Panel] | tuple[Panel, ...],
    label: str,
    name: str,
    wide: tuple[tuple[int, int], int],
    narrow: tuple[int, int],
) -> Drawing:
    size, columns = wide
    broad, not_broad = draw(panels, columns=columns, size=size, label=label, kind=f"{name} broad")
    slim, not_slim = draw(panels, columns=1, size=narrow, label=label, kind=f"{name} slim")
    return Drawing(title=panels[0].title, wide=broad, narrow=slim, unplaced_wide=not_broad, unplaced_narrow=not_slim)
