"""Scores by group: a table for each dimension of each track, every number in percent with its n beside it."""

import msgspec

from bakeoff.report import numbers
from bakeoff.report.grid import ordered_arms, tracks_of
from bakeoff.report.measuring import natural
from bakeoff.report.results import GroupResult, Results


class GroupCell(msgspec.Struct, frozen=True, kw_only=True):
    """One arm in one group; `n` is empty where it is that of the row."""

    arm: str
    value: str
    interval: str
    n: str


class GroupRow(msgspec.Struct, frozen=True, kw_only=True):
    """One group; `n` is the number of samples that most arms have in it."""

    value: str
    n: str
    cells: tuple[GroupCell, ...]


class GroupTable(msgspec.Struct, frozen=True, kw_only=True):
    """One dimension of one track: rows are its values, columns are arms."""

    track: str
    title: str
    dimension: str
    arms: tuple[str, ...]
    rows: tuple[GroupRow, ...]


def group_tables(results: Results) -> tuple[GroupTable, ...]:
    """Return one table per track and dimension that has more than one value."""
    arms = ordered_arms(results)
    tables: list[GroupTable] = []
    for track, found in tracks_of(results).items():
        for dimension in dict.fromkeys(name for result in found for name in result.groups):
            values = sorted({v for result in found for v in result.groups.get(dimension, {})}, key=natural)
            if len(values) < 2:  # noqa: PLR2004 -- one group is the whole track
                continue
            by_arm = {
                name: arm.tracks[track].groups.get(dimension, {}) for name, arm in arms.items() if track in arm.tracks
            }
            rows = tuple(_row(value, {name: groups.get(value) for name, groups in by_arm.items()}) for value in values)
            title = found[0].title
            tables.append(GroupTable(track=track, title=title, dimension=dimension, arms=tuple(by_arm), rows=rows))
    return tuple(tables)


def _row(value: str, found: dict[str, GroupResult | None]) -> GroupRow:
    sizes = [group.n for group in found.values() if group is not None]
    usual = max(sizes, key=lambda n: (sizes.count(n), n))
    return GroupRow(value=value, n=numbers.count(usual), cells=tuple(_cell(a, g, usual) for a, g in found.items()))


def _cell(arm: str, group: GroupResult | None, usual: int) -> GroupCell:
    """Return a cell in percent, whatever its n: a column that mixes counts and percent cannot be read down."""
    if group is None or group.value is None:
        return GroupCell(arm=arm, value=numbers.NO_DATA, interval="", n="")
    has_interval = group.ci95 is not None and group.n >= numbers.TOO_FEW_FOR_AN_INTERVAL
    return GroupCell(
        arm=arm,
        value=numbers.score(group.value, group.n),
        interval=numbers.score_interval(group.ci95, group.n) if has_interval else "",
        n="" if group.n == usual else f"n {numbers.count(group.n)}",
    )
