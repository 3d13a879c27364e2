"""Flipped samples of a comparison as types of `results.json`: counted by cause, by group, and where they gather."""

import msgspec


class FlipSlice(msgspec.Struct, frozen=True, kw_only=True):
    """Flipped samples among `n`, counted by cause; causes that did not occur are not listed."""

    n: int
    flips: int
    causes: dict[str, int]


class Gathering(msgspec.Struct, frozen=True, kw_only=True):
    """The group in which the difference of the scores lies, and what it is there and in the rest, in points.

    `p` is the probability of such a difference by chance, times the number of `groups` looked at.
    """

    dimension: str
    value: str
    n: int
    diff_pp: float
    rest_n: int
    rest_diff_pp: float
    p: float
    groups: int


class Causes(FlipSlice, frozen=True, kw_only=True):
    """Samples that one arm has right and the other has not, by cause, and the same by dimension and value.

    `gathered` is the group in which the difference lies, None when chance may have spread it as it is.
    """

    by: dict[str, dict[str, FlipSlice]]
    gathered: Gathering | None = None
