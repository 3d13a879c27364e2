"""The final table for a terminal: plain text, laid out for 80 columns, the same words as the page."""

import textwrap
from collections.abc import Sequence

from bakeoff.report import numbers, verdicts
from bakeoff.report.comparing import shown_metric
from bakeoff.report.grid import ordered_arms, tracks_of
from bakeoff.report.results import ArmResult, GroupResult, MetricResult, Results, TrackResult
from bakeoff.report.speed import speed_lines
from bakeoff.report.tables import word_text
from bakeoff.report.visible import visible_line

WIDTH = 80
MOST_WIDTH = 100
_LONGEST_NAME = 24
_COUNTS = ("errors", "cut off", "unparsed")
_SHORT = ("err", "cut", "unp")
_ASCII = str.maketrans({"–": "-", "−": "-", "\u202f": " ", "±": "+/-", "’": "'", "×": "x", "…": "..."})

Cells = Sequence[Sequence[str]]


def terminal_table(results: Results, *, width: int = WIDTH, ascii_only: bool = False) -> str:
    """Return table and verdicts of a run, at most `width` (80 to 100) columns wide, without a final line end.

    `ascii_only` is for terminals that cannot show more; the words stay the same.
    """
    width = min(max(width, WIDTH), MOST_WIDTH)
    arms, tracks = ordered_arms(results), tracks_of(results)
    if len(tracks) == 1:
        blocks = [_one_track(arms, *next(iter(tracks.items())), width), *_groups(arms, next(iter(tracks)), width)]
    else:
        blocks = [*_many_tracks(arms, tracks, width), _costs(arms, width)] if tracks else []
    blocks += [
        f"{_name(name)}: {numbers.some(skipped, 'sample')} skipped, which its runtime cannot be asked"
        for name, arm in arms.items()
        if (skipped := sum(track.skipped for track in arm.tracks.values()))
    ]
    if results.speed:
        heads, rows = speed_lines(results)
        blocks.append(
            _aligned([("speed track", *heads[1:]), *((row[0], _name(row[1]), *row[2:]) for row in rows)], width)
        )
    blocks.append(_verdicts(results, width))
    if results.validity.reuse.state == "differs":
        blocks.append(_wrapped(f"Image reuse: {results.validity.reuse.reason}", width, ""))
    text = "\n\n".join(block for block in blocks if block)
    return text.translate(_ASCII).encode("ascii", "replace").decode("ascii") if ascii_only else text


def _one_track(arms: dict[str, ArmResult], track: str, results: Sequence[TrackResult], width: int) -> str:
    """Return score, interval, n, health, speed and memory of each arm on the only track."""
    metric = shown_metric(results)
    rows = [
        [_name(name), *_score(arm.tracks.get(track), metric), *_counts(list(arm.tracks.values())), *_cost(arm)]
        for name, arm in arms.items()
    ]
    long, short = (["", _head(results, metric), "95%", "n", *names, "/min", "peak"] for names in (_COUNTS, _SHORT))
    return _aligned([long if _width([long, *rows]) <= width else short, *rows], width)


def _many_tracks(arms: dict[str, ArmResult], tracks: dict[str, tuple[TrackResult, ...]], width: int) -> list[str]:
    """Return scores with whole intervals, n in the head, as many tracks a block as fit; marks are explained below."""
    shown = {name: shown_metric(found) for name, found in tracks.items()}
    columns = [
        [_head(found, shown[name]), f"n {numbers.count(_most_n(found))}"]
        + [_short_score(arm.tracks.get(name), shown[name]) for arm in arms.values()]
        for name, found in tracks.items()
    ]
    names = ["score, 95%", "", *(_name(name) for name in arms)]
    blocks: list[list[list[str]]] = [[names]]
    for column in columns:
        if len(blocks[-1]) > 1 and _width(list(zip(*blocks[-1], column, strict=True))) > width:
            blocks.append([names])
        blocks[-1].append(column)
    drawn = [_aligned(list(zip(*block, strict=True)), width) for block in blocks]
    found = [track for results in tracks.values() for track in results]
    legend = ["! some answers were cut off"] if any(track.truncated for track in found) else []
    legend += ["< not all selected samples were answered"] if any(_is_partial(track) for track in found) else []
    return [*drawn, "\n".join(legend)]


def _costs(arms: dict[str, ArmResult], width: int) -> str:
    """Return health, speed and memory of each arm over all its tracks."""
    rows = [[_name(name), *_counts(list(arm.tracks.values())), *_cost(arm)] for name, arm in arms.items()]
    return _aligned([["all tracks", *_COUNTS, "/min", "peak"], *rows], width)


def _cost(arm: ArmResult) -> tuple[str, str]:
    return numbers.per_minute(arm.samples_per_s), numbers.memory(arm.peak_memory_bytes)


