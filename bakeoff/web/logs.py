"""The log of a job as lines with levels, read from where the reader left off."""

import re
from pathlib import Path
from typing import Literal

import msgspec

Level = Literal["error", "warning", "step", "info"]

MOST_BYTES = 64_000
"""How much of a log is sent at once, and how much of its past a new reader gets."""

_ERROR = re.compile(
    r"\b(FAILED|ERROR|INTERNALERROR|Traceback|usage error)\b|^E  |\bError: |^ERROR|^!!!(?!.*as asked by)|: fail:"
    r"|^bakeoff: (?!.* -> |\S+ \d+/\d+ )"  # a problem, unless it says where a run goes or how far an arm is
)
_WARNING = re.compile(
    r"\b(TRUNCATED|warning|UserWarning)\b|^parity: |: not enough data:|failed; the reason", re.IGNORECASE
)
_STEP = re.compile(r"^\$ |^\w+ ended with exit code |^=+ ")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line without control characters."""

    level: Level
    text: str


class LogPart(msgspec.Struct, frozen=True, kw_only=True):
    """Lines up to the byte `end`, where the next part begins; `skipped` bytes before them were left out."""

    lines: tuple[LogLine, ...]
    end: int
    skipped: int = 0


def read_log(path: Path, start: int | None) -> LogPart:
    """Return whole lines from byte `start` on, the last `MOST_BYTES` without one.

    A `start` behind the end, as after a log was replaced, begins anew.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            skipped = 0
            if start is None or start > size or start < 0:
                start = skipped = max(0, size - MOST_BYTES)
            file.seek(start)
            content = file.read(MOST_BYTES)
    except OSError:
        return LogPart(lines=(), end=0)
    cut = content.rfind(b"\n") + 1
    if not cut and len(content) == MOST_BYTES:
        cut = len(content)  # a line without an end must not stop the log for good
    text = content[:cut].decode("utf-8", "replace")
    lines = text.removesuffix("\n").split("\n") if text else []
    if skipped and lines:
        skipped += len(lines[0].encode()) + 1
        lines = lines[1:]
    return LogPart(lines=tuple(_line(line) for line in lines), end=start + cut, skipped=skipped)


def _line(text: str) -> LogLine:
    plain = _CONTROL.sub("", text.rpartition("\r")[2] if "\r" in text.rstrip("\r") else text.rstrip("\r"))
    level: Level = "info"
    if _STEP.search(plain):
        level = "step"
    if _WARNING.search(plain):
        level = "warning"
    if _ERROR.search(plain):
        level = "error"
    return LogLine(level=level, text=plain[:4000])
