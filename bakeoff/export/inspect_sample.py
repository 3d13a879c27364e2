"""One record as a sample of an Inspect log, and its thinned line in the list of samples.

The form is that of `inspect_ai.log.EvalSample` and `EvalSampleSummary`, log schema 2.
"""

import datetime as dt
from typing import Any

from bakeoff.export.asked import Questions
from bakeoff.export.reading import Entry
from bakeoff.records import Record
from bakeoff.report.visible import encodable

SCORE = "score"
"""Name of the score of every sample: a track may have several rules, and a log has one column a name."""

_LONGEST = 1024
_STOP = {"stop": "stop", "length": "max_tokens"}


def as_sample(entry: Entry, questions: Questions, model: str) -> dict[str, Any]:
    """Return the whole sample: input with images by reference, output, score, usage, error, limit."""
    record = entry.record
    asked = questions.of(record)
    messages = [] if asked is None else [{"role": m.role, "content": questions.parts(m)} for m in asked.messages]
    usage = {} if record.status == "error" else {model: _usage(record)}
    answer = {"role": "assistant", "content": record.output or "", "source": "generate", "model": model}
    sample: dict[str, Any] = {
        "id": record.sample_id,
        "epoch": 1,
        "input": messages or f"(not prepared here; prompt sha256 {record.prompt_sha256})",
        "target": list(asked.targets) if asked else "",
        "messages": [*messages, *([] if record.status == "error" else [answer])],
        "output": _output(record, answer, model),
        "scores": _scores(record),
        "metadata": _metadata(record),
        "model_usage": usage,
        "started_at": record.started_at or None,
        "completed_at": ended(record),
        "total_time": record.total_s,
        "working_time": record.total_s,
    }
    if asked and asked.options:
        sample["choices"] = list(asked.options)
    if record.error:
        sample["error"] = {
            "message": f"{record.error.type}: {record.error.message}",
            "traceback": "",
            "traceback_ansi": "",
        }
    budget = record.completion_tokens or entry.max_tokens or 0
    if record.status == "truncated":
        sample["limit"] = {"type": "token", "limit": budget, "reason": "the answer reached its token budget"}
    cleaned: dict[str, Any] = encodable(sample)
    return cleaned


def as_summary(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the line of a sample in the list: its long texts cut, its images named, messages and output left out."""
    kept = (
        *("id", "epoch", "target", "choices", "metadata", "model_usage"),
        *("started_at", "completed_at", "total_time", "working_time"),
    )
    summary: dict[str, Any] = {name: sample[name] for name in kept if name in sample}
    summary["input"] = sample["input"] if isinstance(sample["input"], str) else _thin_messages(sample["input"])
    summary["scores"] = _thin(sample["scores"])
    summary["error"] = sample["error"]["message"][:_LONGEST] if "error" in sample else None
    summary["limit"] = sample["limit"]["type"] if "limit" in sample else None
    summary["completed"] = True
    summary["message_count"] = len(sample["messages"])
    return {name: _thin(value) for name, value in summary.items()}


def _output(record: Record, answer: dict[str, Any], model: str) -> dict[str, Any]:
    if record.status == "error":
        return {"model": model, "choices": [], "error": f"{record.error.type}" if record.error else None}
    stop = _STOP.get(record.finish_reason or "", "unknown")
    return {
        "model": model,
        "choices": [{"message": answer, "stop_reason": stop}],
        "usage": _usage(record),
        "time": record.total_s,
    }


def _usage(record: Record) -> dict[str, int]:
    """Return the token counts; Inspect has no word for unknown, so 0 stands there and the metadata says null."""
    asked, said = record.prompt_tokens or 0, record.completion_tokens or 0
    usage = {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}
    more = {"input_tokens_cache_read": record.cached_tokens, "reasoning_tokens": record.thinking_tokens}
    return {**usage, **{name: tokens for name, tokens in more.items() if tokens is not None}}


def _scores(record: Record) -> dict[str, Any] | None:
    """Return the verdict under one name, whichever rules a track has; None for an error, which is no score."""
    if record.score is None:
        return None
    said = "no answer could be read from the output" if record.answer is None else "the answer was read from the output"
    cut = "; the output was cut off" if record.status == "truncated" else ""
    return {
        SCORE: {
            "value": record.score,
            "answer": record.answer,
            "explanation": f"{record.scorer} version {record.scorer_version}: {said}{cut}",
            "metadata": {
                "correct": record.correct,
                "scorer": record.scorer,
                "scorer_version": record.scorer_version,
                "unparsed": record.is_unparsed,
                **{f"metric.{name}": value for name, value in sorted(record.metrics.items())},
            },
        }
    }


def _metadata(record: Record) -> dict[str, Any]:
    names = (
        *("status", "protocol", "prompt_sha256", "seed", "attempt", "thinking", "prompt_tokens", "image_tokens"),
        *("completion_tokens", "queue_s", "load_s", "ttft_s", "prefill_s", "decode_s", "peak_memory_bytes"),
    )
    groups = {f"group.{name}": value for name, value in sorted(record.groups.items())}
    images = {"image_sha256": list(record.image_sha256), "image_changes": list(record.image_changes)}
    return {**groups, **images, **{name: getattr(record, name) for name in names}}


def ended(record: Record) -> str | None:
    """Return when the answer was there; None where the record does not tell."""
    if not record.started_at or record.total_s is None:
        return None
    try:
        ended = dt.datetime.fromisoformat(record.started_at) + dt.timedelta(seconds=record.total_s)
    except ValueError:
        return None
    return ended.isoformat(timespec="milliseconds")


def _thin_messages(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def thin(part: dict[str, str]) -> dict[str, str]:
        return {"type": "text", "text": "(Image)" if part["type"] == "image" else part["text"]}

    return [{**message, "content": [thin(part) for part in message["content"]]} for message in messages]


def _thin(value: Any) -> Any:
    """Return a JSON value whose texts are at most so long as a list shows."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else value[:_LONGEST] + "..."
    if isinstance(value, dict):
        return {name: _thin(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_thin(item) for item in value]
    return value
