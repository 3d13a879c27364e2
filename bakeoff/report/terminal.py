"""The final table for a terminal: plain text, laid out for 80 columns, the same words as the page."""

import textwrap
from collections.abc import Sequence

from bakeoff.report import numbers, verdicts
from bakeoff.report.comparing import shown_metric
from bakeoff.report.grid import ordered_arms, tracks_of
from bakeoff.report.results import ArmResult, GroupResult, MetricResult, Results, TrackResult
from bakeoff.report.tables import word_text
from bakeoff.report.visible import visible_line

WIDTH = 80
MOST_WIDTH = 100
_LONGEST_NAME = 24
_TRACKS_A_BLOCK = 4
_ASCII = str.maketrans({"–": "-", "−": "-", "\u202f": " ", "±": "+/-", "’": "'", "×": "x", "…": "..."})

Cells = Sequence[Sequence[str]]


def terminal_table(results: Results, *, width: int = WIDTH, ascii_only: bool = False) -> str:
    """Return table and verdicts of a run, at most `width` (80 to 100) columns wide, without a final line end.

    `ascii_only` is for terminals that cannot show more; the words stay the same.
    """
    width = min(max(width, WIDTH), MOST_WIDTH)
    arms, tracks = ordered_arms(results), tracks_of(results)
    blocks = [_scores(arms, tracks, names, width) for names in _blocks(list(tracks))]
    if len(tracks) == 1:
        blocks += _groups(arms, next(iter(tracks)), width)
    blocks.append(_verdicts(results, width))
    text = "\n\n".join(block for block in blocks if block)
    return text.translate(_ASCII).encode("ascii", "replace").decode("ascii") if ascii_only else text


def _blocks(tracks: list[str]) -> list[list[str]]:
    return [tracks[start : start + _TRACKS_A_BLOCK] for start in range(0, len(tracks), _TRACKS_A_BLOCK)]


def _scores(
    arms: dict[str, ArmResult], tracks: dict[str, tuple[TrackResult, ...]], names: list[str], width: int
) -> str:
    """Return one block of tracks; errors and the like are of these tracks together."""
    shown = {name: shown_metric(tracks[name]) for name in names}
    heads = ["", *(part for name in names for part in (_head(tracks[name], shown[name]), "95%", "n"))]
    heads += ["err", "cut", "unp", "/min", "peak"]
    rows = [
        [
            _name(arm),
            *(part for name in names for part in _score(result.tracks.get(name), shown[name])),
            *_counts([result.tracks[name] for name in names if name in result.tracks]),
            numbers.per_minute(result.samples_per_s),
            numbers.memory(result.peak_memory_bytes),
        ]
        for arm, result in arms.items()
    ]
    if len(names) > 1 and _width([heads, *rows]) > width:
        half = (len(names) + 1) // 2
        return "\n\n".join(_scores(arms, tracks, part, width) for part in (names[:half], names[half:]))
    return _aligned([heads, *rows], width)


def _head(tracks: Sequence[TrackResult], metric: str | None) -> str:
    primary = next((name for track in tracks for name, found in track.metrics.items() if found.primary), metric)
    title = shortened_line(tracks[0].title, 14)
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
        heads = [dimension, *(shortened_line(value, 14) for value in values)]
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
    more = len(results.comparisons) - len(leading)
    if more:
        lines.append(_wrapped(f"{numbers.count(more)} more comparisons are in the report.", width, indent))
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
    return shortened_line(arm, _LONGEST_NAME)


def shortened_line(text: str, most: int) -> str:
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
