"""Draws panels with matplotlib and hands them over as SVG for the page. The only module that knows matplotlib.

Nothing depends on the fonts of the machine: places are set in pixels and text is left to the browser. The same panels
give the same bytes.
"""

import io
import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bakeoff.paths import cache_dir
from bakeoff.report.drawing import Panel, Scale, Spot
from bakeoff.report.labels import Box, place
from bakeoff.report.svg import page_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS: Mapping[str, str] = {"mlx": "o", "gguf": "s", "coreai": "^", "ring": "o", "cross": "x"}
_COLOURS: Mapping[str, str] = {
    "mlx": "#110001",
    "gguf": "#110002",
    "coreai": "#110003",
    "ring": "#110004",
    "cross": "#110004",
    "text": "#110005",
    "grid": "#110006",
    "ground": "#110007",
    "published": "#110008",
    "name": "#110004",
}
"""What is drawn with; `_IN_PAGE` says what each becomes."""
_IN_PAGE: Mapping[str, str] = {
    "#110001": "var(--mlx)",
    "#110002": "var(--gguf)",
    "#110003": "var(--coreai)",
    "#110004": "var(--ink)",
    "#110005": "var(--ink2)",
    "#110006": "var(--line)",
    "#110007": "var(--bg)",
    "#110008": "var(--ref)",
}
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 18, 28, 44
_HALO = 9.0
_TICK_ROOM = 36


def draw(
    panels: Sequence[Panel], *, columns: int, size: tuple[int, int], label: str, kind: str
) -> tuple[str, tuple[str, ...]]:
    """Return panels side by side as an SVG element, and the names without a place, each after its number if it has one.

    Args:
        panels: what to draw, in reading order.
        columns: panels in a row.
        size: width and height of one panel in pixels.
        label: what the drawing shows, for those who do not see it.
        kind: CSS classes of the element; also what keeps its ids apart from those of another drawing.
    """
    os.environ.setdefault("MPLCONFIGDIR", str(cache_dir() / "matplotlib"))
    import matplotlib as mpl  # noqa: PLC0415 -- takes a second, and most runs draw nothing
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415 -- as above
    from matplotlib.figure import Figure  # noqa: PLC0415 -- as above

    rows = math.ceil(len(panels) / columns)
    width, height = size[0] * columns, size[1] * rows
    unplaced: list[str] = []
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": f"{kind} {label}", "axes.unicode_minus": True}):
        figure = Figure(figsize=(width / 72, height / 72), frameon=False)
        FigureCanvasSVG(figure)
        for number, panel in enumerate(panels):
            row, column = divmod(number, columns)
            left, bottom = column * size[0] + _LEFT, (rows - row - 1) * size[1] + _BOTTOM
            inner = (size[0] - _LEFT - _RIGHT, size[1] - _TOP - _BOTTOM)
            axes = figure.add_axes((left / width, bottom / height, inner[0] / width, inner[1] / height))
            unplaced += _draw_panel(axes, panel, inner, has_title=len(panels) > 1)
        out = io.StringIO()
        nothing: dict[str, Any] = dict.fromkeys(("Date", "Creator", "Type", "Format"))
        figure.savefig(out, format="svg", metadata=nothing, dpi=72)
    return page_svg(out.getvalue(), label=label, kind=kind, colours=_IN_PAGE), tuple(dict.fromkeys(unplaced))


def _draw_panel(axes: "Axes", panel: Panel, size: tuple[int, int], *, has_title: bool) -> list[str]:
    """Draw a panel into its axes, `size` pixels large, and return the names without a place."""
    axes.patch.set_visible(False)
    for side in axes.spines.values():
        side.set_visible(False)
    if panel.x.is_log:
        axes.set_xscale("log")
    axes.set_xlim(panel.x.low, panel.x.high)
    axes.set_ylim(panel.y.low, panel.y.high)
    _ticks(axes, panel, size)
    if has_title:
        _text(axes, (0, size[1] + 10), panel.title, size, colour="name", weight=600)
    _text(axes, (size[0], -36), panel.x_title, size, colour="text", align="right")
    if panel.level is not None:
        axes.axhline(panel.level, color=_COLOURS["published"], linewidth=1, dashes=(4, 3))
        at = _pixels(panel, size, panel.x.low, panel.level)[1]
        _text(axes, (size[0], at + 5), panel.level_text, size, colour="text", align="right")
    for mark, rungs in panel.ladders:
        x, y = [panel.spots[i].x for i in rungs], [panel.spots[i].y for i in rungs]
        axes.plot(x, y, color=_COLOURS[mark], linewidth=1, alpha=None, clip_on=False, zorder=2)
    for spot in panel.spots:
        _draw_spot(axes, spot)
    return _label(axes, panel, size) if panel.is_labelled else []


