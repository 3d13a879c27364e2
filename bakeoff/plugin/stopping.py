"""Ending a session from outside: SIGTERM as Ctrl-C does, SIGUSR2 after the sample that is being answered."""

import signal
import threading
from collections.abc import Callable
from types import FrameType

import pytest

AFTER_SAMPLE = "stopped after a sample, as asked by SIGUSR2"
"""What pytest says of a session that ended so."""


class Stopping:
    """Listens for both signals while a session lasts.

    The sample in question is the one that a test waits for; what a backend was asked ahead of it is let go. With
    workers there are several such samples, none of which the controller waits for, so SIGUSR2 is taken as SIGTERM.
    """

    def __init__(self, *, has_workers: bool) -> None:
        self._has_workers = has_workers
        self._session: pytest.Session | None = None
        self._is_asked = False

    def listen(self) -> Callable[[], None]:
        """Begin to listen; return how to undo it. Only the main thread can."""
        if threading.current_thread() is not threading.main_thread():
            return lambda: None
        how = self._interrupt if self._has_workers else self._after_sample
        before = {
            signal.SIGTERM: signal.signal(signal.SIGTERM, self._interrupt),
            signal.SIGUSR2: signal.signal(signal.SIGUSR2, how),
        }

        def restore() -> None:
            for number, handler in before.items():
                signal.signal(number, handler)

        return restore

    @pytest.hookimpl(tryfirst=True)  # before items are collected; the session began before this was registered
    def pytest_collection(self, session: pytest.Session) -> None:
        """Note the session; it ends at once when that was asked for before."""
        self._session = session
        self._tell()

    def _tell(self) -> None:
        if self._is_asked and self._session is not None:
            self._session.shouldstop = AFTER_SAMPLE  # pytest looks at it after every test

    def _after_sample(self, signum: int, frame: FrameType | None) -> None:
        del signum, frame
        self._is_asked = True
        self._tell()

    def _interrupt(self, signum: int, frame: FrameType | None) -> None:
        del signum, frame
        raise KeyboardInterrupt("terminated")
