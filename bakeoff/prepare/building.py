"""From rows to samples: the track's own rules, with their failures named by row."""

from collections.abc import Sequence

from bakeoff.errors import BakeoffError
from bakeoff.prepare.asked import Request
from bakeoff.prepare.fetching import Fetched
from bakeoff.prepare.problems import SchemaChanged
from bakeoff.records import Image, Sample
from bakeoff.tracks.source import Row
from bakeoff.tracks.track import SAFE_ID

_TRACKS_OWN = (LookupError, TypeError, ValueError, ArithmeticError, AssertionError)
"""What a track's rules may raise on rows that are not as they should be."""


def choose(request: Request, rows: Sequence[Row]) -> list[Row]:
    """Return the rows that the track takes at the requested size.

    Raises:
        SchemaChanged: when its rule fails or takes none.
    """
    try:
        chosen = request.source.choose(rows, request.size)
    except BakeoffError:
        raise
    except _TRACKS_OWN as error:
        raise SchemaChanged(f"{request.track.name}: rows cannot be chosen: {_what(error)}") from error
    if not chosen:
        raise SchemaChanged(f"{request.track.name}: no row was chosen from {len(rows)}")
    return chosen


def build(request: Request, chosen: Sequence[Row], fetched: Fetched) -> tuple[list[Sample], list[tuple[Row, str]]]:
    """Make the samples, in order, and list the rows that become none, with the reason.

    Raises:
        SchemaChanged: naming a row that the track's rule fails on, or an id that cannot be one.
    """
    samples: dict[str, Sample] = {}
    left_out: list[tuple[Row, str]] = []
    for row in chosen:
        where = f"row {row.index} of {request.track.name}'s {row.split}"
        reason = fetched.unusable.get((row.split, row.index))
        if reason is not None:
            left_out.append((row, reason))
            continue
        sample = _sample(request, row, fetched.images.get((row.split, row.index), ()), where)
        if sample is None:
            left_out.append((row, "left out by the track's rule"))
            continue
        if not SAFE_ID.fullmatch(sample.id) or sample.id in samples:
            problem = "occurs twice" if sample.id in samples else "may only hold letters, digits, and _ . + -"
            raise SchemaChanged(f"{where}: the id {sample.id!r} {problem}")
        samples[sample.id] = sample
    if not samples:
        raise SchemaChanged(f"{request.track.name}: none of {len(chosen)} rows became a sample")
    return list(samples.values()), left_out


def _sample(request: Request, row: Row, images: tuple[Image, ...], where: str) -> Sample | None:
    try:
        return request.source.build(row, images)
    except BakeoffError:
        raise
    except _TRACKS_OWN as error:
        raise SchemaChanged(f"{where} cannot become a sample: {_what(error)}") from error


def _what(error: Exception) -> str:
    return f"{type(error).__name__}: {error}\nIf the dataset changed, name another revision: --revision TRACK=SHA"
