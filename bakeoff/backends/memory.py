"""Memory of a process and its children, and by the account that a device keeps."""

import contextlib
from typing import Protocol

import psutil


class DeviceMemory(Protocol):
    """A device's own account of its memory."""

    def reset_peak(self) -> None:
        """Begin a new peak."""

    def peak_bytes(self) -> int:
        """Return the most that was allocated since."""


def peak_memory_bytes(pid: int) -> int | None:
    """Return the resident memory of a process and its children now, in bytes; None when it is gone.

    The largest of many readings is the peak as far as it was seen.
    """
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return sum(p.memory_info().rss for p in (process, *process.children(recursive=True)))
    return None