def _draw_spot(axes: "Axes", spot: Spot) -> None:
    colour, is_cross, is_ring = _COLOURS[spot.mark], spot.mark == "cross", spot.mark == "ring"
    if spot.low is not None and spot.high is not None:
        axes.plot([spot.x, spot.x], [spot.low, spot.high], color=colour, linewidth=1.75, clip_on=False, zorder=3)
    axes.plot(
        [spot.x],
        [spot.y],
        marker=_MARKERS[spot.mark],
        markersize=9,
        markerfacecolor=_COLOURS["ground"] if is_ring else colour,
        markeredgecolor=colour if is_cross or is_ring else _COLOURS["ground"],
        markeredgewidth=2 if is_cross or is_ring else 1.25,
        linestyle="none",
        clip_on=False,
        zorder=4,
    )


def _ticks(axes: "Axes", panel: Panel, size: tuple[int, int]) -> None:
    axes.set_xticks([], minor=False)
    axes.set_yticks([], minor=False)
    axes.set_xticks([], minor=True)
    for value, text in panel.y.ticks:
        axes.axhline(value, color=_COLOURS["grid"], linewidth=1, zorder=1)
        _text(axes, (-8, _pixels(panel, size, panel.x.low, value)[1] - 4), text, size, colour="text", align="right")
    before = -math.inf
    for value, text in panel.x.ticks:
        at = _pixels(panel, size, value, panel.y.low)[0]
        if at - before >= _TICK_ROOM:
            axes.plot(
                [value, value],
                [0, -5 / size[1]],
                color=_COLOURS["grid"],
                linewidth=1,
                clip_on=False,
                transform=axes.get_xaxis_transform(),
            )
            _text(axes, (at, -18), text, size, colour="text", align="center")
            before = at


def _label(axes: "Axes", panel: Panel, size: tuple[int, int]) -> list[str]:
    """Write the names beside their marks, a number for want of room; return the names that are not written."""
    at = [_pixels(panel, size, spot.x, spot.y) for spot in panel.spots]
    taken: list[Box] = []
    for spot, (x, y) in zip(panel.spots, at, strict=True):
        ends = [_pixels(panel, size, spot.x, end)[1] for end in (spot.low, spot.high) if end is not None]
        taken.append((x - _HALO, min(y - _HALO, *ends, y), x + _HALO, max(y + _HALO, *ends, y)))
    if panel.level is not None:
        level = _pixels(panel, size, panel.x.low, panel.level)[1]
        taken.append((size[0] - 110.0, level, float(size[0]), level + 18))
    frame = (0.0, 0.0, float(size[0]), float(size[1]))
    own = dict(enumerate(taken[: len(at)]))

    def write(name: str, which: int) -> bool:
        found = place(name, at[which], own[which], taken, frame)
        if found is not None:
            taken.append(found.box)
            _text(axes, (found.x, found.y), name, size, colour="name", align=found.align, weight=600)
        return found is not None

    left_over = [which for which, spot in enumerate(panel.spots) if not write(spot.name, which)]
    told: list[str] = []
    number = 1
    for which in left_over:
        is_written = write(str(number), which)
        told.append(f"{number} {panel.spots[which].name}" if is_written else panel.spots[which].name)
        number += is_written
    return told


def _pixels(panel: Panel, size: tuple[int, int], x: float, y: float) -> tuple[float, float]:
    """Return where a value lies in a panel, in pixels from its lower left corner."""
    return _share(panel.x, x) * size[0], _share(panel.y, y) * size[1]


def _share(scale: Scale, value: float) -> float:
    low, high, at = scale.low, scale.high, value
    if scale.is_log:
        low, high, at = math.log10(low), math.log10(high), math.log10(value)
    return (at - low) / (high - low)


def _text(
    axes: "Axes",
    at: tuple[float, float],
    text: str,
    size: tuple[int, int],
    *,
    colour: str,
    align: str = "left",
    weight: int = 400,
) -> None:
    """Write text at pixels from the panel's lower left corner; what looks like a formula is text too."""
    axes.text(
        at[0] / size[0],
        at[1] / size[1],
        text,
        color=_COLOURS[colour],
        fontsize=13 if weight > 400 else 12,  # noqa: PLR2004 -- a name, not a tick
        fontweight=700 if weight > 400 else 400,  # noqa: PLR2004 -- 600 is no weight of its fonts
        ha=align,
        va="baseline",
        transform=axes.transAxes,
        parse_math=False,
    )