def _most_n(tracks: Sequence[TrackResult]) -> int:
    return max((track.n for track in tracks), default=0)


def _is_partial(track: TrackResult) -> bool:
    return track.selected is not None and track.n + track.skipped < track.selected


def _short_score(track: TrackResult | None, metric: str | None) -> str:
    if track is None:
        return "not run"
    found = track.metrics.get(metric or "")
    if found is None or found.value is None:
        return numbers.NO_DATA
    has_interval = found.ci95 is not None and found.n >= numbers.TOO_FEW_FOR_AN_INTERVAL
    marks = ("!" if track.truncated else "") + ("<" if _is_partial(track) else "")
    ends = f" {numbers.whole_interval(found.ci95)}" if has_interval else ""
    return f"{numbers.score(found.value, found.n)}{ends}{marks}"


def _head(tracks: Sequence[TrackResult], metric: str | None) -> str:
    primary = next((name for track in tracks for name, found in track.metrics.items() if found.primary), metric)
    title = _shortened(tracks[0].title, 14)
    return title if metric == primary else f"{title} {metric}"


def _score(track: TrackResult | None, metric: str | None) -> tuple[str, str, str]:
    if track is None:
        return "not run", "", ""
    found = track.metrics.get(metric or "") or MetricResult(value=None, ci95=None, n=track.n)
    has_interval = found.ci95 is not None and found.n >= numbers.TOO_FEW_FOR_AN_INTERVAL
    ends = numbers.score_interval(found.ci95, found.n) if has_interval else numbers.NO_DATA
    return numbers.score(found.value, found.n), ends, numbers.count(found.n)


def _counts(tracks: Sequence[TrackResult]) -> tuple[str, ...]:
    sums = (sum(t.errors for t in tracks), sum(t.truncated for t in tracks), sum(t.unparsed for t in tracks))
    return tuple(numbers.count(found) for found in sums) if tracks else (numbers.NO_DATA,) * 3


def _groups(arms: dict[str, ArmResult], track: str, width: int) -> list[str]:
    """Return the dimensions whose values fit into the width as columns, one block each."""
    blocks: list[str] = []
    having = {name: arm.tracks[track].groups for name, arm in arms.items() if track in arm.tracks}
    for dimension in dict.fromkeys(name for groups in having.values() for name in groups):
        values = list(dict.fromkeys(value for groups in having.values() for value in groups.get(dimension, {})))
        heads = [dimension, *(_shortened(value, 14) for value in values)]
        rows = [
            [_name(arm), *(_group(groups.get(dimension, {}).get(value)) for value in values)]
            for arm, groups in having.items()
        ]
        if len(values) > 1 and _width([heads, *rows]) <= width:
            blocks.append(_aligned([heads, *rows], width))
    return blocks


def _group(group: GroupResult | None) -> str:
    if group is None:
        return numbers.NO_DATA
    is_count = group.right is not None and group.n < numbers.FEW
    return f"{group.right}/{group.n}" if is_count else numbers.score(group.value, group.n)


def _verdicts(results: Results, width: int) -> str:
    leading = verdicts.leading(results.comparisons)
    if not leading:
        return _wrapped(results.headline, width, "")
    indent = " " * (max(len(word_text(comparison)) for comparison in leading) + 2)
    lines: list[str] = []
    for comparison in leading:
        lines.append(_wrapped(comparison.sentence, width, indent, first=word_text(comparison).ljust(len(indent))))
        lines.append(_wrapped(comparison.evidence, width, indent))
        if comparison.causes is not None:
            lines.append(_wrapped(verdicts.flips(comparison.causes), width, indent))
    more = len(results.comparisons) - len(leading)
    if more:
        are = "comparison is" if more == 1 else "comparisons are"
        lines.append(_wrapped(f"{numbers.count(more)} more {are} in the report.", width, indent))
    return "\n".join(line for line in lines if line.strip())


def _wrapped(text: str, width: int, indent: str, *, first: str | None = None) -> str:
    return textwrap.fill(
        visible_line(text),
        width,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


def _name(arm: str) -> str:
    return _shortened(arm, _LONGEST_NAME)


def _shortened(text: str, most: int) -> str:
    """Return `text` as one visible line of at most `most` characters, its middle left out if need be."""
    line = visible_line(text)
    half = (most - 1) // 2
    return line if len(line) <= most else f"{line[: most - half - 1]}…{line[-half:]}"


def _width(table: Cells) -> int:
    return sum(max(len(row[i]) for row in table) for i in range(len(table[0]))) + 2 * (len(table[0]) - 1)


def _aligned(table: Cells, width: int) -> str:
    """Return rows with the first column left and the others right aligned."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    gap = "  " if _width(table) <= width else " "
    return "\n".join(
        gap.join(
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    )
