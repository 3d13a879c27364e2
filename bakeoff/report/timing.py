"""How long an arm worked, how fast it was, how much memory it took: from journal times alone."""

import datetime as dt
import statistics
from bisect import bisect_right
from collections.abc import Iterable

import msgspec

from bakeoff.journal import JournalContent
from bakeoff.records import Record


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Times in seconds; None where the journal does not tell.

    `wall_s` sums the sessions, each from the start of its first sample to the end of its last one: the night between
    an interrupted session and its resumption is not work. `load_s` is the sum of what loading took.
    """

    wall_s: float | None = None
    samples_per_s: float | None = None
    load_s: float | None = None
    sessions: int = 0
    ttft_s_median: float | None = None
    decode_tps_median: float | None = None
    peak_memory_bytes: int | None = None


def measure(journal: JournalContent | None, answered: Iterable[Record]) -> Timing:
    """Return the timing of one arm; `answered` are the records that count as done."""
    if journal is None:
        return Timing()
    done = tuple(answered)
    wall_s = _wall_s(journal)
    loads = [mark.loaded_s for mark in journal.sessions if mark.loaded_s is not None]
    memory = [record.peak_memory_bytes for record in journal.history if record.peak_memory_bytes is not None]
    return Timing(
        wall_s=wall_s,
        samples_per_s=len(done) / wall_s if wall_s and done else None,
        load_s=sum(loads) if loads else None,
        sessions=sum(mark.event == "start" for mark in journal.sessions),
        ttft_s_median=_median([record.ttft_s for record in done if record.ttft_s is not None]),
        decode_tps_median=_median([rate for record in done if (rate := _decode_tps(record)) is not None]),
        peak_memory_bytes=max(memory, default=None),
    )


def _wall_s(journal: JournalContent) -> float | None:
    """Sum over sessions; a record belongs to the latest session that began no later than it did."""
    starts = sorted(at for mark in journal.sessions if mark.event == "start" and (at := _moment(mark.at)) is not None)
    spans: dict[int, tuple[float, float]] = {}
    for record in journal.history:
        began = _moment(record.started_at)
        if began is None:
            continue
        ended = began + (record.total_s or 0.0)
        session = bisect_right(starts, began)
        first, last = spans.get(session, (began, ended))
        spans[session] = (min(first, began), max(last, ended))
    total = sum(last - first for first, last in spans.values())
    return total or None


def _decode_tps(record: Record) -> float | None:
    """Tokens after the first one by the time they took, of one answer."""
    if not record.decode_s or record.completion_tokens is None or record.completion_tokens < 2:  # noqa: PLR2004 -- none after the first
        return None
    return (record.completion_tokens - 1) / record.decode_s


def _median(values: list[float]) -> float | None:
    return statistics.median(values) if values else None


def _moment(text: str) -> float | None:
    """Return seconds since the epoch; None for what is no moment. A moment without a zone is UTC."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp()
