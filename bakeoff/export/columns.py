"""The tidy table of records: which columns there are, in which order, of which type.

One row is one sample answered by one arm. Names carry their unit (`_s`, `_bytes`, `_tokens`); a score is a fraction in
[0, 1]. What is not known is null, which is not 0. Text is the journal's, but for lone surrogates, which UTF-8 cannot
hold and which are named instead, as in `⟨U+D800⟩`.
"""

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from bakeoff.export.reading import Entry, Survey
from bakeoff.report.visible import encodable

Value = str | int | float | bool | None
Kind = Literal["text", "whole", "number", "flag"]

GROUP = "group."
METRIC = "metric."


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One column: its name, what it holds, and how it is read from an entry."""

    name: str
    kind: Kind
    read: Callable[[Entry], Value]


def columns(found: Survey) -> tuple[Column, ...]:
    """Return the columns of a run: the fixed ones, then a column a group dimension and a metric, sorted by name."""
    return (
        *_FIXED,
        *(Column(name=f"{GROUP}{name}", kind="text", read=_group(name)) for name in found.dimensions),
        *(Column(name=f"{METRIC}{name}", kind="number", read=_metric(name)) for name in found.metrics),
    )


def rows(found: Survey, of: tuple[Column, ...]) -> Iterator[tuple[Value, ...]]:
    """Yield a row for each record, arm by arm, track by track, in the order of the journal."""
    for entry in found.entries():
        yield tuple(_clean(column.read(entry)) for column in of)


def _clean(value: Value) -> Value:
    if isinstance(value, str):
        cleaned: str = encodable(value)
        return cleaned
    return value


def _group(name: str) -> Callable[[Entry], Value]:
    return lambda entry: entry.record.groups.get(name)


def _metric(name: str) -> Callable[[Entry], Value]:
    return lambda entry: entry.record.metrics.get(name)


def _of_record(name: str, kind: Kind) -> Column:
    def read(entry: Entry) -> Value:
        value: Value = getattr(entry.record, name)
        return value

    return Column(name=name, kind=kind, read=read)


def _of_track(column: str, field: str) -> Column:
    def read(entry: Entry) -> Value:
        value: Value = getattr(entry.track, field) if entry.track else None
        return value

    return Column(name=column, kind="text", read=read)


def _weights(entry: Entry) -> Value:
    found = entry.manifest.identity.get("weights_sha256")
    return found if isinstance(found, str) else None


def _text(name: str, read: Callable[[Entry], Value]) -> Column:
    return Column(name=name, kind="text", read=read)


_FIXED = (
    _text("run", lambda entry: entry.run),
    _text("arm", lambda entry: entry.arm),
    _text("model", lambda entry: entry.manifest.model),
    _text("backend", lambda entry: entry.manifest.backend),
    _text("weights_sha256", _weights),
    _text("inputs_sha256", lambda entry: entry.inputs_sha256),
    _of_record("track", "text"),
    _of_track("track_version", "version"),
    _of_track("dataset", "dataset"),
    _of_track("dataset_revision", "revision"),
    Column(name="max_tokens", kind="whole", read=lambda entry: entry.max_tokens),
    _of_record("protocol", "text"),
    _of_record("sample_id", "text"),
    _of_record("status", "text"),
    _of_record("score", "number"),
    _of_record("correct", "flag"),
    _of_record("answer", "text"),
    _of_record("output", "text"),
    _of_record("scorer", "text"),
    _of_record("scorer_version", "text"),
    _of_record("prompt_sha256", "text"),
    _text("image_sha256", lambda entry: "+".join(entry.record.image_sha256) or None),
    _text("image_changes", lambda entry: ", ".join(entry.record.image_changes) or None),
    _of_record("seed", "whole"),
    _of_record("attempt", "whole"),
    _of_record("finish_reason", "text"),
    _of_record("thinking", "flag"),
    _of_record("prompt_tokens", "whole"),
    _of_record("image_tokens", "whole"),
    _of_record("completion_tokens", "whole"),
    _of_record("thinking_tokens", "whole"),
    _of_record("cached_tokens", "whole"),
    _of_record("queue_s", "number"),
    _of_record("load_s", "number"),
    _of_record("ttft_s", "number"),
    _of_record("prefill_s", "number"),
    _of_record("decode_s", "number"),
    _of_record("total_s", "number"),
    _of_record("peak_memory_bytes", "whole"),
    _text("error_type", lambda entry: entry.record.error.type if entry.record.error else None),
    _text("error_message", lambda entry: entry.record.error.message if entry.record.error else None),
    _of_record("started_at", "text"),
)
