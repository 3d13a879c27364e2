"""How an arm is doing while it runs, in one line: for a terminal that redraws it, and for a log that does not.

The score is the plain mean of the samples answered so far, with the interval that these samples carry. It is shown from
30 samples on and says "so far": samples are asked in the order arm, track, image, so the first ones are no random
draw. Where a track averages over groups, the headline of the report is another number.
"""

from collections.abc import Sequence

import msgspec

from bakeoff.report import numbers
from bakeoff.report.visible import visible_line
from bakeoff.stats import Interval

_LONGEST_NAME = 24


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """One arm at one moment.

    `done` counts recorded samples, errors included, of the `selected` ones; `means` maps each track to its mean so
    far, the one at work last. `per_s` is None until it can be told, `left_s` too; `took_s` is time at work.
    """

    arm: str
    done: int
    selected: int
    means: dict[str, Interval]
    errors: int
    truncated: int
    unparsed: int
    per_s: float | None
    took_s: float | None

    @property
    def is_done(self) -> bool:
        """Whether every selected sample is recorded."""
        return self.done >= self.selected

    @property
    def left_s(self) -> float | None:
        """Estimated time to the end, at the rate so far."""
        return (self.selected - self.done) / self.per_s if self.per_s else None


def live_line(progress: Progress, width: int) -> str:
    """Return the line that a terminal of `width` columns shows; what matters least goes first where it is narrow."""
    track = next(reversed(progress.means), "")
    finished = progress.is_done
    time = numbers.duration(progress.took_s) if finished else f"{numbers.duration(progress.left_s)} left"
    rate = f"{numbers.per_minute(progress.per_s)}/min"
    fields = [
        (0, _name(progress.arm)),
        (4, _name(track) if len(progress.means) == 1 or not finished else ""),
        (0, f"{numbers.count(progress.done)}/{numbers.count(progress.selected)}"),
        *((2, text) for text in _means(progress)),
        (5, rate if progress.per_s else ""),
        (3, time if (progress.took_s if finished else progress.left_s) is not None else ""),
        (1 if progress.errors else 6, f"errors {numbers.count(progress.errors)}"),
        (1 if progress.truncated else 7, f"cut off {numbers.count(progress.truncated)}"),
        (8, f"unparsed {numbers.count(progress.unparsed)}"),
    ]
    fields = [field for field in fields if field[1]]
    while len(_joined(fields)) >= width and any(rank for rank, _ in fields):
        fields.remove(max(reversed(fields), key=lambda field: field[0]))
    return _joined(fields)[: max(width - 1, 0)]


def plain_line(progress: Progress) -> str:
    """Return the line for a log: keys that can be searched for, whatever its width."""
    parts = [f"bakeoff: {visible_line(progress.arm)}", f"{progress.done}/{progress.selected}"]
    for track, found in progress.means.items() if progress.is_done else list(progress.means.items())[-1:]:
        if found.value is not None and found.n >= numbers.TOO_FEW_FOR_AN_INTERVAL:
            bounds = _bounds(found)
            ends = f" ci={100 * bounds[0]:.1f}..{100 * bounds[1]:.1f}" if bounds else ""
            parts.append(f"{track} mean={100 * found.value:.1f}{ends} n={found.n}")
    parts += [] if progress.is_done else ["so far"]
    parts += [f"rate={numbers.per_minute(progress.per_s)}/min"] if progress.per_s else []
    if progress.is_done:
        parts += [f"time={numbers.duration(progress.took_s)}"] if progress.took_s is not None else []
    elif progress.left_s is not None:
        parts.append(f"left={numbers.duration(progress.left_s)}")
    parts += [f"errors={progress.errors}", f"cut={progress.truncated}", f"unparsed={progress.unparsed}"]
    return " ".join(parts).replace(numbers.NARROW, "")


def _means(progress: Progress) -> list[str]:
    """Return the mean of the track at work; at the end that of each track."""
    several = len(progress.means) > 1
    if not progress.is_done:
        return [_mean(found, " so far") for found in list(progress.means.values())[-1:]]
    return [f"{track} {text}" if several else text for track, found in progress.means.items() if (text := _mean(found))]


def _mean(found: Interval, when: str = "") -> str:
    if found.value is None or found.n < numbers.TOO_FEW_FOR_AN_INTERVAL:
        return ""
    bounds = _bounds(found)
    ends = f" ({numbers.whole_interval(bounds)})" if bounds else ""
    return f"mean {numbers.score(found.value, found.n)}{when}{ends}"


def _bounds(found: Interval) -> tuple[float, float] | None:
    return None if found.low is None or found.high is None else (found.low, found.high)


def _joined(fields: Sequence[tuple[int, str]]) -> str:
    return "  ".join(text for _, text in fields)


def _name(text: str) -> str:
    """Return one visible line, its middle left out where it is long: arms often differ at their ends."""
    line = visible_line(text)
    half = (_LONGEST_NAME - 1) // 2
    return line if len(line) <= _LONGEST_NAME else f"{line[: half + 1]}…{line[-half:]}"
