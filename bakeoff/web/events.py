"""Server-sent events of the live page: the state when it changes, and the log as it grows.

One look at the files serves all readers. While nobody listens or nothing runs, next to nothing is done.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec

from bakeoff.web.jobs import Jobs
from bakeoff.web.live import Live, LiveView
from bakeoff.web.logs import read_log

_LOOK_EVERY_S = 1.0
_IDLE_LOOK_EVERY_S = 3.0
_HEARTBEAT_S = 15.0


class Broadcast:
    """The newest state, looked up while somebody listens."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs
        self._view = LiveView(jobs)
        self._lock = asyncio.Lock()
        self._state: bytes = b"null"
        self._live: Live | None = None
        self._looked_at = float("-inf")

    async def state(self) -> tuple[bytes, Live | None]:
        """Return the state as JSON and as it is; at most a second old."""
        async with self._lock:
            now = asyncio.get_running_loop().time()
            is_going = self._live is not None and self._live.phase in {"running", "stopping"}
            if now - self._looked_at >= (_LOOK_EVERY_S if is_going else _IDLE_LOOK_EVERY_S) * 0.9:
                self._live = await asyncio.to_thread(self._view.look)
                self._state = msgspec.json.encode(self._live)
                self._looked_at = asyncio.get_running_loop().time()
            return self._state, self._live

    def forget(self) -> None:
        """Look anew at the next question: something was started or stopped."""
        self._looked_at = float("-inf")

    async def stream(self, has_gone: Callable[[], bool]) -> AsyncIterator[bytes]:
        """Give events until the reader has gone."""
        sent, job, offset, quiet = b"", "", None, 0.0
        while not has_gone():
            state, live = await self.state()
            parts: list[bytes] = []
            if live is not None and live.job != job:
                job, offset = live.job, None
            is_going = live is not None and live.phase in {"running", "stopping"}
            is_news = state != sent
            if is_news:
                parts.append(_event("state", state))
                sent = state
            if live is not None and (is_going or is_news):
                part, offset = await asyncio.to_thread(_log, self.jobs.find(live.job).log, offset)
                if part:
                    parts.append(_event("log", part))
            quiet = 0.0 if parts else quiet + _LOOK_EVERY_S
            if quiet >= _HEARTBEAT_S:
                parts, quiet = [b": still here\n\n"], 0.0
            for one in parts:
                yield one
            await asyncio.sleep(_LOOK_EVERY_S if is_going else _IDLE_LOOK_EVERY_S)


def _log(path: Path, offset: int | None) -> tuple[bytes, int | None]:
    part = read_log(path, offset)
    first = offset is None
    if not part.lines and not first:
        return b"", offset
    return msgspec.json.encode({"fresh": first, "part": part}), part.end


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
