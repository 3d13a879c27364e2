"""The one place that turns a number into text, for page, terminal and Markdown alike.

Rounding is the last step; a missing number is an en dash, never a zero. Scores come in as fractions and leave as
percent; differences come in as percentage points. Thousands and units are set with a narrow no-break space.
"""

import datetime as dt
import math

from bakeoff.wording import plural

NARROW = "\u202f"
MINUS = "\u2212"
EN_DASH = "\u2013"
NO_DATA = EN_DASH

FEW = 100
"""Below this many samples a decimal of a percentage says nothing."""
TOO_FEW_FOR_AN_INTERVAL = 30

_MOST_DECIMALS = 4


def count(number: int | None) -> str:
    """Return a whole number with its thousands set apart: 1 272."""
    return NO_DATA if number is None else f"{number:,d}".replace(",", NARROW).replace("-", MINUS)


def some(number: int, noun: str) -> str:
    """Return a whole number with its noun: 1 sample, 1 272 samples."""
    return f"{count(number)} {plural(number, noun)}"


def whole(value: float) -> str:
    """Return a number rounded to a whole one."""
    return count(round(value))


def score(value: float | None, n: int) -> str:
    """Return a score in percent: one decimal from 100 samples on, none below. Only a true 0 or 1 reads 0.0 or 100.0."""
    if value is None:
        return NO_DATA
    decimals = 1 if n >= FEW else 0
    text = f"{value * 100:.{decimals}f}"
    step = 10.0**-decimals
    if value < 1.0 and float(text) >= 100.0:  # noqa: PLR2004 -- percent
        return f">{100.0 - step:.{decimals}f}"
    if value > 0.0 and float(text) <= 0.0:
        return f"<{step:.{decimals}f}"
    return text


def score_interval(bounds: tuple[float, float] | None, n: int) -> str:
    """Return the interval of a score with the decimals of the score: 77.3-81.7 with an en dash."""
    if bounds is None:
        return NO_DATA
    decimals = 1 if n >= FEW else 0
    low, high = (f"{end * 100:.{decimals}f}" for end in bounds)
    return f"{low}{EN_DASH}{high}"


def counted(right: int | None, n: int) -> str:
    """Return how many of how many: 17 of 20."""
    return NO_DATA if right is None else f"{count(right)} of {count(n)}"


def whole_interval(bounds: tuple[float, float] | None) -> str:
    """Return the interval of a score in whole percent, for narrow columns."""
    return NO_DATA if bounds is None else f"{bounds[0] * 100:.0f}{EN_DASH}{bounds[1] * 100:.0f}"


def points(value: float) -> str:
    """Return a size in percentage points without a sign and without idle zeros: 2, 1.5, 0.04."""
    if 0 < abs(value) < 0.05:  # noqa: PLR2004 -- would round to 0.0
        return f"{abs(value):.1g}"
    text = f"{abs(value):.1f}"
    return text.removesuffix(".0")


def signed(value: float | None, decimals: int = 1) -> str:
    """Return a difference with its sign and a true minus; what rounds to zero has no sign."""
    if value is None:
        return NO_DATA
    text = f"{abs(value):.{decimals}f}"
    if float(text) == 0.0:
        return text
    return f"{'+' if value > 0 else MINUS}{text}"


def difference(value_pp: float | None, bounds_pp: tuple[float, float] | None, margin_pp: float) -> tuple[str, str]:
    """Return a difference and its interval, "lo to hi", with as many decimals as the verdict needs to be seen.

    One decimal, unless an end would round onto zero or the margin without being it.
    """
    if bounds_pp is None:
        return signed(value_pp), NO_DATA
    decimals = next((d for d in range(1, _MOST_DECIMALS) if _shows_sides(bounds_pp, margin_pp, d)), _MOST_DECIMALS)
    low, high = (signed(end, decimals) for end in bounds_pp)
    return signed(value_pp, decimals), f"{low} to {high}"


