"""What stands beside the figures of the speed track: conditions, errors, pictures."""

from collections.abc import Iterable

import msgspec

from bakeoff.report import numbers
from bakeoff.speed.settings import SETTINGS
from bakeoff.speed.store import Speed

_TITLES = {setting.name: setting.title for setting in SETTINGS}
_WORDS = {
    "power": ("power", ""),
    "temperature_c": ("temperature", f"{numbers.NARROW}°C"),
    "clock_mhz": ("clock", f"{numbers.NARROW}MHz"),
    "governor": ("governor", ""),
    "speed_limit_pct": ("speed limit", "%"),
    "load_1min": ("load", ""),
}


class SpeedAbout(msgspec.Struct, frozen=True, kw_only=True):
    """What stands beside the figures of the speed track.

    `absent` says by quantity why this machine does not give it; `conditions` are ranges in words, such as `load 0.3 to
    2.1`; `errors` are settings that could not be measured; `images_sha256` are the pictures shown, by setting.
    """

    absent: dict[str, str] = {}
    conditions: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    images_sha256: dict[str, tuple[str, ...]] = {}


def speed_about(speed: Speed) -> SpeedAbout:
    """Return what is known beside the figures."""
    return SpeedAbout(
        absent=speed.absent,
        conditions=tuple(_conditions(speed)),
        errors=tuple(
            f"{one.arm} could not be measured on {_TITLES.get(one.setting, one.setting)}: {one.error}."
            for one in speed.passes
            if one.error is not None
        ),
        images_sha256={one.setting: one.images_sha256 for one in speed.passes if one.images_sha256},
    )


def _conditions(speed: Speed) -> Iterable[str]:
    """Yield each condition over the whole time: its range, or all words that were seen."""
    seen = [found for one in speed.passes for found in (one.before, one.after)]
    for name, (word, unit) in _WORDS.items():
        values = [found[name] for found in seen if name in found]
        texts = sorted({value for value in values if isinstance(value, str)})
        sizes = [value for value in values if not isinstance(value, str)]
        if texts:
            yield f"{word} {', '.join(texts)}"
        if sizes:
            low, high = numbers.ratio(min(sizes)), numbers.ratio(max(sizes))
            yield f"{word} {low}{unit}" if low == high else f"{word} {low} to {high}{unit}"
