"""The speed track in a report: tables by setting, a drawing, and what disturbed it; only text and coordinates.

The drawing is made like those of `charts`: geometry here, lines in the template. The page's policy forbids the style
attributes of a plotting library, and lines drawn by the template follow the reader's light or dark theme.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from bakeoff.report import numbers
from bakeoff.report.arms import marks
from bakeoff.report.charts import Tick
from bakeoff.report.results import Results
from bakeoff.report.tables import Table
from bakeoff.speed.metrics import ABSENT, METRICS, Figure
from bakeoff.speed.settings import LOAD, SETTINGS

_ROWS = tuple(name for name in METRICS if name != "cached_tokens")
_TITLES = {setting.name: setting.title for setting in SETTINGS}
_LINE, _HEAD, _FOOT, _LABELS, _SLIM_LABELS = 20, 26, 30, 190, 112
_DRIFT = 0.05  # of the median: less is the noise of any machine
_FEW_CHARACTERS = 15
_TICK_ROOM = 40  # pixels

Figures = Mapping[str, Mapping[str, Mapping[str, Figure]]]


class SpeedTable(msgspec.Struct, frozen=True, kw_only=True):
    """All arms on one setting."""

    title: str
    table: Table


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """An arm's time in the drawing, in pixels: a dot at the median, a line from the quickest round to the slowest."""

    mark: str
    name: str
    x: str
    low: str
    high: str
    y: str


class SpeedPlot(msgspec.Struct, frozen=True, kw_only=True):
    """Total time of every arm by setting, on a logarithmic axis. `heads` are settings with their height."""

    width: int
    height: int
    left: int
    bottom: int
    heads: tuple[tuple[str, str], ...]
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]


class SpeedSection(msgspec.Struct, frozen=True, kw_only=True):
    """What the page shows; `plots` are the wide and the narrow drawing."""

    tables: tuple[SpeedTable, ...]
    plots: tuple[SpeedPlot, ...]
    notes: tuple[str, ...]


def speed_section(results: Results) -> SpeedSection | None:
    """Return the section, None where nothing was timed."""
    if not results.speed:
        return None
    order = [name for name in results.arms if name in results.speed]
    figures = {name: results.speed[name] for name in order}
    mark_of = marks(tuple(arm.backend for arm in results.arms.values()))
    asked = [name for name in _TITLES if name != LOAD and any(name in found for found in figures.values())]
    plots = tuple(
        plot
        for width, label in ((700, _LABELS), (344, _SLIM_LABELS))
        if (plot := _plot(figures, asked, {n: mark_of[results.arms[n].backend] for n in order}, width, label))
    )
    return SpeedSection(tables=tuple(_tables(figures, asked)), plots=plots, notes=tuple(_notes(results, figures)))


def speed_lines(results: Results) -> Table:
    """Return one short table of everything, for a terminal."""
    rows = [
        (_TITLES.get(setting, setting), arm, *(_text(name, found.get(name)) for name in _SHORT))
        for setting in _TITLES
        for arm, settings in results.speed.items()
        if (found := settings.get(setting)) and setting != LOAD
    ]
    return ("Setting", "Arm", *(METRICS[name].title for name in _SHORT)), tuple(rows)


_SHORT = ("ttft_s", "decode_tps", "total_s", "peak_memory_bytes")


def _tables(figures: Figures, asked: Sequence[str]) -> Iterable[SpeedTable]:
    """Yield a table a setting: quantities are rows and arms are columns, of which there are fewer."""
    for setting in (LOAD, *asked):
        found = {arm: settings[setting] for arm, settings in figures.items() if settings.get(setting)}
        if not found:
            continue
        shown = [name for name in _ROWS if any(name in one for one in found.values())]
        rows = [(METRICS[name].title, *(_cell(name, one.get(name)) for one in found.values())) for name in shown]
        first = next(iter(found.values())).get("total_s")
        if len(found) > 1 and first is not None:
            times = (_times(one.get("total_s"), first) for one in found.values())
            rows.append((f"Total, times {next(iter(found))}", *times))
        yield SpeedTable(title=_TITLES[setting], table=(("", *found), tuple(rows)))


def _cell(name: str, found: Figure | None) -> str:
    """Return the median, and the spread in percent of it where rounds differ."""
    text = _text(name, found)
    if found is None or not found.spread or not found.median or METRICS[name].unit in {"tokens", "bytes"}:
        return text
    return f"{text} ±{numbers.percent(found.spread / 2 / found.median)}"


def _text(name: str, found: Figure | None) -> str:
    if found is None:
        return numbers.NO_DATA
    match METRICS[name].unit:
        case "s":
            return numbers.latency(found.median)
        case "tokens/s":
            return f"{numbers.tokens_per_s(found.median)}{numbers.NARROW}tok/s"
        case "bytes":
            return numbers.memory(round(found.median))
        case "J":
            return f"{numbers.ratio(found.median)}{numbers.NARROW}J"
        case _:
            return numbers.whole(found.median)


