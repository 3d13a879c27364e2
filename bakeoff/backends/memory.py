"""Memory of another process and its children."""

import contextlib

import psutil


def peak_memory_bytes(pid: int) -> int | None:
    """Return the resident memory of a process and its children now, in bytes; None when it is gone.

    The largest of many readings is the peak as far as it was seen.
    """
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return sum(p.memory_info().rss for p in (process, *process.children(recursive=True)))
    return None
