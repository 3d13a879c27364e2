"""Peak memory while an arm answers: of the process tree, and by the device's own account where there is one.

The tree is pytest with all its children, whatever runtime answers: a server counts, and so do the libraries of a
runtime inside pytest. It is watched in the warm-up round only, because watching takes time from what is timed.
"""

import threading
from types import TracebackType
from typing import Self

from bakeoff.backends import BACKENDS
from bakeoff.backends.memory import DeviceMemory, peak_memory_bytes

WATCHED_EVERY_S = 0.02


def device_memory(backend: str) -> DeviceMemory | None:
    """Return the account of an open backend's device, None where it keeps none that this process can read."""
    device = BACKENDS[backend].device
    return None if device is None else device()


class MemoryWatch:
    """Watches the process tree of `pid` as a context manager; `peak_bytes` is the most that was seen."""

    def __init__(self, pid: int) -> None:
        self.peak_bytes: int | None = None
        self._pid = pid
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory watch", daemon=True)

    def __enter__(self) -> Self:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._done.wait(WATCHED_EVERY_S):
            self._look()

    def _look(self) -> None:
        seen = peak_memory_bytes(self._pid)
        if seen is not None:
            self.peak_bytes = max(seen, self.peak_bytes or 0)