def ratio(value: float | None) -> str:
    """Return how many times: 0.64, 1.35, 12."""
    if value is None:
        return NO_DATA
    return f"{value:.2f}" if value < 10 else whole(value)  # noqa: PLR2004 -- three digits at most


def percent(share: float | None) -> str:
    """Return a share with its sign closed up: 3.3%, 95%, <0.1%."""
    if share is None:
        return NO_DATA
    text = f"{share * 100:.1f}"
    if share > 0 and float(text) == 0.0:
        return "<0.1%"
    return f"{text.removesuffix('.0')}%"


def per_minute(per_s: float | None) -> str:
    """Return a rate per minute in two or three significant digits: 61, 4.8, 0.48, 1 230."""
    if per_s is None:
        return NO_DATA
    rate = per_s * 60.0
    if rate >= 9.95:  # noqa: PLR2004 -- rounds to 10
        digits = max(math.floor(math.log10(rate)) - 2, 0)
        return count(int(round(rate, -digits)))
    return f"{rate:.1f}" if rate >= 1 else f"{rate:.2g}"


def tokens_per_s(rate: float | None) -> str:
    """Return a token rate in two or three significant digits."""
    return NO_DATA if rate is None else per_minute(rate / 60.0)


def latency(seconds: float | None) -> str:
    """Return a short time: 720 ms below a second, else 1.31 s."""
    if seconds is None:
        return NO_DATA
    if seconds >= 0.9995:  # noqa: PLR2004 -- rounds to 1000 ms
        return f"{seconds:.2f}{NARROW}s"
    milliseconds = seconds * 1000.0
    text = f"{milliseconds:.0f}" if milliseconds >= 1 or milliseconds == 0 else f"{milliseconds:.1g}"
    return f"{text}{NARROW}ms"


def duration(seconds: float | None) -> str:
    """Return a long time: m:ss, h:mm:ss, or days and hours; below ten seconds as a latency."""
    if seconds is None:
        return NO_DATA
    if seconds < 10:  # noqa: PLR2004 -- 0:07 hides what matters in a short run
        return latency(seconds)
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if days:
        return f"{days}{NARROW}d {hour}{NARROW}h"
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


def memory(size: int | None) -> str:
    """Return a size in GB of 10^9 bytes with one decimal; below one GB in whole MB."""
    if size is None:
        return NO_DATA
    if size >= 999_500_000:  # noqa: PLR2004 -- rounds to 1000 MB
        return f"{size / 1e9:.1f}{NARROW}GB"
    return f"{size / 1e6:.0f}{NARROW}MB"


def bits(per_weight: float | None) -> str:
    """Return bits per weight, measured: 8.5 bpw."""
    return NO_DATA if per_weight is None else f"{per_weight:.1f}{NARROW}bpw"


def short_hash(digest: str | None) -> str:
    """Return the first ten hex digits."""
    return digest[:10] if digest else NO_DATA


def instant(moment: str) -> str:
    """Return an ISO 8601 moment as date, minutes and UTC; what is no moment is returned as it came."""
    try:
        parsed = dt.datetime.fromisoformat(moment)
    except ValueError:
        return moment
    if parsed.tzinfo is None:
        return f"{parsed:%Y-%m-%d %H:%M}"
    return f"{parsed.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"


def about(number: float) -> str:
    """Return an estimate of what is needed in two significant digits, rounded up: 2 300."""
    if number < 10:  # noqa: PLR2004 -- a single digit
        return count(math.ceil(number))
    step = 10 ** (math.floor(math.log10(number)) - 1)
    return count(math.ceil(number / step) * step)


def _shows_sides(bounds: tuple[float, float], margin: float, decimals: int) -> bool:
    """Return whether the printed ends lie on the same sides of zero and of both margins as the ends themselves."""
    lines = (-margin, 0.0, margin)
    return all(
        end == line or f"{end:.{decimals}f}".lstrip("-") != f"{line:.{decimals}f}".lstrip("-")
        for end in bounds
        for line in lines
        if (end >= 0) == (line >= 0) or line == 0.0
    )