def _times(own: Figure | None, first: Figure | None) -> str:
    return (
        numbers.NO_DATA
        if own is None or first is None or not first.median
        else numbers.ratio(own.median / first.median)
    )


def _notes(results: Results, figures: Figures) -> Iterable[str]:
    rounds = [one.rounds for found in figures.values() for s, f in found.items() if s != LOAD for one in f.values()]
    most = max(rounds, default=0)
    yield (
        f"Medians of up to {numbers.count(most)} rounds after a warm-up, one prompt at a time, caches off; ± is half "
        "the distance between the quartiles. First token and total begin when the runtime takes the prompt; prefill "
        "holds the encoding of images; decode counts the tokens after the first. Memory is of pytest with all its "
        "children."
    )
    reasons = {**ABSENT, **results.speed_about.absent}
    for name, reason in reasons.items():
        has = [arm for arm, found in figures.items() if any(name in one for s, one in found.items() if s != LOAD)]
        lacking = [arm for arm in figures if arm not in has]
        if lacking:
            yield f"{METRICS[name].title} is absent for {', '.join(lacking)}: {reason}."
    for arm, found in figures.items():
        cached = [_TITLES.get(s, s) for s, one in found.items() if (c := one.get("cached_tokens")) and c.most > 0]
        if cached:
            yield f"{arm} took part of the prompt from a cache although caches are off: {', '.join(cached)}."
        drifted = [_TITLES.get(s, s) for s, one in found.items() if _has_drifted(one.get("total_s"))]
        if drifted:
            where = ", ".join(drifted)
            yield f"Between the first pass and the second {arm} changed by more than its spread on: {where}."
    yield from results.speed_about.errors
    if results.speed_about.conditions:
        yield f"The machine meanwhile: {'; '.join(results.speed_about.conditions)}."


def _has_drifted(found: Figure | None) -> bool:
    if found is None or len(found.passes) < 2:  # noqa: PLR2004 -- first and second
        return False
    return abs(found.passes[0] - found.passes[1]) > max(found.spread or 0.0, _DRIFT * found.median)


def _plot(
    figures: Figures, asked: Sequence[str], mark_of: Mapping[str, str], width: int, left: int
) -> SpeedPlot | None:
    """Return the drawing; none without a time."""
    totals = {
        (setting, arm): total
        for setting in asked
        for arm, found in figures.items()
        if (total := found.get(setting, {}).get("total_s")) and total.least > 0
    }
    if not totals:
        return None
    low = math.log10(min(one.least for one in totals.values())) - 0.08
    high = math.log10(max(one.most for one in totals.values())) + 0.08

    def x(seconds: float) -> float:
        return left + (math.log10(seconds) - low) / (high - low) * (width - 16 - left)

    heads: list[tuple[str, str]] = []
    bars: list[Bar] = []
    y = 0
    for setting in dict.fromkeys(setting for setting, _ in totals):
        y += _HEAD
        heads.append((_TITLES[setting], str(y - 6)))
        for (_, arm), one in ((key, one) for key, one in totals.items() if key[0] == setting):
            y += _LINE
            ends = (f"{x(value):.1f}" for value in (one.median, one.least, one.most))
            at, least, most = ends
            name = arm if left == _LABELS or len(arm) <= _FEW_CHARACTERS else f"{arm[: _FEW_CHARACTERS - 1]}…"
            bars.append(Bar(mark=mark_of[arm], name=name, x=at, low=least, high=most, y=str(y - _LINE // 2 + 2)))
    ticks: list[Tick] = []
    for value in _ticks(10**low, 10**high):
        if not ticks or x(value) - float(ticks[-1].at) >= _TICK_ROOM:
            ticks.append(Tick(at=f"{x(value):.1f}", label=_tick(value)))
    bottom = y + 8
    return SpeedPlot(
        width=width,
        height=bottom + _FOOT,
        left=left,
        bottom=bottom,
        heads=tuple(heads),
        bars=tuple(bars),
        ticks=tuple(ticks),
    )


def _tick(seconds: float) -> str:
    """Return a round time without idle decimals."""
    return f"{seconds:g}{numbers.NARROW}s" if seconds >= 1 else f"{seconds * 1000:g}{numbers.NARROW}ms"


def _ticks(low: float, high: float) -> list[float]:
    """Return powers of ten, or 1, 2, 5 of each where there are too few of them."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [10.0**power for power in powers if low <= 10.0**power <= high]
    if len(tens) > 2:  # noqa: PLR2004 -- enough to read a scale
        return tens
    return [value for power in powers for base in (1, 2, 5) if low <= (value := base * 10.0**power) <= high]
